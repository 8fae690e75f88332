"""Makes the subscriptions of a demo world, each with the payments of its last periods.

Pure given a `Mint`, like the orders.
"""

from __future__ import annotations

import string
from datetime import datetime, timedelta

from demo.shop.shapes import Payment, Subscription
from demo.shop.world_orders import Mint

MONTH = timedelta(days=30)


def make_subscription(
    mint: Mint, plan: str, price_minor: int, currency: str, status: str = "active", charged_twice: bool = False
) -> tuple[Subscription, list[Payment]]:
    """A monthly subscription and three periods of payments; the latest failed when past due, doubled when so asked."""
    renews_at = mint.now.replace(microsecond=0) + timedelta(hours=mint.rng.randint(30, 600))
    subscription = Subscription(
        id=mint.id("sub_", string.ascii_letters + string.digits, 14),
        plan=plan,
        status=status,
        price_minor=price_minor,
        currency=currency,
        renews_at=None if status == "cancelled" else renews_at,
        version=2 if status == "cancelled" else 1,
    )
    latest = renews_at - MONTH
    payments = [_charge(mint, subscription, latest - MONTH * back) for back in (2, 1)]
    payments.append(_charge(mint, subscription, latest, "failed" if status == "past_due" else "captured"))
    if charged_twice:
        payments.append(_charge(mint, subscription, latest + timedelta(minutes=mint.rng.randint(2, 9))))
    return subscription, payments


def _charge(mint: Mint, subscription: Subscription, at: datetime, status: str = "captured") -> Payment:
    return Payment(
        id=mint.payment_id(),
        subscription_id=subscription.id,
        amount_minor=subscription.price_minor,
        currency=subscription.currency,
        status=status,
        captured_at=at,
    )
