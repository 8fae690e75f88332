"""How long a wait may be, from what was measured in the last hours, or nothing where too little was.

Pure; nobody is told a number that rests on a guess.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from domain.base import Noun
from domain.opening import Calendar

WINDOW_S = 4 * 3_600  # what is looked back on
TAKEN_MIN = 5  # fewer say nothing about the next
OPEN_MIN_S = 15 * 60  # nor do a few minutes after opening
_STEP_S = 60  # no more exact than that


class Throughput(Noun):
    """How much people took lately: `n` handoffs, after `median_wait_s` seconds, in `open_s` seconds of open hours.

    `done_last_hour` counts what was dealt with, whoever began it.
    """

    n: int
    median_wait_s: int | None
    done_last_hour: int
    open_s: int


def throughput(waits_s: Sequence[float], done_last_hour: int, calendar: Calendar, now: datetime) -> Throughput:
    """Return what the waits of all that was taken within WINDOW_S come to."""
    return Throughput(
        n=len(waits_s),
        median_wait_s=int(median(waits_s)) if waits_s else None,
        done_last_hour=done_last_hour,
        open_s=calendar.between(now - timedelta(seconds=WINDOW_S), now),
    )


def estimate_s(ahead: int, measured: Throughput, *, is_open: bool) -> int | None:
    """Return how many seconds it may take until whoever has `ahead` others before them is taken, in whole minutes.

    None while the desk is closed, and where too little was measured.
    """
    if not is_open or measured.n < TAKEN_MIN or measured.open_s < OPEN_MIN_S:
        return None
    expected = (ahead + 1) * measured.open_s / measured.n
    return int(-(-expected // _STEP_S) * _STEP_S)
