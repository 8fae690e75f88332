"""A business system as its contract allows it to be: late, forgetful of refusals, losing requests and answers."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain.connector import ConnectorContract, Lookup, LookupKind, WriteOutcome
from tests.store.terms import REFUSAL, SUCCESS


@dataclass
class Request:
    """One request on the wire."""

    operation_id: str
    sent_at: datetime


@dataclass
class FaultyShop:
    """Counts its effects. A request takes effect no later than D after it was sent; a look-up may miss one for L."""

    contract: ConnectorContract
    clock: Callable[[], datetime]
    flying: list[Request] = field(default_factory=list)
    answers: list[tuple[str, WriteOutcome]] = field(default_factory=list)
    effects: Counter[str] = field(default_factory=Counter)
    kept: dict[str, tuple[WriteOutcome, datetime]] = field(default_factory=dict)

    def send(self, operation_id: str) -> None:
        """Take a request that was claimed now."""
        self.flying.append(Request(operation_id, self.clock()))

    def take(self, request: Request, *, accept: bool, answer_arrives: bool) -> None:
        """Execute a request, or find its key; one that is too late for D is dropped."""
        self.flying.remove(request)
        bound = timedelta(seconds=self.contract.late_commit_bound_s or 0)
        if self.clock() > request.sent_at + bound:
            return
        outcome = self._answer_under_key(request.operation_id, accept)
        if answer_arrives:
            self.answers.append((request.operation_id, outcome))

    def _answer_under_key(self, operation_id: str, accept: bool) -> WriteOutcome:
        if operation_id in self.kept:
            return self.kept[operation_id][0]
        outcome = SUCCESS if accept else REFUSAL
        if accept:
            self.effects[operation_id] += 1
        if accept or self.contract.refusals_kept:
            self.kept[operation_id] = (outcome, self.clock())
        return outcome

    def look_up(self, operation_id: str, *, lags: bool) -> Lookup:
        """Answer a look-up; one that lags does not show what is younger than L."""
        outcome, at = self.kept.get(operation_id, (None, self.clock()))
        lag = timedelta(seconds=self.contract.lookup_lag_s or 0)
        if outcome is None or (lags and self.clock() < at + lag):
            return Lookup(kind=LookupKind.NOT_FOUND)
        if outcome is SUCCESS:
            return Lookup(kind=LookupKind.COMMITTED, external_id=outcome.external_id)
        return Lookup(kind=LookupKind.REFUSED)

    def agrees_with(self, states: dict[str, str]) -> None:
        """2: at most one effect an operation; what is confirmed has it, what is rejected has none and never will."""
        assert all(n <= 1 for n in self.effects.values())
        for operation_id, state in states.items():
            assert state != "confirmed" or self.effects[operation_id] == 1, operation_id
            assert state != "rejected" or self.effects[operation_id] == 0, operation_id
