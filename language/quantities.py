"""What a text says in numbers, and whether it denies: read alike in many languages, so that two texts can be compared.

Pure; what is read is compared and never shown, so a word that is not known only means less to compare.
"""

import re
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from language.tokens import fold

_DATA = Path(__file__).parent / "data" / "quantities.toml"
_UNITS = ("hours", "days", "weeks", "months", "years", "percent", "money")
_NUMBER = r"\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d{1,2})?(?!\d)"
_SIZED = re.compile(rf"(?P<number>{_NUMBER})|(?P<word>[^\W\d_]+|[%€$£¥])")
_SIGNS = frozenset("€$£¥")
_DAYS_OF = {"weeks": 7}
_WORDS_BETWEEN = 1  # "5 working days"


class Quantity(NamedTuple):
    """So much of something."""

    value: Decimal
    unit: str


def numbers(text: str) -> frozenset[Decimal]:
    """Return the numbers that are written in figures, however they are grouped."""
    return frozenset(_value(match["number"]) for match in _SIZED.finditer(text) if match["number"])


def quantities(text: str) -> frozenset[Quantity]:
    """Return each number with its unit, in figures or small number words; weeks count as days. Others are left out."""
    parts = [_part(match) for match in _SIZED.finditer(fold(text))]
    found = set()
    for n, part in enumerate(parts):
        if isinstance(part, Decimal) and (unit := _unit_near(parts, n)):
            days = _DAYS_OF.get(unit)
            found.add(Quantity(part * days, "days") if days else Quantity(part, unit))
    return frozenset(found)


def _unit_near(parts: list[Decimal | str], at: int) -> str | None:
    """The unit of a number: of a word soon after it, of a sign before it, or of the number that ends its range."""
    if at and parts[at - 1] in _SIGNS:
        return "money"
    for n in range(at + 1, min(at + 2 + _WORDS_BETWEEN, len(parts))):
        part = parts[n]
        if isinstance(part, Decimal):
            return _unit_near(parts, n)
        if unit := _unit_of(part):
            return unit
    return None


def _unit_of(word: str) -> str | None:
    """The unit that a word names; where no space ends a word, the one that it begins with."""
    unit = _units().get(word)
    if unit is None and not word.isascii():
        unit = next((name for known, name in _units().items() if not known.isascii() and word.startswith(known)), None)
    return unit


def denies(text: str) -> bool:
    """Return whether a word of denial stands in the text."""
    return bool(_denials() & set(_words(text)))


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry the matter of a text: without denials and the smallest words."""
    return frozenset(_words(text)) - _denials() - _plain()


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text).replace("'", ""))


def _part(match: re.Match[str]) -> Decimal | str:
    if match["number"]:
        return _value(match["number"])
    word: str = match["word"]
    return _numbers().get(word, word)


def _value(written: str) -> Decimal:
    """The number, whichever way its thousands and its decimals are set apart."""
    decimals = re.search(r"[.,](\d{1,2})$", written)
    whole = written[: decimals.start()] if decimals else written
    return Decimal(re.sub(r"\D", "", whole) + (f".{decimals[1]}" if decimals else ""))


@cache
def _data() -> dict[str, dict[str, str]]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))


@cache
def _units() -> dict[str, str]:
    return {word: unit for unit in _UNITS for word in _data()[unit]["words"].split()}


@cache
def _numbers() -> dict[str, Decimal]:
    return {word: Decimal(value) for value, words in _data()["numbers"].items() for word in words.split()}


@cache
def _denials() -> frozenset[str]:
    return frozenset(_data()["denial"]["words"].split())


@cache
def _plain() -> frozenset[str]:
    return frozenset(_data()["denial"]["plain"].split())
