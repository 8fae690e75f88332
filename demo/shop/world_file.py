"""Reads another world from a file: in the shape of `GET /_world`, with what it lacks filled in, or a retail world.

Whatever is wrong with the file comes back as one line that names the place.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from demo.shop.retail_file import as_world
from demo.shop.retail_shapes import RetailWorld
from demo.shop.shapes import Customer, Order, Payment, Tenant, World

RETAIL_PARTS = {"products", "users", "orders"}


class WorldFileError(Exception):
    """The file cannot be read as a world; the message is one line for a person."""


def read_world(path: Path, now: datetime, retail_tenant: str = "retail") -> World:
    """The world in the file, complete; one of the shape {products, users, orders} is one tenant's.

    Raises WorldFileError.
    """
    try:
        world = _read(path.read_bytes(), now, retail_tenant)
    except OSError as error:
        raise WorldFileError(f"world file {path}: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise WorldFileError(f"world file {path}: at {place}: {first['msg']}") from error
    except ValueError as error:
        raise WorldFileError(f"world file {path}: {error}") from error
    for tenant in world.tenants:
        tenant.name = tenant.name or tenant.id
        for plan in tenant.plans:
            plan.currency = plan.currency or tenant.currency
        for customer in tenant.customers:
            _fill_customer(customer, tenant, now)
    return world


def _read(raw: bytes, now: datetime, retail_tenant: str) -> World:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None  # what is wrong with it is said below
    if isinstance(found, dict) and found.keys() & RETAIL_PARTS and "tenants" not in found:
        return as_world(RetailWorld.model_validate_json(raw), retail_tenant, now)
    return World.model_validate_json(raw)


def _fill_customer(customer: Customer, tenant: Tenant, now: datetime) -> None:
    customer.name = customer.name or customer.id
    customer.email = customer.email or f"{customer.id.lower()}@example.com"
    customer.profile.currency = customer.profile.currency or tenant.currency
    for method in customer.payment_methods:
        method.currency = method.currency or tenant.currency
    currencies: dict[str | None, str] = {}
    for order in customer.orders:
        currencies[order.id] = order.currency = order.currency or tenant.currency
        for item in order.items:
            item.item_id, item.product_id = item.item_id or item.sku, item.product_id or item.sku
        _date_order(order, now)
    for subscription in customer.subscriptions:
        currencies[subscription.id] = subscription.currency = subscription.currency or tenant.currency
        if subscription.status != "cancelled":
            subscription.renews_at = subscription.renews_at or now + timedelta(days=14)
    for payment in customer.payments:
        owner = payment.order_id or payment.subscription_id
        payment.currency = payment.currency or currencies.get(owner, tenant.currency)
        payment.captured_at = payment.captured_at or now - timedelta(days=7)
    paid = {payment.order_id for payment in customer.payments}
    customer.payments += [_payment_for(o) for o in customer.orders if o.captured_minor and o.id not in paid]


def _date_order(order: Order, now: datetime) -> None:
    """Dates that fit what is known: the shipment's events first, else a week ago."""
    events = order.shipment.events if order.shipment else []
    first = min((event.at for event in events), default=order.delivered_at or now - timedelta(days=5))
    order.placed_at = order.placed_at or first - timedelta(days=2)
    if order.status == "delivered":
        last = max((event.at for event in events), default=first)
        order.delivered_at = order.delivered_at or last


def _payment_for(order: Order) -> Payment:
    part = "refunded" if order.refunded_minor >= order.captured_minor else "partially_refunded"
    return Payment(
        id=f"pay_{order.id}",
        order_id=order.id,
        amount_minor=order.captured_minor,
        refunded_minor=order.refunded_minor,
        currency=order.currency,
        status=part if order.refunded_minor else "captured",
        captured_at=order.placed_at,
        payment_method_id=order.payment_method_id,
    )
