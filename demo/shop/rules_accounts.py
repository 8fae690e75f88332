"""The shop's rules about subscriptions, ways to pay and the way back into an account.

Each is a change within the caller's transaction: it returns what it did, or raises a Refusal and has changed nothing.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta

from demo.shop.books import Books, Done, refuse
from demo.shop.changes import CancelSubscription, ChangePaymentMethod, ChangePlan, RestoreAccountAccess, Versioned
from demo.shop.rules_orders import check_open, left
from demo.shop.shapes import stamp

#: how long a link that starts a reset can be used, and so how long no second one is sent
RESET_LINK = timedelta(hours=1)


def cancel_subscription(books: Books, change: CancelSubscription) -> Done:
    """Ends a subscription."""
    found = _running(books, change.subscription_id, change)
    books.change("subscriptions", found["id"], status="cancelled", renews_at=None)
    return Done("subscription", found["id"], 0, found["currency"])


def change_plan(books: Books, change: ChangePlan) -> Done:
    """Moves a subscription to another plan that is offered in its currency; the price holds from the next period on."""
    found = _running(books, change.subscription_id, change)
    row = books.db.execute("SELECT plans FROM tenants WHERE id = ?", (books.tenant,)).fetchone()
    offered = [(plan["name"], plan["price_minor"], plan["currency"]) for plan in json.loads(row["plans"])]
    if change.plan != found["plan"]:
        refuse("not_as_shown", f"Subscription {found['id']} is on the plan {found['plan']}.")
    if change.new_plan == found["plan"]:
        refuse("unchanged", f"Subscription {found['id']} is on this plan already.")
    if change.new_price_currency != found["currency"]:
        refuse("wrong_currency", f"This is paid in {found['currency']}, not in {change.new_price_currency}.")
    if not any((name, currency) == (change.new_plan, found["currency"]) for name, _, currency in offered):
        refuse("not_offered", "No plan of this name is offered.")
    if (change.new_plan, change.new_price_minor, change.new_price_currency) not in offered:
        refuse("not_as_shown", "This plan is offered at another price.")
    books.change("subscriptions", found["id"], plan=change.new_plan, price_minor=change.new_price_minor)
    return Done("subscription", found["id"], 0, found["currency"])


def change_payment_method(books: Books, change: ChangePaymentMethod) -> Done:
    """Lets an open order, or a running subscription, be paid another way that is on file."""
    if change.order_id:
        order = books.own("orders", change.order_id, change.customer_id, change.expected_version)
        check_open(order)
        return _pay_order_with(books, order, change)
    found = _running(books, change.subscription_id or "", change)
    _check_method(books, change, found["payment_method_id"], found["price_minor"])
    books.change("subscriptions", found["id"], payment_method_id=change.payment_method_id)
    return Done("subscription", found["id"], 0, found["currency"])


def restore_access(books: Books, change: RestoreAccountAccess) -> Done:
    """Sends the link that starts a reset; the account stays locked until its owner has finished it."""
    customer = books.customer(change.customer_id, change.expected_version)
    if customer["access"] != "locked":
        refuse("not_locked", "This account is not locked.")
    if not customer["email_verified"]:
        refuse("not_verified", "This customer has no verified address to send a link to.")
    sent_at = customer["reset_sent_at"]
    if sent_at and books.now - datetime.fromisoformat(sent_at) < RESET_LINK:
        refuse("reset_already_sent", "A link has been sent that can still be used.")
    books.change("customers", customer["id"], reset_sent_at=stamp(books.now))
    return Done("account", customer["id"], 0, customer["currency"])


def _pay_order_with(books: Books, order: sqlite3.Row, change: ChangePaymentMethod) -> Done:
    """Every payment of the order is taken over by the new way to pay, and goes back to the old one."""
    _check_method(books, change, order["payment_method_id"], left(order))
    for payment in books.payments(order):
        part = payment["amount_minor"] - payment["refunded_minor"]
        books.load(change.customer_id, payment["payment_method_id"], part)
        books.load(change.customer_id, change.payment_method_id, -part)
        books.change("payments", payment["id"], payment_method_id=change.payment_method_id)
    books.change("orders", order["id"], payment_method_id=change.payment_method_id)
    return Done("order", order["id"], 0, order["currency"])


def _check_method(books: Books, change: ChangePaymentMethod, now_id: str | None, due_minor: int) -> None:
    method = books.method_that_covers(change.customer_id, change.payment_method_id, due_minor)
    if method["id"] == now_id:
        refuse("unchanged", f"It is paid with {method['id']} already.")
    if change.label != (method["label"] or method["type"]):
        refuse("not_as_shown", f"{method['id']} has another label now.")


def _running(books: Books, ident: str, change: Versioned) -> sqlite3.Row:
    found = books.own("subscriptions", ident, change.customer_id, change.expected_version)
    if found["status"] == "cancelled":
        refuse("already_cancelled", f"Subscription {found['id']} is cancelled already.")
    return found
