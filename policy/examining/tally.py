"""What a backtest has counted: decisions that would come out otherwise, by kind and amount, with the rules that did it.

Pure. Tallies of parts add up to the tally of the whole, whatever the parts are.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from domain.verdict import VerdictKind
from policy.decision import Outcome
from policy.examining.amounts import Band

Rules = tuple[str, ...]


class Direction(StrEnum):
    """What a flip means: less is asked for than before, or more, or something else."""

    LOOSER = "looser"
    STRICTER = "stricter"
    OTHER = "other"


class FlipKey(NamedTuple):
    """Which decisions are counted together."""

    kind: str
    currency: str
    band: Band
    then: Outcome
    now: Outcome

    @property
    def direction(self) -> Direction:
        """Whether the outcome now asks for less than that of then."""
        order = [VerdictKind.PERMIT, VerdictKind.ASK, VerdictKind.FORBID]
        then, now = order.index(self.then.kind), order.index(self.now.kind)
        if then != now:
            return Direction.LOOSER if now < then else Direction.STRICTER
        if set(self.now.asked) < set(self.then.asked):
            return Direction.LOOSER
        return Direction.STRICTER if set(self.then.asked) < set(self.now.asked) else Direction.OTHER


class Example(NamedTuple):
    """One decision that would come out otherwise."""

    tenant_id: str
    n: int
    at: str
    operation_id: str
    use: str
    amount_minor: int | None


@dataclass
class Flips:
    """Decisions that flip in one way; an operation that was judged several times has its amount counted once."""

    decisions: int = 0
    amounts: dict[str, int] = field(default_factory=dict)  # by operation, in minor units
    causes: Counter[tuple[Rules, Rules]] = field(default_factory=Counter)
    examples: list[Example] = field(default_factory=list)

    @property
    def amount_minor(self) -> int:
        """The sum over all operations."""
        return sum(self.amounts.values())


@dataclass
class Tally:
    """All that was counted. `unjudged` is by kind of action and by what kept it from being judged."""

    examples_max: int
    decisions: int = 0
    same: int = 0
    other_rules: int = 0  # of the same: by other rules than then
    flips: dict[FlipKey, Flips] = field(default_factory=dict)
    unjudged: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def flipped(self) -> int:
        """How many decisions would come out otherwise."""
        return sum(flips.decisions for flips in self.flips.values())

    def unjudgeable(self, kind: str, why: str) -> None:
        """Count a decision that cannot be judged again."""
        self.decisions += 1
        self.unjudged[kind, why] += 1

    def unchanged(self, by_other_rules: bool) -> None:
        """Count a decision that comes out as before."""
        self.decisions += 1
        self.same += 1
        self.other_rules += by_other_rules

    def flip(self, key: FlipKey, then: Rules, now: Rules, example: Example) -> None:
        """Count a decision that comes out otherwise, by the rules that decided then and now."""
        self.decisions += 1
        flips = self.flips.setdefault(key, Flips())
        flips.decisions += 1
        flips.amounts[example.operation_id] = abs(example.amount_minor or 0)
        flips.causes[then, now] += 1
        if len(flips.examples) < self.examples_max:
            flips.examples.append(example)

    def add(self, other: "Tally") -> None:
        """Add what another part has counted."""
        self.decisions += other.decisions
        self.same += other.same
        self.other_rules += other.other_rules
        self.unjudged.update(other.unjudged)
        for key, theirs in other.flips.items():
            mine = self.flips.setdefault(key, Flips())
            mine.decisions += theirs.decisions
            mine.amounts.update(theirs.amounts)
            mine.causes.update(theirs.causes)
            mine.examples.extend(theirs.examples[: max(0, self.examples_max - len(mine.examples))])
