"""The measures of the service: shares with Wilson's interval, and quantiles and means of what was timed or scored.

Pure; what was observed is given as counts and values of a group and a day, and nothing is told without its number.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from enum import StrEnum
from math import ceil, floor, sqrt
from statistics import fmean, stdev
from typing import TypeVar

from domain.base import Noun
from domain.share import Share

_Key = TypeVar("_Key", str, date)

Z = 1.959964  # of a 95 % interval


class Unit(StrEnum):
    """What a value is counted in."""

    SHARE = "share"
    SECONDS = "seconds"
    SCORE = "score"  # 1 to 5
    MICROS = "micros"  # millionths of a currency's major unit
    COUNT = "count"


class Figure(StrEnum):
    """What is measured; docs/numbers.md says exactly how."""

    CONVERSATIONS = "conversations"
    REPLY_TIME = "reply_time"
    HANDLE_TIME = "handle_time"
    HUMAN_REPLY_TIME = "human_reply_time"
    TAG_PRECISION = "tag_precision"
    DRAFT_ACCEPTANCE = "draft_acceptance"
    DRAFT_CHANGE = "draft_change"
    REFUND_ERRORS = "refund_errors"
    ESCALATIONS = "escalations"
    ESCALATIONS_RIGHT = "escalations_right"
    HANDOFF_SCORE = "handoff_score"
    CSAT = "csat"
    CSAT_SCORE = "csat_score"
    POLICY_VIOLATIONS = "policy_violations"
    POLICY_DENIALS = "policy_denials"
    RESOLVED = "resolved"
    VERIFIED_RESOLUTION = "verified_resolution"
    RECONTACT = "recontact"
    COST = "cost"
    QUEUE_AGE = "queue_age"

    @property
    def unit(self) -> Unit:
        """What its values are counted in."""
        return _UNITS.get(self, Unit.SHARE)


_UNITS = {
    Figure.CONVERSATIONS: Unit.COUNT,
    Figure.REPLY_TIME: Unit.SECONDS,
    Figure.HANDLE_TIME: Unit.SECONDS,
    Figure.HUMAN_REPLY_TIME: Unit.SECONDS,
    Figure.HANDOFF_SCORE: Unit.SCORE,
    Figure.CSAT_SCORE: Unit.SCORE,
    Figure.COST: Unit.MICROS,
    Figure.QUEUE_AGE: Unit.SECONDS,
}


class Observed(Noun):
    """What was observed of one figure in one group on one day: `hits` of `of`, or `values` in the figure's unit."""

    figure: Figure
    group: str
    day: date
    hits: int = 0
    of: int = 0
    values: tuple[float, ...] = ()


class Value(Noun):
    """A number with its 95 % interval; None where nothing was observed."""

    value: float | None
    low: float | None
    high: float | None


class Measure(Noun):
    """A figure over `n` observations: a share or a mean in `value`; of what was timed, the median there and `p95`."""

    figure: Figure
    unit: Unit
    n: int
    value: Value
    p95: Value | None = None
    hits: int | None = None


def measure(figure: Figure, observed: Iterable[Observed]) -> Measure:
    """Return the measure of one figure over all that was observed of it."""
    seen = list(observed)
    match figure.unit:
        case Unit.SHARE:
            share = Share(hits=sum(o.hits for o in seen), of=sum(o.of for o in seen))
            return Measure(figure=figure, unit=figure.unit, n=share.of, hits=share.hits, value=_of_share(share))
        case Unit.COUNT:
            hits = sum(o.hits for o in seen)
            return Measure(figure=figure, unit=figure.unit, n=hits, value=Value(value=hits, low=None, high=None))
        case Unit.SECONDS:
            values = sorted(v for o in seen for v in o.values)
            value, p95 = quantile(values, 0.5), quantile(values, 0.95)
            return Measure(figure=figure, unit=figure.unit, n=len(values), value=value, p95=p95)
        case Unit.SCORE | Unit.MICROS:
            values = [v for o in seen for v in o.values]
            return Measure(figure=figure, unit=figure.unit, n=len(values), value=mean(values))


def grouped(observed: Iterable[Observed], key: Callable[[Observed], _Key]) -> dict[_Key, dict[Figure, Measure]]:
    """Return the measures of every figure that was observed, by `key`."""
    found: defaultdict[_Key, defaultdict[Figure, list[Observed]]] = defaultdict(lambda: defaultdict(list))
    for one in observed:
        found[key(one)][one.figure].append(one)
    return {group: {f: measure(f, seen) for f, seen in figures.items()} for group, figures in found.items()}


def overall(observed: Sequence[Observed]) -> list[Measure]:
    """Return every figure that is reckoned over conversations, observed or not, in their order."""
    return [
        measure(figure, (one for one in observed if one.figure is figure))
        for figure in Figure
        if figure is not Figure.QUEUE_AGE
    ]


def _of_share(share: Share) -> Value:
    if share.value is None:
        return Value(value=None, low=None, high=None)
    low, high = share.interval
    return Value(value=share.value, low=low, high=high)


def quantile(values: Sequence[float], q: float) -> Value:
    """Return the `q` quantile of sorted values, and the order statistics between which it lies at 95 %.

    The interval takes no shape for granted: its ranks are by the normal approximation of the binomial (Conover 1999,
    3.2). An end is left out where so few values have none.
    """
    n = len(values)
    if n == 0:
        return Value(value=None, low=None, high=None)
    half = Z * sqrt(n * q * (1 - q))
    low, high = floor(n * q - half), ceil(n * q + half)
    return Value(
        value=values[min(n, max(1, ceil(n * q))) - 1],
        low=values[low - 1] if low >= 1 else None,
        high=values[high - 1] if high <= n else None,
    )


def mean(values: Sequence[float]) -> Value:
    """Return the mean, and its interval by the normal approximation; none of fewer than two values."""
    if not values:
        return Value(value=None, low=None, high=None)
    middle = fmean(values)
    if len(values) < 2:
        return Value(value=middle, low=None, high=None)
    half = Z * stdev(values) / sqrt(len(values))
    return Value(value=middle, low=middle - half, high=middle + half)
