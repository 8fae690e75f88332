"""A decision on record: what was asked, with whose consent, and what came of it.

Pure; read from the body of a verdict in the audit.
"""

from typing import Any, Literal, NamedTuple, Self

from pydantic import ConfigDict

from domain.action import ApprovalRole
from domain.base import Noun
from domain.verdict import Verdict, VerdictKind

Use = Literal["propose", "reserve"]


class Outcome(NamedTuple):
    """What a verdict means to whoever waits for it: its kind, and where it asks, whose consent is needed in all."""

    kind: VerdictKind
    asked: tuple[ApprovalRole, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return the outcome of a verdict."""
        return cls(verdict.kind, verdict.required if verdict.kind is VerdictKind.ASK else ())

    def __str__(self) -> str:
        return f"{self.kind.value} {' and '.join(role.value for role in self.asked)}".strip()


class Decision(Noun):
    """One verdict on record, with the request it was judged on; `n` is its number in the tenant's audit."""

    tenant_id: str
    n: int
    at: str
    operation_id: str
    use: Use
    outcome: Outcome
    rules: tuple[str, ...]
    request: dict[str, Any]
    granted: tuple[ApprovalRole, ...]

    @property
    def kind(self) -> str:
        """The kind of action; "" where the question could not be put."""
        return str(self.request.get("action", {}).get("id", ""))

    @classmethod
    def read(cls, tenant_id: str, n: int, at: str, operation_id: str, body: str) -> Self:
        """Return the decision that a verdict's body holds. Raises pydantic.ValidationError for a body that is none."""
        told = _Body.model_validate_json(body)
        asked = told.required if told.verdict is VerdictKind.ASK else ()
        return cls(
            tenant_id=tenant_id,
            n=n,
            at=at,
            operation_id=operation_id,
            use=told.use,
            outcome=Outcome(told.verdict, asked),
            rules=told.rules,
            request=told.request,
            granted=told.granted,
        )


class _Body(Noun):
    """The parts of a verdict's body that are judged again; what else is there is left aside."""

    model_config = ConfigDict(extra="ignore")

    use: Use
    verdict: VerdictKind
    rules: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()
    granted: tuple[ApprovalRole, ...] = ()
    request: dict[str, Any]
