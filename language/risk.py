"""Marks of risk and of haste in a message, by phrases: what makes a person look sooner, never what decides.

Strict on purpose: a mark that everybody gets tells nobody anything.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from domain.understanding import RiskMark
from language.patterns import compiled
from language.tokens import tokens_of

_DATA = Path(__file__).parent / "data" / "risks.toml"
_URGENT = "urgent"
_TOKENS_MAX = 400
_CHARS_MAX = 4_000


def risks_in(text: str) -> tuple[RiskMark, ...]:
    """Return what is at risk by the words of `text`, in the order of the marks."""
    line = _line(text)
    return tuple(mark for mark in RiskMark if _phrases()[mark.value].search(line))


def is_urgent(text: str) -> bool:
    """Whether `text` says that it is urgent."""
    lower = text[:_CHARS_MAX].casefold()
    return bool(_phrases()[_URGENT].search(_line(text))) or any(word in lower for word in _raw()["anywhere"][_URGENT])


def _line(text: str) -> str:
    return " ".join(tokens_of(text)[:_TOKENS_MAX]) + " "


@cache
def _raw() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))


@cache
def _phrases() -> dict[str, re.Pattern[str]]:
    return {name: compiled([p for some in tongues.values() for p in some], {}) for name, tongues in _raw().items()}
