"""Small accounts, actions and questions for the tests of this room; every time is counted from `NOW`."""

from datetime import UTC, datetime, timedelta
from typing import Any

from domain.account import (
    Account,
    Address,
    Evidence,
    Item,
    Order,
    Payment,
    Plan,
    Profile,
    Shipment,
    ShipmentEvent,
    Subscription,
)
from domain.action import Action, ActionKind, ActionState, ApprovalRole, Cause, Payload, payload_digest
from domain.action import CancelSubscriptionPayload as Cancellation
from domain.action import RefundPayload as Refund
from domain.situation import Situation
from domain.understanding import Intent, TurnContext, Understanding
from domain.verdict import PolicyQuestion

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CUSTOMER = "cus_1"


def order(ident: str = "A-10001", status: str = "delivered", captured: int = 3000, **more: Any) -> Order:
    refunded = more.pop("refunded", 0)
    given = {"currency": "EUR", "refunded_minor": refunded, "version": 1, "placed_at": NOW - timedelta(days=5), **more}
    return Order(id=ident, status=status, captured_minor=captured, **given)


def subscription(ident: str = "sub_a1b2c3d4", status: str = "active", **more: Any) -> Subscription:
    given = {"plan": "Team", "price_minor": 2900, "currency": "EUR", "version": 1, **more}
    return Subscription(id=ident, status=status, **given)


def payment(ident: str = "pay_x1", amount: int = 3000, hours_ago: float = 10, **more: Any) -> Payment:
    at = NOW - timedelta(hours=hours_ago)
    given = {"currency": "EUR", "status": "captured", "version": 1, "refunded_minor": 0, "captured_at": at, **more}
    return Payment(id=ident, amount_minor=amount, **given)


def plan(name: str = "Business", price: int = 14900) -> Plan:
    return Plan(name=name, price_minor=price, currency="EUR")


def address(ident: str = "adr_2", label: str = "Office") -> Address:
    return Address(id=ident, label=label, lines=(f"{label} Street 7", "Köln"))


def profile(access: str = "locked", *, verified: bool = True) -> Profile:
    return Profile(id=CUSTOMER, access=access, email_verified=verified)


def account(*things: Order | Subscription | Payment | Plan | Address | Profile) -> Account:
    return Account(
        plans=tuple(t for t in things if isinstance(t, Plan)),
        addresses=tuple(t for t in things if isinstance(t, Address)),
        profile=next((t for t in things if isinstance(t, Profile)), None),
        orders=tuple(t for t in things if isinstance(t, Order)),
        subscriptions=tuple(t for t in things if isinstance(t, Subscription)),
        payments=tuple(t for t in things if isinstance(t, Payment)),
    )


def refund(resource: str = "order:A-10001", amount: int = 3000, **more: Any) -> Refund:
    kind, _, ident = resource.partition(":")
    given = {"customer_id": CUSTOMER, "currency": "EUR", "resource_version": 1, **more}
    return Refund(**{f"{kind}_id": ident}, amount_minor=amount, **given)


def cancellation(ident: str = "sub_a1b2c3d4", **more: Any) -> Cancellation:
    given = {"customer_id": CUSTOMER, "subscription_id": ident, "plan": "Team", "resource_version": 1, **more}
    return Cancellation(**given)


def question(payload: Payload | None = None, owned: Account | None = None, **more: Any) -> PolicyQuestion:
    given = {
        "tenant_id": "lumen",
        "tenant_kind": "marketplace",
        "customer_id": CUSTOMER,
        "customer_status": "active",
        "evidence_observed_at": NOW - timedelta(seconds=5),
        "evidence_max_age_s": 60,
        "now": NOW,
        **more,
    }
    return PolicyQuestion(payload=payload or refund(), account=owned or account(order()), **given)


def action(
    payload: Payload | None = None,
    state: ActionState = ActionState.AWAITING_APPROVAL,
    op: str = "op_1",
    age_s: int = 60,
) -> Action:
    chosen = payload or refund()
    return Action(
        operation_id=op,
        tenant_id="lumen",
        conversation_id="con_1",
        customer_id=CUSTOMER,
        kind=ActionKind(chosen.kind),
        state=state,
        cause=Cause.PROPOSED,
        payload=chosen,
        payload_digest=payload_digest(op, chosen),
        required_approvals=(ApprovalRole.CUSTOMER,),
        owner_epoch=1,
        policy_digest="p" * 64,
        evidence_digest="e" * 64,
        created_at=NOW - timedelta(seconds=age_s),
        expires_at=NOW + timedelta(minutes=10),
    )


def situation(
    intent: Intent, *mentions: str, owned: Account | None = None, actions: tuple[Action, ...] = (), **more: Any
) -> Situation:
    """A turn; `context` takes a TurnContext, the rest goes to the understanding or, by its name, to the situation."""
    outer = {k: more.pop(k) for k in ("awaited_by_person", "confirmed_by_customer", "passages") if k in more}
    context = more.pop("context", TurnContext())
    told = Understanding(**{"intent": intent, "language": "en", "mentions": mentions, **more})
    return Situation(understanding=told, context=context, account=owned, actions=actions, **outer)


def evidence(owned: Account, age_s: float = 1, max_age_s: int = 60) -> Evidence:
    at = NOW - timedelta(seconds=age_s)
    return Evidence(evidence_id="ev_1", source="shop", account=owned, observed_at=at, max_age_s=max_age_s)


def shipped_order(ident: str = "A-10482", **more: Any) -> Order:
    """One on its way, with scans, two lines and a tracking code."""
    scans = (
        ShipmentEvent(status="label_created", at=datetime(2026, 11, 10, 8, 0, tzinfo=UTC), place="Porto"),
        ShipmentEvent(status="in_transit", at=datetime(2026, 11, 12, 14, 5, tzinfo=UTC), place="Lyon"),
    )
    parcel = Shipment(
        carrier="Colis 24",
        tracking_code="CX123456789012",
        status="in_transit",
        events=scans,
        observed_at=more.pop("asked_at", NOW),
    )
    items = (
        Item(sku="MUG-2", title="Mug 0.5 l", quantity=2, price_minor=1250),
        Item(sku="LAMP", title="Desk lamp", price_minor=120990),
    )
    given = {"placed_at": datetime(2026, 11, 9, tzinfo=UTC), "items": items, "shipment": parcel, **more}
    return order(ident, "shipped", 123490, **given)
