"""The part of a backtest that runs in processes of its own: chunks of recorded verdicts go in, tallies come out.

What a process needs to know is given to it once, when it starts; no room is imported that makes it start slowly.
"""

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from auditing.sources import Sources
from domain.audit import VerdictRow
from policy.decision import Decision, Use
from policy.examining.backtest import Backtest, Thresholds
from policy.examining.tally import Tally

UNREADABLE = "the record of it cannot be read"


class Trial(NamedTuple):
    """What a tenant's decisions are judged under, and against what: None is what came of them."""

    under: Sources
    against: Sources | None = None


class Terms(NamedTuple):
    """The terms of one backtest. `use` leaves out decisions of the other use; None takes both."""

    trials: Mapping[str, Trial]  # by tenant
    thresholds: Thresholds
    use: Use | None
    examples_max: int


class Judging:
    """Judges chunks of any tenant; each bundle is parsed once, however many tenants have it."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._made: list[tuple[Trial, Backtest]] = []

    def tally(self, tenant_id: str, chunk: Sequence[VerdictRow]) -> Tally:
        """Return what was counted over a chunk of one tenant's verdicts."""
        tally = Tally(self._terms.examples_max)
        decisions = []
        for row in chunk:
            try:
                decision = Decision.read(tenant_id, *row)
            except ValidationError:
                tally.unjudgeable("", UNREADABLE)
                continue
            if self._terms.use in (None, decision.use):
                decisions.append(decision)
        tally.add(self._backtest(self._terms.trials[tenant_id]).tally(decisions))
        return tally

    def _backtest(self, trial: Trial) -> Backtest:
        made = next((backtest for of, backtest in self._made if of == trial), None)
        if made is None:
            against = None if trial.against is None else trial.against.bundle()
            made = Backtest(trial.under.bundle(), against, self._terms.thresholds, self._terms.examples_max)
            self._made.append((trial, made))
        return made


_here: list[Judging] = []  # of this process: a pool hands its workers functions, not objects


def prepare(told: str) -> None:
    """Begin a process on the terms in a file; it is deaf to Ctrl-C from its birth: whoever started it ends it."""
    terms: Terms = pickle.loads(Path(told).read_bytes())  # noqa: S301 — written by the process that started this one
    _here.append(Judging(terms))


def begun() -> bool:
    """Return whether this process has been prepared."""
    return bool(_here)


def judge(tenant_id: str, chunk: Sequence[VerdictRow]) -> Tally:
    """Judge one chunk in a process that has been prepared."""
    return _here[0].tally(tenant_id, chunk)
