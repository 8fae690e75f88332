"""The shop's own rules about money and subscriptions, each a change within the caller's transaction.

A change either returns what it did or raises a Refusal before it has changed anything.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal, NoReturn

from demo.shop.commands import CancelSubscription, Refund
from demo.shop.problems import Refusal

NOT_REFUNDABLE_ORDERS = ("cancelled", "refunded")
REFUNDABLE_PAYMENTS = ("captured", "partially_refunded")

OWNED = {
    "orders": "SELECT * FROM orders WHERE tenant_id = ? AND id = ? AND customer_id = ?",
    "payments": "SELECT * FROM payments WHERE tenant_id = ? AND id = ? AND customer_id = ?",
    "subscriptions": "SELECT * FROM subscriptions WHERE tenant_id = ? AND id = ? AND customer_id = ?",
}


@dataclass(frozen=True)
class Done:
    """What a change did to which resource."""

    resource_kind: Literal["order", "payment", "subscription"]
    resource: str
    amount_minor: int
    currency: str


def carry_out(db: sqlite3.Connection, tenant: str, change: Refund | CancelSubscription) -> Done:
    """Applies the change. Raises Refusal."""
    if isinstance(change, CancelSubscription):
        return _cancel(db, tenant, change)
    return _refund_order(db, tenant, change) if change.order_id else _refund_payment(db, tenant, change)


def _refund_order(db: sqlite3.Connection, tenant: str, change: Refund) -> Done:
    order = _own(db, "orders", tenant, change.order_id, change.customer_id, change.expected_version)
    if order["status"] in NOT_REFUNDABLE_ORDERS:
        _refuse("not_refundable", f"Order {order['id']} is {order['status']}.")
    _check_amount(order["captured_minor"] - order["refunded_minor"], order["currency"], change)
    _book_on_order(db, tenant, order["id"], change.amount_minor)
    left = change.amount_minor
    newest_first = "SELECT * FROM payments WHERE tenant_id = ? AND order_id = ? ORDER BY captured_at DESC, rowid DESC"
    for payment in db.execute(newest_first, (tenant, order["id"])).fetchall():
        part = min(left, payment["amount_minor"] - payment["refunded_minor"])
        if part and payment["status"] in REFUNDABLE_PAYMENTS:
            _book_on_payment(db, tenant, payment["id"], part)
            left -= part
    return Done("order", order["id"], change.amount_minor, change.currency)


def _refund_payment(db: sqlite3.Connection, tenant: str, change: Refund) -> Done:
    payment = _own(db, "payments", tenant, change.payment_id, change.customer_id, change.expected_version)
    if payment["status"] not in REFUNDABLE_PAYMENTS:
        _refuse("not_refundable", f"Payment {payment['id']} is {payment['status']}.")
    _check_amount(payment["amount_minor"] - payment["refunded_minor"], payment["currency"], change)
    if payment["order_id"]:
        order = db.execute(
            "SELECT captured_minor - refunded_minor AS left_minor, currency FROM orders WHERE tenant_id = ? AND id = ?",
            (tenant, payment["order_id"]),
        ).fetchone()
        _check_amount(order["left_minor"], order["currency"], change)
        _book_on_order(db, tenant, payment["order_id"], change.amount_minor)
    _book_on_payment(db, tenant, payment["id"], change.amount_minor)
    return Done("payment", payment["id"], change.amount_minor, change.currency)


def _cancel(db: sqlite3.Connection, tenant: str, change: CancelSubscription) -> Done:
    subscription = _own(
        db, "subscriptions", tenant, change.subscription_id, change.customer_id, change.expected_version
    )
    if subscription["status"] == "cancelled":
        _refuse("already_cancelled", f"Subscription {subscription['id']} is cancelled already.")
    db.execute(
        "UPDATE subscriptions SET status = 'cancelled', renews_at = NULL, version = version + 1"
        " WHERE tenant_id = ? AND id = ?",
        (tenant, subscription["id"]),
    )
    return Done("subscription", subscription["id"], 0, subscription["currency"])


def _own(
    db: sqlite3.Connection, table: str, tenant: str, ident: str | None, customer: str, version: int
) -> sqlite3.Row:
    """The resource, if this customer owns it and it still is what the caller has seen."""
    row: sqlite3.Row | None = db.execute(OWNED[table], (tenant, ident, customer)).fetchone()
    if row is None:
        raise Refusal(404, "unknown_resource", f"This customer has nothing called {ident} among its {table}.")
    if row["version"] != version:
        raise Refusal(409, "version_conflict", f"{ident} is at version {row['version']}, not {version}.")
    return row


def _check_amount(left_minor: int, currency: str, change: Refund) -> None:
    if change.currency != currency:
        _refuse("wrong_currency", f"This was paid in {currency}, not in {change.currency}.")
    if change.amount_minor > left_minor:
        _refuse("exceeds_captured", f"At most {left_minor} (minor units of {currency}) can still be refunded.")


def _book_on_order(db: sqlite3.Connection, tenant: str, order_id: str, amount_minor: int) -> None:
    db.execute(
        "UPDATE orders SET refunded_minor = refunded_minor + :amount, version = version + 1, status ="
        " CASE WHEN refunded_minor + :amount = captured_minor THEN 'refunded' ELSE status END"
        " WHERE tenant_id = :tenant AND id = :id",
        {"amount": amount_minor, "tenant": tenant, "id": order_id},
    )


def _book_on_payment(db: sqlite3.Connection, tenant: str, payment_id: str, amount_minor: int) -> None:
    db.execute(
        "UPDATE payments SET refunded_minor = refunded_minor + :amount, version = version + 1, status ="
        " CASE WHEN refunded_minor + :amount = amount_minor THEN 'refunded' ELSE 'partially_refunded' END"
        " WHERE tenant_id = :tenant AND id = :id",
        {"amount": amount_minor, "tenant": tenant, "id": payment_id},
    )


def _refuse(error: str, title: str) -> NoReturn:
    raise Refusal(422, error, title)
