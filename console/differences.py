"""What an editor has changed in a text, word by word: kept, taken out, put in.

Pure; long texts are compared by lines, so that a comparison never takes long.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

WORDS_MAX = 1_500  # of either text: beyond, lines are compared
_WORD = re.compile(r"\s+|[^\s]+")


@dataclass(frozen=True)
class Stretch:
    """A stretch of text: `same`, `out` or `in`."""

    how: Literal["same", "out", "in"]
    text: str


def compared(before: str, after: str) -> list[Stretch]:
    """Return both texts as stretches; without the ones that are `in` it is `before`, without `out` it is `after`."""
    old, new = _parts(before, after)
    told: list[Stretch] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            told.append(Stretch("same", "".join(old[i:j])))
            continue
        if i != j:
            told.append(Stretch("out", "".join(old[i:j])))
        if k != m:
            told.append(Stretch("in", "".join(new[k:m])))
    return told


def _parts(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > WORDS_MAX:
        return before.splitlines(keepends=True), after.splitlines(keepends=True)
    return old, new
