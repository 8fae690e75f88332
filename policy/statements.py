"""Text of rules and schemas cut into statements, each with its line, before Cedar reads it.

Pure. INVARIANT: nothing that nests deeper than `NESTING_MAX` reaches Cedar's parser, which such text brings down
together with the process.
"""

import re
from collections.abc import Iterator

from policy.invalid import BundleInvalid

NESTING_MAX = 50  # brackets in brackets
RULE_CHARACTERS_MAX = 20_000
FILE_CHARACTERS_MAX = 1_000_000
TOKEN = re.compile(
    r'(?P<skip>\s+|//[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<open>")|(?P<end>;)'
    r"|(?P<down>[({\[])|(?P<up>[)}\]])|[^\s\"/;(){}\[\]]+|.",
    re.DOTALL,
)


def statements(file: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a file, each with the line on which it begins.

    Raises BundleInvalid where one has no end, or is more than Cedar should be asked to read.
    """
    hold_nesting(file, text)
    line, begin, begun = 1, None, 1
    for token in TOKEN.finditer(text):
        if token["open"]:
            raise BundleInvalid(file, line, "a string begins here and has no end", 'close it with "')
        if not token["skip"] and begin is None:
            begin, begun = token.start(), line
        if token["end"] and begin is not None:
            if token.end() - begin > RULE_CHARACTERS_MAX:
                right = f"at most {RULE_CHARACTERS_MAX} characters, in several rules"
                raise BundleInvalid(file, begun, f"this rule has {token.end() - begin} characters", right)
            yield begun, text[begin : token.end()]
            begin = None
        line += token[0].count("\n")
    if begin is not None:
        raise BundleInvalid(file, begun, "a rule begins here and has no end", "end it with ;")


def hold_nesting(file: str, text: str) -> None:
    """Raise BundleInvalid where `text` is too long, or has brackets in brackets too deep."""
    if len(text) > FILE_CHARACTERS_MAX:
        right = f"at most {FILE_CHARACTERS_MAX} characters in a file"
        raise BundleInvalid(file, 1, f"the file has {len(text)} characters", right)
    deep, line = 0, 1
    for token in TOKEN.finditer(text):
        deep += (token["down"] is not None) - (token["up"] is not None)
        if deep > NESTING_MAX:
            raise BundleInvalid(file, line, "brackets nest too deep here", f"at most {NESTING_MAX} in one another")
        line += token[0].count("\n")
