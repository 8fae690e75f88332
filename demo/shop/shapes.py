"""The nouns of a shop world, as the generator makes them and as a world file names them.

Pure shapes with sensible defaults: what a world file leaves out is `None` here and filled in by `world_file.py`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

Minor = Annotated[int, Field(strict=True, ge=0, le=10**12)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^#?[A-Za-z0-9][A-Za-z0-9._:~-]*$")]
Text = Annotated[str, StringConstraints(max_length=500)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Version = Annotated[int, Field(strict=True, ge=1, le=2**53)]


class Shape(BaseModel):
    """A part of a world: unknown fields are left aside, so that a richer file still loads."""

    model_config = ConfigDict(extra="ignore")


class Item(Shape):
    """Goods in an order, with the price of one."""

    sku: Text = "SKU-0"
    item_id: Text = ""
    product_id: Text = ""
    title: Text = "Item"
    quantity: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1
    price_minor: Minor = 0
    returnable: bool = True


class Variant(Shape):
    """One form of a product, as it is sold today."""

    item_id: Id
    product_id: Id
    title: Text = ""
    price_minor: Minor
    available: bool = True


class Product(Shape):
    """What is sold, in its variants."""

    id: Id
    title: Text = ""
    variants: list[Variant] = []


class Plan(Shape):
    """A subscription that is offered, in one currency."""

    name: Text
    price_minor: Minor
    currency: Currency | None = None


class Address(Shape):
    """One address of a customer's book, as the lines of a label."""

    id: Id
    label: Text = ""
    lines: list[Text] = []
    verified: bool = True


class PaymentMethod(Shape):
    """One way to pay; only a gift card has a balance."""

    id: Id
    type: Literal["card", "gift_card", "paypal", "bank"]
    label: Text = ""
    balance_minor: Minor | None = None
    currency: Currency | None = None


class Profile(Shape):
    """A customer's own record: whether they can sign in, and their credit with the shop."""

    access: Literal["ok", "locked"] = "ok"
    email_verified: bool = True
    store_credit_minor: Minor = 0
    currency: Currency | None = None
    version: Version = 1
    reset_sent_at: AwareDatetime | None = None


class TrackingEvent(Shape):
    """What a carrier said, where and when."""

    status: Text
    at: AwareDatetime
    place: Text = ""


class Shipment(Shape):
    """A parcel and its history, oldest event first; `observed_at` is when the carrier was last asked."""

    carrier: Text = "Parcel Post"
    tracking_code: Text = ""
    status: Text
    events: list[TrackingEvent] = []
    observed_at: AwareDatetime | None = None


class Requested(Shape):
    """What was asked for on an order and taken on: why it ends, which pieces come back, and for what."""

    reason: Text | None = None
    return_items: list[Id] = []
    exchange_items: list[Id] = []
    new_items: list[Id] = []
    payment_method_id: Id | None = None


class Order(Shape):
    """A purchase; what was captured and given back covers all its payments."""

    id: Id
    status: Text
    currency: Currency | None = None
    captured_minor: Minor
    refunded_minor: Minor = 0
    items: list[Item] = []
    placed_at: AwareDatetime | None = None
    delivered_at: AwareDatetime | None = None
    version: Version = 1
    shipment: Shipment | None = None
    address_id: Id | None = None
    payment_method_id: Id | None = None
    requested: Requested = Field(default_factory=Requested)


class Subscription(Shape):
    """A plan that renews; `renews_at` is None once it is cancelled."""

    id: Id
    plan: Text
    status: Text
    price_minor: Minor
    currency: Currency | None = None
    renews_at: AwareDatetime | None = None
    version: Version = 1
    payment_method_id: Id | None = None


class Payment(Shape):
    """One charge, for an order or for one period of a subscription."""

    id: Id
    order_id: Id | None = None
    subscription_id: Id | None = None
    amount_minor: Minor
    refunded_minor: Minor = 0
    currency: Currency | None = None
    status: Text = "captured"
    captured_at: AwareDatetime | None = None
    version: Version = 1
    payment_method_id: Id | None = None


class Customer(Shape):
    """A person and all that is theirs."""

    id: Id
    name: Text = ""
    email: Text = ""
    profile: Profile = Field(default_factory=Profile)
    addresses: list[Address] = []
    payment_methods: list[PaymentMethod] = []
    orders: list[Order] = []
    subscriptions: list[Subscription] = []
    payments: list[Payment] = []


class Tenant(Shape):
    """One organisation that sells."""

    id: Id
    kind: Literal["marketplace", "saas"]
    name: Text = ""
    currency: Currency = "EUR"
    plans: list[Plan] = []
    products: list[Product] = []
    customers: list[Customer] = []


class World(Shape):
    """All tenants of a shop."""

    tenants: Annotated[list[Tenant], Field(min_length=1)]


def stamp(at: datetime) -> str:
    """An aware time as the shop writes it, in UTC with `Z`; all of one width, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
