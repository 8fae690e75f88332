"""Small accounts and actions for the tests of this room; every time is counted from `NOW`."""

from datetime import UTC, datetime, timedelta
from typing import Any

from domain.account import Account, Evidence, Item, Order, Payment, Shipment, ShipmentEvent, Subscription
from domain.action import (
    Action,
    ActionKind,
    ActionState,
    ApprovalRole,
    CancelOrderPayload,
    Cause,
    ChangeDeliveryAddressPayload,
    ChangePaymentMethodPayload,
    ChangePlanPayload,
    ExchangeItemsPayload,
    Payload,
    RefundDuplicateChargePayload,
    RestoreAccountAccessPayload,
    ReturnItemsPayload,
    StoreCreditPayload,
    payload_digest,
)
from domain.action import CancelSubscriptionPayload as Cancellation
from domain.action import RefundPayload as Refund
from language.tongues import SPOKEN

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LANGUAGES = SPOKEN


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def under_way(
    ident: str = "A-20417", scanned_days_ago: float = 1, asked_days_ago: float | None = 0, **more: Any
) -> Order:
    """An order on its way; `asked_days_ago` None: nobody knows when the carrier was asked last."""
    events = (
        ShipmentEvent(status="label_created", at=ago(scanned_days_ago + 2)),
        ShipmentEvent(status="in_transit", at=ago(scanned_days_ago), place="Leipzig"),
    )
    asked_at = None if asked_days_ago is None else ago(asked_days_ago)
    shipment = Shipment(
        carrier="DHL", tracking_code="JD014600003", status="in_transit", events=events, observed_at=asked_at
    )
    return order(ident, "shipped", shipment=shipment, **more)


def order(ident: str = "A-20418", status: str = "delivered", captured: int = 2300, **more: Any) -> Order:
    given: dict[str, Any] = {"currency": "EUR", "refunded_minor": 0, "version": 1, "placed_at": ago(20), **more}
    return Order(id=ident, status=status, captured_minor=captured, **given)


def refunded(ident: str = "A-20419") -> Order:
    items = (Item(title="Blue kettle", price_minor=123450),)
    return order(ident, captured=123450, refunded_minor=123450, delivered_at=ago(400), items=items)


SUBSCRIPTIONS = (
    Subscription(id="sub_71kq", plan="Pro 10", status="active", price_minor=990, currency="EUR", version=1),
    Subscription(id="sub_82mr", plan="Basic", status="cancelled", price_minor=490, currency="EUR", version=1),
)
PAYMENT = Payment(
    id="pay_93ns",
    order_id="A-20418",
    amount_minor=2300,
    refunded_minor=0,
    currency="EUR",
    status="captured",
    captured_at=ago(20),
    version=1,
)
ACCOUNT = Account(
    orders=(under_way(scanned_days_ago=11), order(delivered_at=ago(3)), refunded(), order("A-20420", "processing")),
    subscriptions=SUBSCRIPTIONS,
    payments=(PAYMENT,),
)


def evidence(account: Account = ACCOUNT) -> Evidence:
    return Evidence(evidence_id="ev_1", source="shop", account=account, observed_at=NOW, max_age_s=60)


REFUND = Refund(customer_id="cus_1", order_id="A-20418", amount_minor=2300, currency="EUR", resource_version=1)
PAYMENT_REFUND = Refund(
    customer_id="cus_1", payment_id="pay_93ns", amount_minor=2300, currency="EUR", resource_version=1
)
CANCELLATION = Cancellation(customer_id="cus_1", subscription_id="sub_71kq", resource_version=1)
_OURS: dict[str, Any] = {"customer_id": "cus_1", "resource_version": 1}
_PAID: dict[str, Any] = {**_OURS, "amount_minor": 2300, "currency": "EUR"}
_SWAP: dict[str, Any] = {"item_ids": ("i1", "i2"), "new_item_ids": ("i3", "i4"), "difference_currency": "EUR"}
EXCHANGE = ExchangeItemsPayload(
    order_id="A-20418", payment_method_id="pm_1", method_label="Visa 4242", difference_minor=1550, **_SWAP, **_OURS
)
PAYLOADS: tuple[Payload, ...] = (  # of every kind at least one
    REFUND,
    PAYMENT_REFUND,
    CANCELLATION,
    StoreCreditPayload(reason="late_delivery", **_PAID),
    CancelOrderPayload(order_id="A-20420", reason="no_longer_needed", **_PAID),
    CancelOrderPayload(order_id="A-20420", reason="ordered_by_mistake", **_OURS),
    ReturnItemsPayload(
        order_id="A-20418", item_ids=("i1", "i2"), payment_method_id="pm_2", method_label="Gift card", **_PAID
    ),
    ReturnItemsPayload(order_id="A-20418", item_ids=("i1", "i2"), **_PAID),
    EXCHANGE,
    ChangeDeliveryAddressPayload(order_id="A-20420", address_id="adr_2", address=("Hauptstr. 7", "Köln"), **_OURS),
    ChangePaymentMethodPayload(order_id="A-20420", payment_method_id="pm_1", label="Visa 4242", **_OURS),
    ChangePaymentMethodPayload(subscription_id="sub_71kq", payment_method_id="pm_1", label="Visa 4242", **_OURS),
    ChangePlanPayload(
        subscription_id="sub_71kq",
        plan="Pro 10",
        new_plan="Basic",
        new_price_minor=490,
        new_price_currency="EUR",
        **_OURS,
    ),
    RefundDuplicateChargePayload(payment_id="pay_93ns", order_id="A-20418", **_PAID),
    RestoreAccountAccessPayload(**_OURS),
)


def action(
    state: ActionState = ActionState.AWAITING_APPROVAL,
    cause: Cause = Cause.APPROVAL_NEEDED,
    payload: Payload = REFUND,
    approvals: tuple[ApprovalRole, ...] = (ApprovalRole.CUSTOMER,),
    **more: Any,
) -> Action:
    return Action(
        operation_id=more.pop("operation_id", "op_1"),
        tenant_id="lumen",
        conversation_id="con_1",
        customer_id="cus_1",
        kind=ActionKind(payload.kind),
        state=state,
        cause=cause,
        payload=payload,
        payload_digest=payload_digest("op_1", payload),
        required_approvals=approvals,
        owner_epoch=1,
        policy_digest="p",
        evidence_digest="e",
        created_at=NOW,
        expires_at=NOW,
        **more,
    )
