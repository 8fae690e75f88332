"""Makes the orders of a demo world, each with its goods, its shipment and its payments.

Pure given a `Mint`: the same seed and the same `now` give the same orders.
"""

from __future__ import annotations

import random
import string
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from demo.shop.shapes import Item, Order, Payment, Shipment, TrackingEvent
from demo.shop.world_words import CARRIERS, LARGE_GOODS, MID_GOODS, ROUTES, SMALL_GOODS

Band = Literal["small", "mid", "double", "large"]
Fate = Literal["delivered", "delivered_long_ago", "shipped", "stale", "processing", "cancelled", "partly", "refunded"]

#: whole units of money that an order of this band costs, from and to
PRICES: dict[Band, tuple[int, int]] = {"small": (2, 50), "mid": (51, 480), "double": (60, 190), "large": (520, 2400)}
GOODS = {"small": SMALL_GOODS, "mid": MID_GOODS, "double": MID_GOODS, "large": LARGE_GOODS}


@dataclass
class Mint:
    """A seeded source of choices and of ids that never repeat within one world."""

    rng: random.Random
    now: datetime
    used: set[str] = field(default_factory=set)

    def id(self, prefix: str, alphabet: str, length: int) -> str:
        """A new id such as `A-10482` or `pay_7Kd0x…`."""
        while True:
            made = prefix + "".join(self.rng.choices(alphabet, k=length))
            if made not in self.used and made[len(prefix)] != "0":
                self.used.add(made)
                return made

    def ago(self, least_h: float, most_h: float) -> datetime:
        """A time between `most_h` and `least_h` hours before now, to the second."""
        return (self.now - timedelta(hours=self.rng.uniform(least_h, most_h))).replace(microsecond=0)

    def payment_id(self) -> str:
        """A new id of a payment."""
        return self.id("pay_", string.ascii_letters + string.digits, 14)


def make_order(mint: Mint, band: Band, fate: Fate, currency: str) -> tuple[Order, list[Payment]]:
    """One order and what was paid for it; a `double` one was charged twice, minutes apart."""
    items = _items(mint, band)
    total = sum(item.price_minor * item.quantity for item in items)
    placed_at, delivered_at = _dates(mint, fate)
    charges = 2 if band == "double" else 1
    refunded = {"cancelled": total, "refunded": total, "partly": total // 3}.get(fate, 0)
    statuses = {"delivered_long_ago": "delivered", "stale": "shipped", "partly": "delivered"}
    order = Order(
        id=mint.id("A-", string.digits, 5),
        status=statuses.get(fate, fate),
        currency=currency,
        captured_minor=total * charges,
        refunded_minor=refunded,
        items=items,
        placed_at=placed_at,
        delivered_at=delivered_at,
        version=2 if refunded else 1,
        shipment=_shipment(mint, fate, placed_at, delivered_at, currency),
    )
    return order, [_payment(mint, order, total, refunded, placed_at, nth) for nth in range(charges)]


def _items(mint: Mint, band: Band) -> list[Item]:
    low, high = PRICES[band]
    total = mint.rng.randint(low, high) * 100 - mint.rng.choice((1, 5, 10, 50))
    goods = mint.rng.sample(GOODS[band], 2)
    if band == "small" and total > 1500 and mint.rng.random() < 0.5:
        first = total // 3
        parts = [(goods[0], 1, first), (goods[1], 1, total - first)]
    elif band == "small" and total % 2 == 0 and mint.rng.random() < 0.5:
        parts = [(goods[0], 2, total // 2)]
    else:
        parts = [(goods[0], 1, total)]
    return [Item(sku=sku, title=title, quantity=n, price_minor=price) for (sku, title), n, price in parts]


def _dates(mint: Mint, fate: Fate) -> tuple[datetime, datetime | None]:
    """When it was placed, and delivered. Fresh deliveries lie inside the usual thirty days of a refund policy."""
    match fate:
        case "shipped":
            return mint.ago(60, 90), None
        case "stale":
            return mint.ago(24 * 12, 24 * 20), None
        case "processing":
            return mint.ago(2, 40), None
        case "cancelled":
            return mint.ago(24 * 5, 24 * 40), None
        case "delivered_long_ago":
            delivered_at = mint.ago(24 * 70, 24 * 300)
        case _:
            delivered_at = mint.ago(24, 24 * 14)
    return delivered_at - timedelta(hours=mint.rng.randint(50, 120)), delivered_at


def _shipment(
    mint: Mint, fate: Fate, placed_at: datetime, delivered_at: datetime | None, currency: str
) -> Shipment | None:
    if fate in ("processing", "cancelled"):
        return None
    carrier, prefix = mint.rng.choice(CARRIERS)
    steps = [("label_created", 3), ("picked_up", 20), ("in_transit", 44)]
    places = mint.rng.choice(ROUTES[currency])
    events = [
        TrackingEvent(status=status, at=placed_at + timedelta(hours=hours), place=place)
        for (status, hours), place in zip(steps, places, strict=True)
    ]
    if delivered_at:
        events.append(TrackingEvent(status="delivered", at=delivered_at, place=places[-1]))
    elif fate == "shipped" and mint.rng.random() < 0.3:
        events.append(TrackingEvent(status="out_for_delivery", at=mint.ago(0.5, 5), place=places[-1]))
    code = mint.id(prefix, string.digits, 12)
    return Shipment(carrier=carrier, tracking_code=code, status=events[-1].status, events=events)


def _payment(mint: Mint, order: Order, total: int, refunded: int, placed_at: datetime, nth: int) -> Payment:
    part = "partially_refunded" if refunded < total else "refunded"
    return Payment(
        id=mint.payment_id(),
        order_id=order.id,
        amount_minor=total,
        refunded_minor=refunded,
        currency=order.currency,
        status=part if refunded else "captured",
        captured_at=placed_at + timedelta(seconds=4 + nth * mint.rng.randint(120, 400)),
        version=2 if refunded else 1,
    )
