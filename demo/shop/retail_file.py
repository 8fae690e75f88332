"""A retail world, as its file has it, turned into a world of this shop: one marketplace with everything in it.

Decimal dollars become integer cents. Nothing in the file has a time, so it gets one, before the moment of loading.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from demo.shop.pieces import merged
from demo.shop.retail_shapes import (
    RetailItem,
    RetailMethod,
    RetailOrder,
    RetailProduct,
    RetailUser,
    RetailWorld,
)
from demo.shop.retail_words import DEFAULT, DELIVERED, lines_of, with_address
from demo.shop.shapes import (
    Address,
    Customer,
    Item,
    Order,
    Payment,
    PaymentMethod,
    Product,
    Profile,
    Requested,
    Shipment,
    Tenant,
    TrackingEvent,
    Variant,
    World,
)

CURRENCY = "USD"
PLACED, LEFT, ARRIVED = timedelta(days=9), timedelta(days=7), timedelta(days=5)  # before the world is loaded
METHODS: dict[str, Literal["card", "gift_card", "paypal"]] = {
    "credit_card": "card",
    "gift_card": "gift_card",
    "paypal": "paypal",
}


def as_world(retail: RetailWorld, tenant_id: str, now: datetime) -> World:
    """One marketplace with everything in it, as of `now`. Raises ValueError where an order is nobody's."""
    people = {user.user_id: _customer(user) for user in retail.users.values()}
    for order in retail.orders.values():
        owner = people.get(order.user_id)
        if owner is None:
            raise ValueError(f"at orders.{order.order_id}.user_id: there is no user {order.user_id}")
        _add_order(owner, order, now)
    tenant = Tenant(id=tenant_id, kind="marketplace", name="Retail", currency=CURRENCY)
    tenant.products = [_product(product) for product in retail.products.values()]
    tenant.customers = list(people.values())
    return World(tenants=[tenant])


def minor(amount: Decimal) -> int:
    """Cents."""
    return int(amount * 100)


def _product(product: RetailProduct) -> Product:
    variants = [
        Variant(
            item_id=v.item_id,
            product_id=product.product_id,
            title=_title(product.name, v.options),
            price_minor=minor(v.price),
            available=v.available,
        )
        for v in product.variants.values()
    ]
    return Product(id=product.product_id, title=product.name, variants=variants)


def _title(name: str, options: dict[str, str]) -> str:
    return ", ".join([name, *(f"{option}: {value}" for option, value in options.items())])[:500]


def _customer(user: RetailUser) -> Customer:
    home = Address(id="adr_default", label=DEFAULT, lines=lines_of(user.address.model_dump()))
    return Customer(
        id=user.user_id,
        name=f"{user.name.first_name} {user.name.last_name}",
        email=user.email,
        profile=Profile(currency=CURRENCY),
        addresses=[home],
        payment_methods=[_method(method) for method in user.payment_methods.values()],
    )


def _method(method: RetailMethod) -> PaymentMethod:
    balance_minor = minor(method.balance or Decimal(0)) if method.source == "gift_card" else None
    label = f"{method.brand} ending in {method.last_four}" if method.last_four else method.source.replace("_", " ")
    made = {"id": method.id, "type": METHODS[method.source], "label": label, "currency": CURRENCY}
    return PaymentMethod.model_validate({**made, "balance_minor": balance_minor})


def _add_order(owner: Customer, order: RetailOrder, now: datetime) -> None:
    book, address_id = with_address([a.model_dump() for a in owner.addresses], order.address.model_dump())
    owner.addresses = [Address.model_validate({**known, "verified": True}) for known in book]
    payments = _payments(order, now - PLACED)
    asked = {"exchange_items": order.exchange_items or [], "new_items": order.exchange_new_items or []}
    made = Order(
        id=order.order_id,
        status=order.status,
        currency=CURRENCY,
        captured_minor=sum(payment.amount_minor for payment in payments),
        refunded_minor=sum(payment.refunded_minor for payment in payments),
        items=[Item.model_validate(line) for line in merged([_item(item) for item in order.items])],
        placed_at=now - PLACED,
        delivered_at=now - ARRIVED if order.status == DELIVERED else None,
        shipment=_shipment(order, now),
        address_id=address_id,
        payment_method_id=payments[0].payment_method_id if payments else None,
        requested=Requested(reason=order.cancel_reason, return_items=order.return_items or [], **asked),
    )
    owner.orders.append(made)
    owner.payments.extend(payments)


def _item(item: RetailItem) -> dict[str, Any]:
    title, price_minor = _title(item.name, item.options), minor(item.price)
    ids = {"sku": item.item_id, "item_id": item.item_id, "product_id": item.product_id}
    return {**ids, "title": title, "quantity": 1, "price_minor": price_minor}


def _payments(order: RetailOrder, at: datetime) -> list[Payment]:
    """A payment for each that was taken; what was given back is booked on those, oldest first."""
    taken = [t for t in order.payment_history if t.transaction_type == "payment"]
    back_minor = sum(minor(t.amount) for t in order.payment_history if t.transaction_type == "refund")
    made = []
    for nth, paid in enumerate(taken, start=1):
        amount_minor = minor(paid.amount)
        part_minor = min(amount_minor, back_minor)
        back_minor -= part_minor
        status = "captured" if not part_minor else "refunded" if part_minor == amount_minor else "partially_refunded"
        made.append(
            Payment(
                id=f"pay_{order.order_id.lstrip('#')}_{nth}",
                order_id=order.order_id,
                amount_minor=amount_minor,
                refunded_minor=part_minor,
                currency=CURRENCY,
                status=status,
                captured_at=at + timedelta(seconds=nth),
                payment_method_id=paid.payment_method_id,
            )
        )
    return made


def _shipment(order: RetailOrder, now: datetime) -> Shipment | None:
    if not order.fulfillments:
        return None
    events = [TrackingEvent(status="in_transit", at=now - LEFT)]
    if order.status != "processed":
        events.append(TrackingEvent(status="delivered", at=now - ARRIVED))
    code = order.fulfillments[0].tracking_id[0]
    return Shipment(tracking_code=code, status=events[-1].status, events=events, observed_at=now)
