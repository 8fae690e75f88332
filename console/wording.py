"""How times, amounts and labels are put to people of the staff: exact, short, and the same everywhere.

Pure; `now` is an argument. The staff's pages are in English.
"""

from datetime import UTC, datetime
from typing import Any

from babel.numbers import format_currency, get_currency_precision

_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def money(amount_minor: int | None, currency: str | None) -> str:
    """Return an amount of minor units in words of its currency: `€25.90`; nothing where there is none."""
    if amount_minor is None or currency is None:
        return ""
    return str(format_currency(amount_minor / 10 ** get_currency_precision(currency), currency, locale="en"))


def moment(at: str | datetime) -> datetime:
    """Return a time of the contract as a datetime."""
    return at if isinstance(at, datetime) else datetime.fromisoformat(at)


def clock(at: str | datetime | None) -> str:
    """Return a time in UTC, to the second: `2026-11-30 09:15:02`; nothing where there is none."""
    return "" if at is None else moment(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float | None) -> str:
    """Return a length of time in its largest one or two units: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`."""
    if seconds is None:
        return ""
    left, told = int(abs(seconds)), []
    for size, unit in _STEPS:
        count, left = divmod(left, size)
        if count:
            told.append(f"{count} {unit}")
    return " ".join(told[:2]) if told else f"{left} s"


def ago(at: str | datetime | None, now: datetime) -> str:
    """Return how long ago, or how far ahead, a time is: `12 min ago`, `in 3 h`."""
    if at is None:
        return ""
    seconds = (now - moment(at)).total_seconds()
    return f"{duration(seconds)} ago" if seconds >= 0 else f"in {duration(seconds)}"


def label(name: Any) -> str:
    """Return a label of the contract as words: `awaiting_approval` is `awaiting approval`."""
    return str(name).replace("_", " ").replace("-", " ")


def sentence(name: Any) -> str:
    """Return a label as the beginning of a sentence."""
    told = label(name)
    return told[:1].upper() + told[1:]


def initials(name: str) -> str:
    """Return at most two letters for a person."""
    words = [word for word in name.replace("-", " ").split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words[:1])).upper() or "?"
