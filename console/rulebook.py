"""The rules of a policy bundle as people read them: each with its id, the comment above it, and where it stands.

Pure: Cedar text is only cut into statements here, never judged; whatever cannot be cut is shown as it is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from console.wording import label

_TOKEN = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|;|[^";/]+|.', re.DOTALL)
_ID = re.compile(r'@id\(\s*"((?:[^"\\]|\\.)*)"\s*\)')
_EFFECT = re.compile(r"^(permit|forbid)\b", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """One rule. `says` is the comment right above it, else its id in words; `anchor` names it within a page."""

    ident: str
    file: str
    line: int
    effect: str
    says: str
    source: str

    @property
    def anchor(self) -> str:
        """Return the id of the line that it begins on, within the page of its file."""
        return f"{self.file}-{self.line}"


def rules_of(files: Mapping[str, str]) -> tuple[Rule, ...]:
    """Return the rules of a bundle's files, file by file in the order in which they stand."""
    return tuple(rule for name in sorted(files) if name.endswith(".cedar") for rule in _cut(name, files[name]))


def meanings(files: Mapping[str, str]) -> dict[str, Rule]:
    """Return each rule by its id; of two with one id, the first."""
    found: dict[str, Rule] = {}
    for rule in rules_of(files):
        found.setdefault(rule.ident, rule)
    return found


@lru_cache(maxsize=64)  # bundles are few, and never change
def _cut(file: str, text: str) -> tuple[Rule, ...]:
    return tuple(_rules(file, text))


def _rules(file: str, text: str) -> Iterator[Rule]:
    for begin, end, statement in _statements(text):
        effect = _EFFECT.search(statement)
        if effect is None:
            continue
        named = _ID.search(statement)
        ident = named[1] if named else f"{file}:{_line(text, begin)}"
        says = _comment_above(text, begin) or f"{effect[1].capitalize()}s: {label(ident)}."
        yield Rule(ident=ident, file=file, line=_line(text, begin), effect=effect[1], says=says, source=text[begin:end])


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each statement begins and ends, and the statement without its comments."""
    begin: int | None = None
    told: list[str] = []
    for token in _TOKEN.finditer(text):
        if token[0].startswith("//") or (begin is None and not token[0].strip()):
            continue
        if begin is None:
            begin = token.start() + len(token[0]) - len(token[0].lstrip())
            told = []
        told.append(token[0].lstrip() if not told else token[0])
        if token[0] == ";":
            yield begin, token.end(), "".join(told)
            begin = None


def _comment_above(text: str, begin: int) -> str:
    """Return the comment that ends on the line above, without its marks; a heading further up is none."""
    said: list[str] = []
    for line in reversed(text[:begin].splitlines()):
        if not line.startswith("//"):
            break
        said.append(line.removeprefix("//").strip())
    return " ".join(reversed(said))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
