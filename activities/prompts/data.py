"""How what others wrote goes into a prompt: as data between marks that it cannot forge, without what only machines see.

Pure but for the nonce; nothing here decides anything, and no check leans on a model having heeded the marks.
"""

import re
import secrets
import unicodedata

_SPECIAL = re.compile(
    r"<\|(?=[\w|])|\[(?=/?INST\])|<<(?=/?SYS>>)|<(?=/?s>)|<(?=(?:start|end)_of_turn>)|<(?=/?(?:think|tool_call)>)",
    re.IGNORECASE,
)
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})  # categories that nobody sees
_KEPT_CONTROLS = "\n\t"
_CUT = "\n[…]\n"


def nonce() -> str:
    """Return what the marks of one task are made with: nobody who writes data can know it."""
    return secrets.token_hex(6)


def cleaned(text: str, chars_max: int) -> str:
    """Return `text` in one canonical form without control, hidden and unassigned characters, at most so long.

    Special tokens of chat templates are broken up; of a longer text both ends are kept.
    """
    shown = "".join(c for c in text if c in _KEPT_CONTROLS or unicodedata.category(c) not in _HIDDEN)
    harmless = _SPECIAL.sub(lambda match: match[0] + " ", unicodedata.normalize("NFC", shown))
    if len(harmless) <= chars_max:
        return harmless
    half = (chars_max - len(_CUT)) // 2
    return harmless[:half] + _CUT + harmless[-half:]


def marked(kind: str, text: str, mark: str, chars_max: int) -> str:
    """Return `text`, cleaned, as a block of data called `kind`, between lines that hold `mark`."""
    return f"<<<DATA {mark} {kind}>>>\n{cleaned(text, chars_max)}\n<<<END {mark}>>>"
