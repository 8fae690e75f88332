"""Whether the numbers, days, times and statuses of a text stand in the page that it cites, in whichever form.

Pure; a number may lose what it counts on the way, and never gets another.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from policy.reply.calendar_words import relative_days_in, weekdays_in
from policy.reply.fact_reading import TIME, amount_pattern, day_patterns, days_meant, signs, time_meant
from policy.reply.plain import blot_where
from policy.reply.status_words import STATUS, denied
from policy.reply.unit_words import unit_behind

Days = set[tuple[int | None, int, int]]

_CODES = frozenset(
    "EUR USD GBP CHF JPY CNY KRW INR PLN SEK NOK DKK CZK HUF RON TRY RUB UAH BRL MXN CAD AUD AED SAR ILS THB".split()  # noqa: SIM905
)
_ALSO_DEEDS = frozenset({"returned", "cancelled", "refunded", "processed", "processing"})
_NUMBER = re.compile(r"\d+(?:[ .,']\d{3}(?!\d)|[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:([ .,'])\d{3})(?:\1\d{3})*(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_DECIMAL = re.compile(r"(?:\d+|\d{1,3}(?:[ .,']\d{3})+)[.,]\d+")


class Quantity(NamedTuple):
    """A number in each way in which it may be read, and what it counts: currencies, `%`, a span, or nothing told."""

    readings: frozenset[Decimal]
    counts: frozenset[str]


def stand_in(text: str, page: str) -> bool:
    """Return whether every number, day, time and status of plain `text` stands in plain `page`."""
    told, known = _Read(text), _Read(page)
    return (
        all(any(_same_day(mine, theirs) for theirs in known.days) for mine in told.days)
        and told.times <= known.times
        and all(any(mine & theirs for theirs in weekdays_in(page)) for mine in weekdays_in(text))
        and relative_days_in(text) <= relative_days_in(page)
        and all(any(_same(mine, theirs) for theirs in known.quantities) for mine in told.quantities)
        and statuses_told(text) <= statuses_told(page)
    )


def statuses_told(text: str) -> set[tuple[str, bool]]:
    """Return which statuses plain `text` tells, each with whether it denies it.

    Not those that are also what may be done with a thing: pages are full of what "can be returned".
    """
    told = ((name, pattern) for name, pattern in STATUS.items() if name not in _ALSO_DEEDS)
    return {(name, denied(text, m.start())) for name, pattern in told for m in pattern.finditer(text)}


def _same(mine: Quantity, theirs: Quantity) -> bool:
    return bool(mine.readings & theirs.readings) and (not mine.counts or bool(mine.counts & theirs.counts))


def _same_day(mine: Days, theirs: Days) -> bool:
    return any(year in (None, y) and (month, day) == (m, d) for year, month, day in mine for y, m, d in theirs)


class _Read:
    """The days, times and quantities of one text; what is read as a day is not read again as numbers."""

    def __init__(self, text: str) -> None:
        self.days: list[Days] = []
        self.times: set[tuple[int, int]] = set()
        self.quantities: list[Quantity] = []
        for pattern in day_patterns():
            text = blot_where(text, pattern, self._day)
        text = blot_where(text, TIME, self._time)
        text = blot_where(text, amount_pattern(_CODES), self._amount)
        for match in _NUMBER.finditer(text):
            unit = unit_behind(text, match.end())
            self.quantities.append(Quantity(_readings(match[0]), frozenset({unit} if unit else ())))

    def _day(self, match: re.Match[str]) -> bool:
        days = days_meant(match)
        self.days.append(days)
        return bool(days)

    def _time(self, match: re.Match[str]) -> bool:
        self.times.add(time_meant(match))
        return True

    def _amount(self, match: re.Match[str]) -> bool:
        sign = (match["c1"] or match["c2"]).casefold()
        codes = frozenset(code for code in _CODES if sign in signs(code))
        self.quantities.append(Quantity(_readings(match["n1"] or match["n2"]), codes))
        return True


def _readings(number: str) -> frozenset[Decimal]:
    """`1.234` is either a thousand or a little more than one; each reading in one form."""
    found = set()
    if _DECIMAL.fullmatch(number):
        at = max(number.rfind("."), number.rfind(","))
        found.add(Decimal(f"{_digits(number[:at])}.{number[at + 1 :]}").normalize())
    if _GROUPED.fullmatch(number) and len({c for c in number if not c.isdigit()}) == 1:
        found.add(Decimal(_digits(number)).normalize())
    return frozenset(found or {Decimal(_digits(number)).normalize()})


def _digits(number: str) -> str:
    return "".join(c for c in number if c.isdigit())
