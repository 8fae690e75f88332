"""The rules of a retail world: what its seven writes ask for, and what they do.

They are that world's own, kept where the shop's own catalogue is stricter or looser: its words for statuses, a return
or an exchange that is settled only when the parcel has arrived, no versions.
"""

from __future__ import annotations

import json
import sqlite3

from demo.shop.books import GIFT_CARD, Books, Done, refuse
from demo.shop.pieces import merged, one_by_one, pieces, price_minor, request, variants_for
from demo.shop.retail_changes import (
    CancelPending,
    ExchangeDelivered,
    ModifyPendingAddress,
    ModifyPendingItems,
    ModifyPendingPayment,
    ModifyUserAddress,
    ReturnDelivered,
    Swap,
)
from demo.shop.retail_words import DEFAULT, DELIVERED, EXCHANGED, MODIFIED, PENDING, RETURNED, with_address
from demo.shop.rules_orders import left, settle

REASONS = ("no longer needed", "ordered by mistake")


def cancel_pending(books: Books, change: CancelPending) -> Done:
    """Ends a pending order whose pieces have not been changed, and gives all of it back."""
    order = _order(books, change.order_id, change.customer_id, PENDING)
    if change.reason not in REASONS:
        refuse("unknown_reason", f"An order is cancelled for one of {', '.join(REASONS)}.")
    left_minor = left(order)
    books.give_back(order, left_minor)
    books.change("orders", order["id"], status="cancelled", requested=request(order, reason=change.reason))
    return Done("order", order["id"], left_minor, order["currency"])


def modify_items(books: Books, change: ModifyPendingItems) -> Done:
    """Other variants for pieces of a pending order, settled at once; it can be done once."""
    order = _order(books, change.order_id, change.customer_id, PENDING)
    if any(old == new for old, new in zip(change.item_ids, change.new_item_ids, strict=False)):
        refuse("unchanged", "Something among these would be changed for itself.")
    difference_minor = _difference(books, order, change)
    settle(books, order, difference_minor, change.payment_method_id)
    asked = request(order, new_items=change.new_item_ids, payment_method_id=change.payment_method_id)
    items = json.dumps(_with_new(books, order, change))
    books.change("orders", order["id"], status=MODIFIED, items=items, requested=asked)
    return Done("order", order["id"], abs(difference_minor), order["currency"])


def exchange_delivered(books: Books, change: ExchangeDelivered) -> Done:
    """Other variants for pieces of a delivered order; the difference is settled when they have arrived."""
    order = _order(books, change.order_id, change.customer_id, DELIVERED)
    difference_minor = _difference(books, order, change)
    pairs = {"exchange_items": change.item_ids, "new_items": change.new_item_ids}
    asked = request(order, **pairs, payment_method_id=change.payment_method_id)
    books.change("orders", order["id"], status=EXCHANGED, requested=asked)
    return Done("order", order["id"], abs(difference_minor), order["currency"])


def return_delivered(books: Books, change: ReturnDelivered) -> Done:
    """Pieces of a delivered order back, to the way it was paid first, or to a gift card, when they have arrived."""
    order = _order(books, change.order_id, change.customer_id, DELIVERED)
    method = books.method(change.customer_id, change.payment_method_id)
    if method["type"] != GIFT_CARD and method["id"] != _first_method(books, order):
        refuse("not_original", "A return is paid back the way it was paid, or to a gift card.")
    amount_minor = price_minor(pieces(order, change.item_ids))
    asked = request(order, return_items=change.item_ids, payment_method_id=method["id"])
    books.change("orders", order["id"], status=RETURNED, requested=asked)
    return Done("order", order["id"], amount_minor, order["currency"])


def modify_payment(books: Books, change: ModifyPendingPayment) -> Done:
    """Another way to pay for a pending order that was paid once; the first gets its money back."""
    order = _order(books, change.order_id, change.customer_id, PENDING, MODIFIED)
    paid = books.payments(order)
    if len(paid) != 1 or paid[0]["refunded_minor"] or "new_items" in json.loads(order["requested"]):
        refuse("wrong_status", f"Order {order['id']} would have to be paid once, and nothing changed about it.")
    amount_minor = paid[0]["amount_minor"]
    if paid[0]["payment_method_id"] == change.payment_method_id:
        refuse("unchanged", f"It is paid with {change.payment_method_id} already.")
    method = books.method_that_covers(change.customer_id, change.payment_method_id, amount_minor)
    books.charge(order, amount_minor, method["id"])
    books.book_on_order(order, amount_minor)
    books.book_on_payment(paid[0], amount_minor)
    books.change("orders", order["id"], payment_method_id=method["id"])
    return Done("order", order["id"], amount_minor, order["currency"])


def modify_order_address(books: Books, change: ModifyPendingAddress) -> Done:
    """Another address for a pending order, put into its owner's book."""
    order = _order(books, change.order_id, change.customer_id, PENDING, MODIFIED)
    book = json.loads(books.customer(change.customer_id)["addresses"])
    book, address_id = with_address(book, change.model_dump())
    books.set_addresses(change.customer_id, book)
    books.change("orders", order["id"], address_id=address_id)
    return Done("order", order["id"], 0, order["currency"])


def modify_user_address(books: Books, change: ModifyUserAddress) -> Done:
    """Another default address for the customer themselves."""
    if change.user_id != change.customer_id:
        refuse("unknown_resource", f"{change.user_id} is not this customer.")
    customer = books.customer(change.customer_id)
    book, address_id = with_address(json.loads(customer["addresses"]), change.model_dump())
    labelled = [{**known, "label": DEFAULT if known["id"] == address_id else ""} for known in book]
    books.set_addresses(change.customer_id, labelled)
    books.change("customers", customer["id"])
    return Done("account", customer["id"], 0, customer["currency"])


def _order(books: Books, ident: str, customer: str, *statuses: str) -> sqlite3.Row:
    order = books.own("orders", ident, customer)
    if order["status"] not in statuses:
        refuse("wrong_status", f"Order {ident} is {order['status']}; it would have to be {' or '.join(statuses)}.")
    return order


def _first_method(books: Books, order: sqlite3.Row) -> str | None:
    paid = books.payments(order)
    return str(paid[0]["payment_method_id"]) if paid else None


def _difference(books: Books, order: sqlite3.Row, change: Swap) -> int:
    """What the new pieces cost more, which a gift card has to cover. Raises Refusal where they do not fit."""
    parts = pieces(order, change.item_ids)
    difference_minor = price_minor(variants_for(books, parts, change.new_item_ids)) - price_minor(parts)
    books.method_that_covers(change.customer_id, change.payment_method_id, difference_minor)
    return difference_minor


def _with_new(books: Books, order: sqlite3.Row, change: Swap) -> list[dict[str, object]]:
    """The order's items, with each piece that was named replaced by its new variant."""
    kept = one_by_one(json.loads(order["items"]))
    parts = pieces(order, change.item_ids)
    new = []
    for part, variant in zip(parts, variants_for(books, parts, change.new_item_ids), strict=True):
        kept.remove(part)
        now = {name: variant[name] for name in ("item_id", "title", "price_minor")}
        new.append({**part, **now, "sku": variant["item_id"]})
    return merged([*kept, *new])
