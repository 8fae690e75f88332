"""A backtest's result as nouns: what stands in its JSON, and what the table is made of.

Built once from the tally; flips of one kind stand together, by amount, the most frequent first.
"""

from collections import Counter
from datetime import datetime

from domain.action import ApprovalRole
from domain.base import Noun
from domain.verdict import VerdictKind
from policy.decision import Outcome, Use
from policy.examining.tally import Direction, Example, FlipKey, Flips, Rules, Tally

CAUSES_MAX = 20  # of each way to flip; the others are counted in `other_causes`


class Told(Noun):
    """An outcome: `required` is whose consent it asks for."""

    verdict: VerdictKind
    required: tuple[ApprovalRole, ...]

    @classmethod
    def of(cls, outcome: Outcome) -> "Told":
        """Return the outcome so told."""
        return cls(verdict=outcome.kind, required=outcome.asked)

    def __str__(self) -> str:
        return str(Outcome(self.verdict, self.required))


class Cause(Noun):
    """The rules that decided then and that decide now, and in how many decisions."""

    then: Rules
    now: Rules
    decisions: int


class Case(Noun):
    """One decision that comes out otherwise, by its number in its tenant's audit."""

    tenant_id: str
    n: int
    at: str
    operation_id: str
    use: str
    amount_minor: int | None


class FlipRow(Noun):
    """Decisions that come out otherwise in one way, in one band of amounts; each operation's amount counts once."""

    kind: str
    currency: str
    low_minor: int | None
    high_minor: int | None
    then: Told
    now: Told
    direction: Direction
    decisions: int
    operations: int
    amount_minor: int
    causes: tuple[Cause, ...]
    other_causes: int
    examples: tuple[Case, ...]


class Unjudged(Noun):
    """Decisions that cannot be judged again, and why."""

    kind: str
    why: str
    decisions: int


class Report(Noun):
    """All of it. `against` is None where it is compared with what came of the decisions; `use` None: both uses."""

    under: str
    against: str | None
    tenants: tuple[str, ...]
    since: datetime | None
    after: int
    use: Use | None
    decisions: int
    same: int
    same_by_other_rules: int
    flipped: int
    flips: tuple[FlipRow, ...]
    unjudged: tuple[Unjudged, ...]
    interrupted: bool
    through: dict[str, int]
    seconds: float


def flip_rows(tally: Tally) -> tuple[FlipRow, ...]:
    """Return the flips in the order in which they are told."""
    return tuple(_row(key, tally.flips[key]) for key in sorted(tally.flips, key=lambda key: _place(key, tally)))


def unjudged_rows(tally: Tally) -> tuple[Unjudged, ...]:
    """Return what could not be judged, the most frequent first."""
    return tuple(Unjudged(kind=kind, why=why, decisions=n) for (kind, why), n in tally.unjudged.most_common())


def _place(key: FlipKey, tally: Tally) -> tuple[object, ...]:
    low = -1 if key.band.low is None else key.band.low
    return key.kind, key.currency, low, -tally.flips[key].decisions, str(key.then), str(key.now)


def _row(key: FlipKey, flips: Flips) -> FlipRow:
    causes = flips.causes.most_common(CAUSES_MAX)
    return FlipRow(
        kind=key.kind,
        currency=key.currency,
        low_minor=key.band.low,
        high_minor=key.band.high,
        then=Told.of(key.then),
        now=Told.of(key.now),
        direction=key.direction,
        decisions=flips.decisions,
        operations=len(flips.amounts),
        amount_minor=flips.amount_minor,
        causes=tuple(Cause(then=then, now=now, decisions=n) for (then, now), n in causes),
        other_causes=flips.decisions - sum(Counter(dict(causes)).values()),
        examples=tuple(_case(example) for example in flips.examples),
    )


def _case(example: Example) -> Case:
    return Case(**example._asdict())
