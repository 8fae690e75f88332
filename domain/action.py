"""Actions: the closed union of the catalogue's payloads, the states, and the only moves between them (design §5).

The database holds the same table of moves; a test keeps the two equal.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter

from domain.account import Account
from domain.base import Noun, digest_of
from domain.catalogue.cancel_order import CancelOrderPayload as CancelOrderPayload
from domain.catalogue.cancel_subscription import CancelSubscriptionPayload as CancelSubscriptionPayload
from domain.catalogue.change_delivery_address import ChangeDeliveryAddressPayload as ChangeDeliveryAddressPayload
from domain.catalogue.change_payment_method import ChangePaymentMethodPayload as ChangePaymentMethodPayload
from domain.catalogue.change_plan import ChangePlanPayload as ChangePlanPayload
from domain.catalogue.exchange_items import ExchangeItemsPayload as ExchangeItemsPayload
from domain.catalogue.kinds import ActionKind as ActionKind
from domain.catalogue.payload import ActionPayload
from domain.catalogue.refund import RefundPayload as RefundPayload
from domain.catalogue.refund_duplicate_charge import RefundDuplicateChargePayload as RefundDuplicateChargePayload
from domain.catalogue.restore_account_access import RestoreAccountAccessPayload as RestoreAccountAccessPayload
from domain.catalogue.return_items import ReturnItemsPayload as ReturnItemsPayload
from domain.catalogue.store_credit import StoreCreditPayload as StoreCreditPayload
from domain.catalogue.wish import Wish


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


Payload = Annotated[
    RefundPayload
    | CancelSubscriptionPayload
    | StoreCreditPayload
    | CancelOrderPayload
    | ReturnItemsPayload
    | ExchangeItemsPayload
    | ChangeDeliveryAddressPayload
    | ChangePaymentMethodPayload
    | ChangePlanPayload
    | RefundDuplicateChargePayload
    | RestoreAccountAccessPayload,
    Field(discriminator="kind"),
]
CATALOGUE: dict[ActionKind, type[ActionPayload]] = {
    payload.model_fields["kind"].default: payload for payload in get_args(get_args(Payload)[0])
}
_PAYLOAD: TypeAdapter[Payload] = TypeAdapter(Payload)
MONEY_KINDS = frozenset(kind for kind, payload in CATALOGUE.items() if payload.moves_money)


def payload_of(wish: Wish, account: Account, customer_id: str) -> Payload:
    """Return the payload that `wish` comes to over the customer's own account. Raises NotProposable."""
    return _PAYLOAD.validate_python(CATALOGUE[wish.kind].wished(wish, account, customer_id))


def payload_digest(operation_id: str, payload: Payload) -> str:
    """Return the digest that approvals are bound to: everything of the payload, and the operation it is for."""
    return digest_of({"operation_id": operation_id, "payload": payload.model_dump(mode="json")})


def evidence_digest(source: str, payload: Payload, account: Account) -> str:
    """Return the digest of what an approval rests on: source and values, never the time of reading or of a scan."""
    found = account.resource(payload.resource)
    value = found.model_dump(mode="json", exclude={"shipment": {"observed_at"}}) if found else None
    return digest_of(
        {"source": source, "resource": payload.resource, "value": value, "also": payload.rests_on(account)}
    )


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
    requested_by: str = "bot:interlock"
    asked_at: datetime | None = None  # when a person of the staff was newly needed, where that came later
    reminded_at: datetime | None = None
    escalated_at: datetime | None = None

    @property
    def by_staff(self) -> bool:
        """Whether a person of the staff has asked for it, who then owns the conversation while it is carried out."""
        return self.requested_by.startswith("staff:")

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
