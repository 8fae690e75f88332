"""The demo world: a marketplace and a SaaS product with their customers, the same for the same seed and time.

Dates are relative to `now`, so that a fresh world looks alive; nothing is read or written here.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from datetime import datetime

from demo.shop.shapes import Customer, Tenant, World
from demo.shop.world_orders import Band, Fate, Mint, make_order
from demo.shop.world_people import furnish
from demo.shop.world_subscriptions import make_subscription
from demo.shop.world_words import MARKET_PEOPLE, PLANS, SAAS_PEOPLE

SEED = 20482
#: from this customer on, the marketplace sells in dollars (euro before), and the SaaS product in euro (dollars before)
MARKET_USD_FROM, SAAS_EUR_FROM = 24, 12
#: customers who were charged twice: one for an order, two for a subscription's latest month
CHARGED_TWICE_FOR_ORDER, CHARGED_TWICE_FOR_PLAN = (5,), (2, 9)


def make_world(now: datetime, seed: int = SEED) -> World:
    """A complete world of two tenants as it stands at `now` (aware, UTC)."""
    mint = Mint(random.Random(seed), now)  # noqa: S311 - a demo world is meant to be predictable
    market = [_shopper(mint, i, *person) for i, person in enumerate(MARKET_PEOPLE)]
    saas = [_subscriber(mint, i, *person) for i, person in enumerate(SAAS_PEOPLE)]
    acme = Tenant(id="acme-market", kind="marketplace", name="Acme Market", currency="EUR", customers=market)
    nimbus = Tenant(id="nimbus-saas", kind="saas", name="Nimbus", currency="USD", customers=saas)
    more = Mint(random.Random(f"{seed} and more"), now)  # noqa: S311 - its own choices: those above stay as they were
    furnish(more, acme, nimbus)
    return World(tenants=[acme, nimbus])


def _customer(mint: Mint, name: str, handle: str, domain: str) -> Customer:
    return Customer(id=mint.id("cust-", string.hexdigits[:16], 6), name=name, email=f"{handle}@{domain}")


def _shopper(mint: Mint, i: int, name: str, handle: str) -> Customer:
    customer = _customer(mint, name, handle, "example.com")
    currency = "EUR" if i < MARKET_USD_FROM else "USD"
    for band, fate in _orders_of(i):
        order, payments = make_order(mint, band, fate, currency)
        customer.orders.append(order)
        customer.payments.extend(payments)
    if i % 6 == 1:
        member, payments = make_subscription(mint, "Acme Plus", 499, currency)
        customer.subscriptions.append(member)
        customer.payments.extend(payments)
    return customer


def _orders_of(i: int) -> Iterator[tuple[Band, Fate]]:
    """What the i-th shopper has bought: two or three small things still refundable, something under way, and more."""
    yield "small", "delivered"
    yield "small", "stale" if i % 3 == 0 else "shipped"
    yield "small", "delivered"
    yield "double" if i in CHARGED_TWICE_FOR_ORDER else "mid", "delivered_long_ago" if i % 4 == 3 else "delivered"
    odd: tuple[Fate, ...] = ("processing", "cancelled", "partly", "refunded")
    yield "mid" if i % 2 else "small", odd[i % 4]
    if i % 3 == 1:
        yield "small", "delivered"
    if i % 5 == 2:
        yield "mid", "stale" if i % 2 else "shipped"
    if i % 7 == 3:
        yield "large", "delivered"


def _subscriber(mint: Mint, i: int, name: str, handle: str) -> Customer:
    customer = _customer(mint, name, handle, "example.org")
    currency = "USD" if i < SAAS_EUR_FROM else "EUR"
    for nth in range(2 if i % 6 else 3):
        plan, price_minor = PLANS[(i + nth) % len(PLANS)]
        status = {(1, 4): "cancelled", (1, 2): "past_due"}.get((nth, i % 5), "active")
        twice = nth == 0 and i in CHARGED_TWICE_FOR_PLAN
        subscription, payments = make_subscription(mint, plan, price_minor, currency, status, twice)
        customer.subscriptions.append(subscription)
        customer.payments.extend(payments)
    return customer
