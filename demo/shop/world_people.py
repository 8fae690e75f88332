"""Gives the people of a demo world what is theirs beside what they bought: addresses, ways to pay, a record, variants.

Pure given its own source of choices, so that orders, payments and their ids stay what they are for a seed.
"""

from __future__ import annotations

import string
from datetime import datetime, timedelta

from demo.shop.shapes import (
    Address,
    Customer,
    Order,
    PaymentMethod,
    Plan,
    Product,
    Profile,
    Shipment,
    Subscription,
    Tenant,
    Variant,
)
from demo.shop.world_orders import Mint
from demo.shop.world_words import (
    CARD_BRANDS,
    COLOURS,
    FORMS,
    LIST_PRICES,
    NOT_RETURNABLE,
    PLANS,
    STREETS,
    TOWNS,
)

CURRENCIES = ("EUR", "USD")
#: a gift card that covers hardly anything, and one that covers most
GIFT_CARD_LOW_MINOR, GIFT_CARD_MINOR = 300, 40_000
#: a carrier that was asked this long after the last scan of a parcel that has stopped moving
LAST_ASKED = timedelta(hours=6)


def furnish(mint: Mint, market: Tenant, saas: Tenant) -> None:
    """Completes both tenants in place."""
    market.products = [_product(mint, sku, title, *prices) for goods, *prices in LIST_PRICES for sku, title in goods]
    market.plans = _plans((("Acme Plus", 499), ("Acme Plus Family", 899)))
    saas.plans = _plans(PLANS)
    for tenant in (market, saas):
        for i, customer in enumerate(tenant.customers):
            _furnish_customer(mint, i, customer, tenant)


def _product(mint: Mint, sku: str, title: str, low: int, high: int) -> Product:
    price_minor = mint.rng.randint(low, high) * 100 - 10
    made = Product(id=f"P-{sku}", title=title)
    for nth, form in enumerate(FORMS.get(sku, COLOURS)):
        gone = nth == 2 and mint.rng.random() < 0.5
        step = price_minor * nth // 10
        item_id = f"{sku}-{nth + 1}"
        made.variants.append(
            Variant(
                item_id=item_id,
                product_id=made.id,
                title=f"{title}, {form}",
                price_minor=price_minor + step,
                available=not gone,
            )
        )
    return made


def _plans(offered: tuple[tuple[str, int], ...]) -> list[Plan]:
    return [Plan(name=name, price_minor=price, currency=c) for c in CURRENCIES for name, price in offered]


def _furnish_customer(mint: Mint, i: int, customer: Customer, tenant: Tenant) -> None:
    holdings: list[Order | Subscription] = [*customer.orders, *customer.subscriptions]
    currency = holdings[0].currency or tenant.currency
    customer.profile = Profile(
        access="locked" if i % 10 in (4, 7) else "ok",
        email_verified=i % 10 != 7,
        store_credit_minor=1_500 if i % 8 == 2 else 0,
        currency=currency,
    )
    customer.payment_methods = _methods(mint, i, currency)
    customer.addresses = _addresses(mint, i, currency) if tenant.kind == "marketplace" else []
    paying = [m for m in customer.payment_methods if m.balance_minor != GIFT_CARD_LOW_MINOR]
    for subscription in customer.subscriptions:
        subscription.payment_method_id = paying[0].id
    for order in customer.orders:
        order.address_id = customer.addresses[0].id
        order.payment_method_id = mint.rng.choice(paying).id
        _furnish_order(mint, order)
    used = {part.id: part.payment_method_id for part in holdings}
    for payment in customer.payments:
        payment.payment_method_id = used.get(payment.order_id or payment.subscription_id or "")


def _methods(mint: Mint, i: int, currency: str) -> list[PaymentMethod]:
    """A card for everyone, a second way to pay for half, and a gift card for a third, every second of them low."""
    ending = "".join(mint.rng.choices(string.digits, k=4))
    made = [_method(mint, "card", f"{mint.rng.choice(CARD_BRANDS)} ending in {ending}", currency)]
    if i % 2 == 0:
        made.append(_method(mint, "paypal", "PayPal", currency))
    if i % 3 == 0:
        made.append(_method(mint, "gift_card", "Gift card", currency))
        made[-1].balance_minor = GIFT_CARD_LOW_MINOR if i % 2 else GIFT_CARD_MINOR
    return made


def _method(mint: Mint, kind: str, label: str, currency: str) -> PaymentMethod:
    ident = mint.id("pm_", string.ascii_letters + string.digits, 10)
    return PaymentMethod.model_validate({"id": ident, "type": kind, "label": label, "currency": currency})


def _addresses(mint: Mint, i: int, currency: str) -> list[Address]:
    """Home for everyone, an office for every third, and for every fifth a place that nobody has verified yet."""
    made = [_address(mint, "home", currency)]
    if i % 3 == 1:
        made.append(_address(mint, "office", currency))
    if i % 5 == 4:
        made.append(_address(mint, "new", currency))
        made[-1].verified = False
    return made


def _address(mint: Mint, label: str, currency: str) -> Address:
    street = f"{mint.rng.randint(1, 140)} {mint.rng.choice(STREETS)}"
    ident = mint.id("adr_", string.ascii_letters + string.digits, 10)
    return Address(id=ident, label=label, lines=[street, mint.rng.choice(TOWNS[currency])])


def _furnish_order(mint: Mint, order: Order) -> None:
    for item in order.items:
        item.product_id = f"P-{item.sku}"
        item.item_id = f"{item.sku}-{mint.rng.randint(1, 2)}"
        item.returnable = item.sku not in NOT_RETURNABLE
    if order.shipment:
        order.shipment.observed_at = _asked_at(mint, order.shipment)


def _asked_at(mint: Mint, shipment: Shipment) -> datetime:
    """When the carrier was last asked: minutes ago for a parcel under way, long ago for one that stopped moving."""
    last = shipment.events[-1].at
    moving = shipment.status != "delivered" and mint.now - last < timedelta(days=4)
    return mint.ago(0.05, 0.6) if moving else min(last + LAST_ASKED, mint.now)
