"""What rules may look at of an order, a payment or a subscription, whatever is to be done with it.

Pure; what the account does not hold has neutral values.
"""

import math
from datetime import datetime
from typing import Any

from domain.account import Account, Item, Order, Payment, PaymentMethod, Profile, Shipment, Subscription
from domain.duplicates import charged_twice
from domain.freshness import DECIDE, max_age_s, tracking_age_s

NONE_KNOWN = -1
GIFT_CARD = "gift_card"


def money_facts(account: Account, resource: str, amount_minor: int | None, now: datetime) -> dict[str, Any]:
    """Return the money, the status and the parcel of an order or a payment."""
    found = account.resource(resource)
    order = found if isinstance(found, Order) else None
    if not isinstance(found, Order | Payment):
        amounts = dict.fromkeys(("captured_minor", "refunded_minor", "refundable_minor", "version"), 0)
        told: dict[str, Any] = {"status": "", "currency": "", **amounts}
    else:
        told = {
            "status": found.status,
            "currency": found.currency,
            "captured_minor": found.captured_minor if isinstance(found, Order) else found.amount_minor,
            "refunded_minor": found.refunded_minor,
            "refundable_minor": found.refundable_minor,
            "version": found.version,
        }
    twice = amount_minor is not None and charged_twice(account, resource, amount_minor)
    return {
        **told,
        "charged_twice": twice,
        "delivered_days_ago": _days_since(order.delivered_at if order else None, now),
        "tracking": tracking_facts(order.shipment if order else None, now),
    }


def tracking_facts(shipment: Shipment | None, now: datetime) -> dict[str, Any]:
    """Return what is known of a parcel, and how old that is (INVARIANT 9); no parcel has no age.

    What has no time that can be believed is older than anything may be.
    """
    if shipment is None:
        return {"known": False, "status": "", "age_s": 0, "max_age_s": 0}
    limit_s, age_s = max_age_s("tracking", DECIDE, shipment.status), tracking_age_s(shipment, now)
    whole_s = limit_s + 1 if age_s is None else math.ceil(age_s)
    return {"known": True, "status": shipment.status, "age_s": whole_s, "max_age_s": limit_s}


def subscription_facts(account: Account, resource: str) -> dict[str, Any]:
    """Return the price and the status of a subscription."""
    found = account.resource(resource)
    if not isinstance(found, Subscription):
        return {"status": "", "currency": "", "price_minor": 0, "version": 0}
    return {
        "status": found.status,
        "currency": found.currency,
        "price_minor": found.price_minor,
        "version": found.version,
    }


def profile_facts(account: Account, resource: str) -> dict[str, Any]:
    """Return the customer's own record."""
    found = account.resource(resource)
    if not isinstance(found, Profile):
        return {"access": "", "email_verified": False, "store_credit_minor": 0, "currency": "", "version": 0}
    return {
        "access": found.access,
        "email_verified": found.email_verified,
        "store_credit_minor": found.store_credit_minor,
        "currency": found.currency,
        "version": found.version,
    }


def method_facts(
    method: PaymentMethod | None, original: str | None, amount_minor: int, currency: str
) -> dict[str, Any]:
    """Return what is known of a way to pay, and whether it covers an amount (only a gift card may not).

    An amount of 0 or less is to be given back; a gift card can take that in its own currency alone, too.
    """
    if method is None:
        return {"known": False, "type": "", "original": False, "covers": False}
    covers = _covers(method, amount_minor, currency)
    return {"known": True, "type": method.type, "original": method.id == original, "covers": covers}


def _covers(method: PaymentMethod, amount_minor: int, currency: str) -> bool:
    """Whether it holds the amount; of a card whose balance or currency is not known, nobody can say so."""
    if method.type != GIFT_CARD and method.balance_minor is None:
        return True
    holds = amount_minor <= 0 or (method.balance_minor is not None and method.balance_minor >= amount_minor)
    return method.currency == currency and holds


def label_of(method: PaymentMethod | None) -> str:
    """Return how the customer knows a way to pay, empty where it is not on file."""
    return (method.label or method.type) if method else ""


def items_of(order: Order | None, item_ids: tuple[str, ...]) -> list[Item]:
    """Return the item of each id, one piece each, in order; what the order does not hold so often is left out."""
    left = {item.item_id: item.quantity for item in order.items} if order else {}
    by_id = {item.item_id: item for item in order.items} if order else {}
    found = []
    for item_id in item_ids:
        if left.get(item_id, 0) > 0:
            left[item_id] -= 1
            found.append(by_id[item_id])
    return found


def _days_since(at: datetime | None, now: datetime) -> int:
    """Whole days since then; of what lies ahead, none is known."""
    return max(NONE_KNOWN, (now - at).days) if at else NONE_KNOWN
