"""The shop's rules about orders: ending one, sending it elsewhere, taking back or exchanging what is in it.

Each is a change within the caller's transaction: it returns what it did, or raises a Refusal and has changed nothing.
"""

from __future__ import annotations

import json
import sqlite3

from demo.shop.books import GIFT_CARD, Books, Done, refuse
from demo.shop.changes import CancelOrder, ChangeDeliveryAddress, ExchangeItems, ReturnItems
from demo.shop.pieces import pieces, price_minor, request, variants_for

#: what an order is called before it leaves, in this world and in others
OPEN = ("processing", "placed", "paid", "pending")
CANCEL_REASONS = ("no_longer_needed", "ordered_by_mistake")


def cancel_order(books: Books, change: CancelOrder) -> Done:
    """Ends an order that has not left, and gives back what is left of it."""
    order = books.own("orders", change.order_id, change.customer_id, change.expected_version)
    check_open(order)
    if change.reason not in CANCEL_REASONS:
        refuse("unknown_reason", f"An order is cancelled for one of {', '.join(CANCEL_REASONS)}.")
    left_minor = left(order)
    _check_amount(order, change.amount_minor or 0, left_minor, change.currency)
    books.give_back(order, left_minor)
    books.change("orders", order["id"], status="cancelled", requested=request(order, reason=change.reason))
    return Done("order", order["id"], left_minor, order["currency"])


def change_address(books: Books, change: ChangeDeliveryAddress) -> Done:
    """Sends an order that has not left to another verified address of the customer's book."""
    order = books.own("orders", change.order_id, change.customer_id, change.expected_version)
    check_open(order)
    book = json.loads(books.customer(change.customer_id)["addresses"])
    address = next((known for known in book if known["id"] == change.address_id), None)
    if address is None:
        refuse("unknown_address", f"This customer's book has no address {change.address_id}.")
    if not address["verified"]:
        refuse("not_verified", f"Address {change.address_id} has not been verified.")
    if address["lines"] != change.address:
        refuse("not_as_shown", f"Address {change.address_id} has other lines now.")
    if order["address_id"] == address["id"]:
        refuse("unchanged", f"Order {order['id']} goes to {address['id']} already.")
    books.change("orders", order["id"], address_id=address["id"])
    return Done("order", order["id"], 0, order["currency"])


def return_items(books: Books, change: ReturnItems) -> Done:
    """Takes pieces of a delivered order back, and gives back their price to what paid, or to a gift card."""
    order = _delivered(books, change)
    parts = pieces(order, change.item_ids)
    if not all(part["returnable"] for part in parts):
        refuse("not_returnable", "Something among these is not taken back.")
    target = change.payment_method_id
    known = books.method(change.customer_id, target) if target and target != order["payment_method_id"] else None
    if known and known["type"] != GIFT_CARD:
        refuse("not_original", "A return is paid back the way it was paid, or to a gift card.")
    _check_amount(order, change.amount_minor, min(price_minor(parts), left(order)), change.currency)
    asked = request(order, return_items=change.item_ids, payment_method_id=target or order["payment_method_id"])
    books.give_back(order, change.amount_minor, target)
    books.change("orders", order["id"], status="return_requested", requested=asked)
    return Done("order", order["id"], change.amount_minor, change.currency)


def exchange_items(books: Books, change: ExchangeItems) -> Done:
    """Exchanges pieces of a delivered order for other variants, and settles the difference."""
    order = _delivered(books, change)
    parts = pieces(order, change.item_ids)
    if not all(part["returnable"] for part in parts):
        refuse("not_returnable", "Something among these is not taken back.")
    new = variants_for(books, parts, change.new_item_ids)
    if any(part["item_id"] == variant["item_id"] for part, variant in zip(parts, new, strict=True)):
        refuse("unchanged", "Something among these would be exchanged for itself.")
    difference_minor = price_minor(new) - price_minor(parts)
    if (change.difference_minor, change.difference_currency) != (difference_minor, order["currency"]):
        refuse("wrong_amount", f"The difference is {difference_minor} (minor units of {order['currency']}).")
    method = books.method_that_covers(change.customer_id, change.payment_method_id, difference_minor)
    settle(books, order, difference_minor, method["id"])
    ids = {"exchange_items": change.item_ids, "new_items": change.new_item_ids, "payment_method_id": method["id"]}
    books.change("orders", order["id"], status="exchange_requested", requested=request(order, **ids))
    return Done("order", order["id"], abs(difference_minor), order["currency"])


def settle(books: Books, order: sqlite3.Row, difference_minor: int, method: str) -> None:
    """Takes a difference from a way to pay, or gives it back to it where it is below zero. Raises Refusal."""
    if difference_minor > 0:
        books.charge(order, difference_minor, method)
    elif difference_minor < 0:
        if -difference_minor > left(order):
            refuse("exceeds_captured", f"Only {left(order)} (minor units) of this order can still be given back.")
        books.give_back(order, -difference_minor, method)


def left(order: sqlite3.Row) -> int:
    """What of an order has not been given back, in minor units."""
    return int(order["captured_minor"] - order["refunded_minor"])


def check_open(order: sqlite3.Row) -> None:
    """Raises Refusal where the order has left, or has ended."""
    if order["status"] not in OPEN:
        refuse("wrong_status", f"Order {order['id']} is {order['status']}; it would have to be {' or '.join(OPEN)}.")


def _delivered(books: Books, change: ReturnItems | ExchangeItems) -> sqlite3.Row:
    order = books.own("orders", change.order_id, change.customer_id, change.expected_version)
    if order["status"] != "delivered":
        refuse("wrong_status", f"Order {order['id']} is {order['status']}; it would have to be delivered.")
    return order


def _check_amount(order: sqlite3.Row, amount_minor: int, right_minor: int, currency: str | None) -> None:
    if amount_minor and currency != order["currency"]:
        refuse("wrong_currency", f"This was paid in {order['currency']}, not in {currency}.")
    if amount_minor != right_minor:
        refuse("wrong_amount", f"What is given back is {right_minor} (minor units of {order['currency']}).")
