"""The nouns of a shop world, as the generator makes them and as a world file names them.

Pure shapes with sensible defaults: what a world file leaves out is `None` here and filled in by `world_file.py`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

Minor = Annotated[int, Field(strict=True, ge=0, le=10**12)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:~-]*$")]
Text = Annotated[str, StringConstraints(max_length=500)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Version = Annotated[int, Field(strict=True, ge=1, le=2**53)]


class Shape(BaseModel):
    """A part of a world: unknown fields are left aside, so that a richer file still loads."""

    model_config = ConfigDict(extra="ignore")


class Item(Shape):
    """Goods in an order, with the price of one."""

    sku: Text = "SKU-0"
    title: Text = "Item"
    quantity: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1
    price_minor: Minor = 0


class TrackingEvent(Shape):
    """What a carrier said, where and when."""

    status: Text
    at: AwareDatetime
    place: Text = ""


class Shipment(Shape):
    """A parcel and its history, oldest event first."""

    carrier: Text = "Parcel Post"
    tracking_code: Text = ""
    status: Text
    events: list[TrackingEvent] = []


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


class Subscription(Shape):
    """A plan that renews; `renews_at` is None once it is cancelled."""

    id: Id
    plan: Text
    status: Text
    price_minor: Minor
    currency: Currency | None = None
    renews_at: AwareDatetime | None = None
    version: Version = 1


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


class Customer(Shape):
    """A person and all that is theirs."""

    id: Id
    name: Text = ""
    email: Text = ""
    orders: list[Order] = []
    subscriptions: list[Subscription] = []
    payments: list[Payment] = []


class Tenant(Shape):
    """One organisation that sells."""

    id: Id
    kind: Literal["marketplace", "saas"]
    name: Text = ""
    currency: Currency = "EUR"
    customers: list[Customer] = []


class World(Shape):
    """All tenants of a shop."""

    tenants: Annotated[list[Tenant], Field(min_length=1)]


def stamp(at: datetime) -> str:
    """An aware time as the shop writes it, in UTC with `Z`; all of one width, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
