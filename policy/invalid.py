"""Why a bundle or its cases cannot be used: the file, the line, what is wrong and what would be right.

Pure; lines are counted from 1.
"""

import re

import cedarpy

QUOTED = re.compile(r"`([^`]+)`|'([^']+)'|\"([^\"]+)\"|: (\w+)$")


class BundleInvalid(ValueError):
    """A bundle or a case cannot be read; str() is `FILE:LINE: what is wrong; what would be right`."""

    def __init__(self, file: str, line: int, wrong: str, right: str) -> None:
        super().__init__(f"{file}:{line}: {wrong}; {right}")
        self.file, self.line, self.wrong, self.right = file, line, wrong, right

    def __reduce__(self) -> tuple[type["BundleInvalid"], tuple[str, int, str, str]]:
        """Come whole from one process to another."""
        return type(self), (self.file, self.line, self.wrong, self.right)


def line_of(text: str, told: str, first: int = 1) -> int:
    """Return the line of `text`, whose first line is line `first`, on which something that `told` quotes stands.

    Where nothing does it is `first`: Cedar's own errors do not say where they are.
    """
    words = [next(filter(None, found)) for found in QUOTED.findall(told)]
    for word in reversed(words):
        for offset, line in enumerate(text.splitlines()):
            if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line.partition("//")[0]):
                return first + offset
    return first


def schema_fault(file: str, text: str, error: ValueError) -> BundleInvalid:
    """Return `error`, raised by Cedar over the schema in `text`, with the line of what it is about."""
    told = str(error).removeprefix("error parsing schema: ")
    right = (
        "Cedar's schema syntax, every type declared once, such as `entity Order;` or `type Money = { minor: Long };`"
    )
    line = line_of(text, told)
    if told == str(error):
        return BundleInvalid(file, line, told, right)
    for statement in _declarations(text):
        try:
            cedarpy.Schema.from_str(statement[1])
        except ValueError as fault:
            if "error parsing schema" in str(fault):
                line = line_of(statement[1], str(fault), statement[0])
                break
    return BundleInvalid(file, line, told, right)


def _declarations(text: str) -> list[tuple[int, str]]:
    """The declarations with the lines that they start on; good enough for text that does not parse anyway."""
    found, line = [], 1
    for part in re.split(r"(?<=;)[ \t]*(?://[^\n]*)?\n", text):
        lead = len(part) - len(re.sub(r"\A(?:\s|//[^\n]*\n)+", "", part))
        found.append((line + part[:lead].count("\n"), part[lead:]))
        line += part.count("\n") + 1
    return found
