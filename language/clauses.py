"""The clauses of a message, so that each may be read by itself: people ask for two things with one "and" between them.

A cut in the wrong place does no harm, since a clause counts only where it says clearly, alone, what is wanted.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

CLAUSES_MAX = 12
_DATA = Path(__file__).parent / "data" / "clauses.toml"


def clauses_of(text: str) -> tuple[str, ...]:
    """Return the clauses of `text`, in order, at most `CLAUSES_MAX`."""
    parts = (part.strip() for part in _cut().split(text))
    return tuple(part for part in parts if any(c.isalpha() for c in part))[:CLAUSES_MAX]


@cache
def _cut() -> re.Pattern[str]:
    """Sentence marks, or a word that joins, with whatever marks stand around it; never inside an id."""
    by_language: dict[str, str] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    words = sorted({word for words in by_language.values() for word in words.split()}, key=len, reverse=True)
    joined = "|".join(map(re.escape, words))
    return re.compile(rf"[.!?;…]+(?=\s|$)|\n|(?<=\s)(?:{joined})(?=\s)", re.IGNORECASE)
