"""Actions: the closed union of payloads, the states, and the only moves between them (design §5).

The database holds the same table of moves; a test keeps the two equal.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from domain.base import Noun, digest_of


class ActionKind(StrEnum):
    """What Interlock may propose to change in a business system."""

    REFUND = "refund"
    CANCEL_SUBSCRIPTION = "cancel_subscription"


class ActionState(StrEnum):
    """Where an action stands. `unknown` is a state, not an error: it may have happened."""

    PROPOSED = "proposed"
    AWAITING_APPROVAL = "awaiting_approval"
    SUBMITTED = "submitted"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    UNKNOWN = "unknown"

    @property
    def terminal(self) -> bool:
        """Whether nothing can change it any more."""
        return self in (ActionState.CONFIRMED, ActionState.REJECTED)

    @property
    def in_flight(self) -> bool:
        """Whether it may have reached the business system and is not settled: it keeps its resource."""
        return self in (ActionState.SUBMITTED, ActionState.UNKNOWN)

    @property
    def unexecuted(self) -> bool:
        """Whether nothing can have happened yet."""
        return self in (ActionState.PROPOSED, ActionState.AWAITING_APPROVAL)


S = ActionState
LEGAL_MOVES: frozenset[tuple[ActionState, ActionState]] = frozenset(
    {
        (S.PROPOSED, S.AWAITING_APPROVAL),
        (S.PROPOSED, S.REJECTED),
        (S.AWAITING_APPROVAL, S.SUBMITTED),
        (S.AWAITING_APPROVAL, S.REJECTED),
        (S.SUBMITTED, S.CONFIRMED),
        (S.SUBMITTED, S.REJECTED),
        (S.SUBMITTED, S.UNKNOWN),
        (S.UNKNOWN, S.CONFIRMED),
        (S.UNKNOWN, S.REJECTED),
    }
)


class Cause(StrEnum):
    """Why an action moved."""

    PROPOSED = "proposed"
    APPROVAL_NEEDED = "approval_needed"
    DENIED = "denied"  # policy forbids
    DECLINED = "declined"  # an approver or the customer said no
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    RESERVED = "reserved"
    NEVER_SENT = "never_sent"  # reserved, not claimed in time: certainly not sent
    SUCCEEDED = "succeeded"
    REFUSED = "refused"  # a definite refusal of the business system
    RESPONSE_LOST = "response_lost"
    FOUND = "found"  # looked up, and there
    NOT_FOUND = "not_found"  # looked up after D + L, and not there


class RefundPayload(Noun):
    """Give back `amount_minor` of `currency` on one order, or on one payment that has no order."""

    kind: Literal[ActionKind.REFUND] = ActionKind.REFUND
    customer_id: str
    order_id: str | None = None
    payment_id: str | None = None
    amount_minor: int = Field(gt=0)
    currency: str
    resource_version: int

    @property
    def resource(self) -> str:
        """`order:ID` or `payment:ID`; two actions are never in flight on one."""
        return f"order:{self.order_id}" if self.order_id else f"payment:{self.payment_id}"


class CancelSubscriptionPayload(Noun):
    """Cancel one subscription of its owner."""

    kind: Literal[ActionKind.CANCEL_SUBSCRIPTION] = ActionKind.CANCEL_SUBSCRIPTION
    customer_id: str
    subscription_id: str
    plan: str | None = None  # its name, so that people see what would end
    resource_version: int

    @property
    def resource(self) -> str:
        """`subscription:ID`."""
        return f"subscription:{self.subscription_id}"

    amount_minor: Literal[None] = None
    currency: Literal[None] = None


Payload = Annotated[RefundPayload | CancelSubscriptionPayload, Field(discriminator="kind")]


def payload_digest(operation_id: str, payload: Payload) -> str:
    """Return the digest that approvals are bound to: everything of the payload, and the operation it is for."""
    return digest_of({"operation_id": operation_id, "payload": payload.model_dump(mode="json")})


class ApprovalRole(StrEnum):
    """Whose consent a verdict may ask for."""

    CUSTOMER = "customer"
    MANAGER = "manager"
    FINANCE = "finance"


class Action(Noun):
    """One row of the ledger, as everybody reads it."""

    operation_id: str
    tenant_id: str
    conversation_id: str
    customer_id: str
    kind: ActionKind
    state: ActionState
    cause: Cause
    payload: Payload
    payload_digest: str
    required_approvals: tuple[ApprovalRole, ...]
    owner_epoch: int
    policy_digest: str
    evidence_digest: str
    created_at: datetime
    expires_at: datetime
    language: str = "en"
    reserved_at: datetime | None = None
    sent_at: datetime | None = None
    last_sent_at: datetime | None = None
    send_count: int = 0
    settled_at: datetime | None = None
    external_id: str | None = None
    given: tuple[ApprovalRole, ...] = ()  # consent given so far, where a reader has asked for it

    @property
    def unsent(self) -> bool:
        """Whether it is open and certainly not sent, so that it may be withdrawn."""
        return self.state.unexecuted or (self.state is ActionState.SUBMITTED and self.send_count == 0)


class Move(Noun):
    """One row of an action's history."""

    from_state: ActionState | None
    to_state: ActionState
    cause: Cause
    actor: str
    at: datetime


class ApprovalDecision(StrEnum):
    """What an approver says."""

    APPROVE = "approve"
    REJECT = "reject"
