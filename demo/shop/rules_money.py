"""The shop's rules about money that is given back or credited.

Each is a change within the caller's transaction: it returns what it did, or raises a Refusal and has changed nothing.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from demo.shop.books import REFUNDABLE_PAYMENTS, Books, Done, refuse
from demo.shop.changes import Refund, RefundDuplicateCharge, StoreCredit
from demo.shop.shapes import stamp

NOT_REFUNDABLE_ORDERS = ("cancelled", "refunded", "return requested")
CREDIT_REASONS = ("goodwill", "late_delivery", "damaged_item", "missing_item")
#: two equal charges for one thing are one too many when they lie this close together
TWIN_WINDOW = timedelta(days=3)
EARLIER_TWIN = """
SELECT 1 FROM payments WHERE tenant_id = :tenant AND id != :id AND order_id IS :order_id
  AND subscription_id IS :subscription_id AND amount_minor = :amount_minor AND currency = :currency
  AND status = 'captured' AND captured_at BETWEEN :since AND :until LIMIT 1"""


def refund(books: Books, change: Refund) -> Done:
    """Gives back an amount of an order, or of a payment."""
    return _order(books, change, change.order_id) if change.order_id else _payment(books, change, change.payment_id)


def _order(books: Books, change: Refund, order_id: str) -> Done:
    order = books.own("orders", order_id, change.customer_id, change.expected_version)
    if order["status"] in NOT_REFUNDABLE_ORDERS:
        refuse("not_refundable", f"Order {order['id']} is {order['status']}.")
    _check_amount(order["captured_minor"] - order["refunded_minor"], order["currency"], change)
    books.give_back(order, change.amount_minor)
    books.change("orders", order["id"], status=_status_after(order, change.amount_minor))
    return Done("order", order["id"], change.amount_minor, change.currency)


def _payment(books: Books, change: Refund, payment_id: str | None) -> Done:
    payment = books.own("payments", payment_id or "", change.customer_id, change.expected_version)
    _check_refundable(payment)
    _check_amount(payment["amount_minor"] - payment["refunded_minor"], payment["currency"], change)
    _give_back_payment(books, payment, change)
    return Done("payment", payment["id"], change.amount_minor, change.currency)


def refund_duplicate(books: Books, change: RefundDuplicateCharge) -> Done:
    """Gives back the whole of a payment that repeats an untouched earlier one of the last three days."""
    version = None if change.order_id else change.expected_version
    if change.order_id:
        books.own("orders", change.order_id, change.customer_id, change.expected_version)
    payment = books.own("payments", change.payment_id, change.customer_id, version)
    if payment["order_id"] != change.order_id:
        refuse("not_as_shown", f"Payment {payment['id']} is for order {payment['order_id']}, not {change.order_id}.")
    _check_refundable(payment)
    if (change.amount_minor, change.currency) != (payment["amount_minor"], payment["currency"]):
        refuse("wrong_amount", f"A duplicate charge is given back whole: {payment['amount_minor']} (minor units).")
    at = datetime.fromisoformat(payment["captured_at"])
    window = {"since": stamp(at - TWIN_WINDOW), "until": payment["captured_at"], "tenant": books.tenant}
    if payment["refunded_minor"] or not books.db.execute(EARLIER_TWIN, {**dict(payment), **window}).fetchone():
        refuse("not_duplicate", f"Payment {payment['id']} repeats no earlier charge.")
    _give_back_payment(books, payment, change)
    if change.order_id:
        return Done("order", change.order_id, change.amount_minor, change.currency)
    return Done("payment", payment["id"], change.amount_minor, change.currency)


def store_credit(books: Books, change: StoreCredit) -> Done:
    """Puts an amount to the customer's credit."""
    customer = books.customer(change.customer_id, change.expected_version)
    if change.reason not in CREDIT_REASONS:
        refuse("unknown_reason", f"Credit is given for one of {', '.join(CREDIT_REASONS)}.")
    if change.currency != customer["currency"]:
        refuse("wrong_currency", f"This customer's credit is in {customer['currency']}, not in {change.currency}.")
    credit_minor = customer["store_credit_minor"] + change.amount_minor
    books.change("customers", customer["id"], store_credit_minor=credit_minor)
    return Done("account", customer["id"], change.amount_minor, change.currency)


def _give_back_payment(books: Books, payment: sqlite3.Row, change: Refund | RefundDuplicateCharge) -> None:
    """Books it on the payment, and on its order where it has one."""
    if payment["order_id"]:
        order = books.own("orders", payment["order_id"], payment["customer_id"])
        _check_amount(order["captured_minor"] - order["refunded_minor"], order["currency"], change)
        books.book_on_order(order, change.amount_minor)
        books.change("orders", order["id"], status=_status_after(order, change.amount_minor))
    books.book_on_payment(payment, change.amount_minor)


def _status_after(order: sqlite3.Row, amount_minor: int) -> str:
    left_minor = order["captured_minor"] - order["refunded_minor"] - amount_minor
    return str(order["status"]) if left_minor else "refunded"


def _check_refundable(payment: sqlite3.Row) -> None:
    if payment["status"] not in REFUNDABLE_PAYMENTS:
        refuse("not_refundable", f"Payment {payment['id']} is {payment['status']}.")


def _check_amount(left_minor: int, currency: str, change: Refund | RefundDuplicateCharge) -> None:
    if change.currency != currency:
        refuse("wrong_currency", f"This was paid in {currency}, not in {change.currency}.")
    if change.amount_minor > left_minor:
        refuse("exceeds_captured", f"At most {left_minor} (minor units of {currency}) can still be refunded.")
