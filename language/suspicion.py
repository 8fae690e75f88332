"""Whether a text is aimed at the machine rather than at the shop: a signal for the records and for routing.

Never a gate: what the bot may do is bounded by policy, whatever a text says.
"""

import base64
import binascii
import re
import tomllib
from functools import cache
from pathlib import Path

from language.patterns import compiled
from language.tokens import fold, tokens_of

_DATA = Path(__file__).parent / "data" / "suspicion.toml"
_READ_CHARS_MAX = 4_000
_TOKENS_MAX = 400
_HIDDEN_CHARS = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]|[\u200b\u2060-\u2064]{3,}")
_MARKUP = re.compile(
    r"<\|[a-z_]+\|>|<<\s*/?sys\s*>>|\[/?inst\]"
    r"|</?\s*(?:system|assistant|thinking|instructions?|admin|prompt|tool_call)\b[^>]{0,80}>"
    r"|<!--|<script\b|<iframe\b|<img\b[^>]{0,200}\bonerror|display\s*:\s*none|font-size\s*:\s*0"
    r"|^\W{0,8}(?:system|assistant|developer|sistema|systeme|systemhinweis|system note|nota del sistema)"
    r"\s*(?:message|prompt)?\s*:"
    r"|#{2,}\s*(?:end|system|instruction|new)\b|\{\{.{1,80}\}\}|\breasoning(?: trace)? ?\(assistant\)",
    re.IGNORECASE | re.MULTILINE,
)
_BASE64 = re.compile(r"(?<![\w/+])[A-Za-z0-9+/]{16,}={0,2}(?![\w/+])")
_HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}){20,}\b")
_BITS = re.compile(r"(?:\b[01]{8}\b\s*){6,}")
_MORSE = re.compile(r"(?:[.\-]{1,6}\s+(?:/\s+)?){12,}")
_ASCII85 = re.compile(r"<~.{20,}~>", re.DOTALL)
_LEET = str.maketrans("0134578@$", "oieastbas")
_LEET_WORD = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457])\w{3,}\b", re.IGNORECASE)
_LEET_WORDS_MIN = 3


@cache
def _phrases() -> re.Pattern[str]:
    raw = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return compiled([p for phrases in raw["phrases"].values() for p in phrases], raw["macros"])


@cache
def _elsewhere() -> re.Pattern[str]:
    """Two words near each other, in languages of which there are no phrases."""
    pairs: dict[str, list[str]] = tomllib.loads(_DATA.read_text(encoding="utf-8"))["elsewhere"]
    both = (f"(?:{aside}).{{0,40}}(?:{rules})|(?:{rules}).{{0,40}}(?:{aside})" for aside, rules in pairs.values())
    return re.compile("|".join(both))


def is_suspicious(text: str) -> bool:
    """Whether `text`, as received, tries to instruct the machine, to play a part with it, or hides something."""
    text = (
        text[:_READ_CHARS_MAX] if len(text) <= 2 * _READ_CHARS_MAX else text[:_READ_CHARS_MAX] + text[-_READ_CHARS_MAX:]
    )
    if _HIDDEN_CHARS.search(text) or _MARKUP.search(fold(text)) or _encoded(text):
        return True
    if _elsewhere().search(text.casefold()):
        return True
    return _instructs(text) or (len(_LEET_WORD.findall(text)) >= _LEET_WORDS_MIN and _instructs(text.translate(_LEET)))


def _instructs(text: str) -> bool:
    return bool(_phrases().search(" ".join(tokens_of(text)[:_TOKENS_MAX]) + " "))


def _encoded(text: str) -> bool:
    if any(pattern.search(text) for pattern in (_HEX, _BITS, _MORSE, _ASCII85)):
        return True
    return any(_reads_as_text(blob[0]) for blob in _BASE64.finditer(text))


def _reads_as_text(blob: str) -> bool:
    """Whether a run of base64 characters decodes to words: plain long ids do not."""
    try:
        decoded = base64.b64decode(blob.rstrip("=")[: len(blob.rstrip("=")) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(decoded) >= 12 and all(32 <= b < 127 or b in (9, 10, 13) for b in decoded) and b" " in decoded
