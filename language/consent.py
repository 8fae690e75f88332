"""Whether a message is a plain "yes" and nothing else: the words that may stand for a customer's consent.

A closed list of whole messages; whatever else a message holds makes it no consent, however it was understood.
"""

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data" / "consent.toml"
_MARKS = re.compile(r"[\s,.!]+")
_APOSTROPHE = str.maketrans({"\u2019": "'"})


def is_plain_yes(text: str) -> bool:
    """Return whether the whole of `text` says yes, in any language that is spoken here; a question mark does not."""
    return _plain(text) in _yeses()


@cache
def _yeses() -> frozenset[str]:
    by_language: dict[str, list[str]] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return frozenset(_plain(yes) for yeses in by_language.values() for yes in yeses)


def _plain(text: str) -> str:
    composed = unicodedata.normalize("NFC", text).casefold().translate(_APOSTROPHE)
    return _MARKS.sub(" ", composed).strip()
