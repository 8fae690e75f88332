"""A customer's account as a business system tells it, and the evidence that it becomes.

Amounts are integer minor units of the currency beside them; times are aware and UTC.
"""

from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict

from domain.base import Noun, digest_of


class Fact(BaseModel):
    """A frozen value read from outside: it drops fields it does not know, since providers add them freely."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Item(Fact):
    """One line of an order."""

    sku: str = ""
    title: str
    quantity: int = 1
    price_minor: int


class ShipmentEvent(Fact):
    """One scan of a parcel."""

    status: str
    at: datetime
    place: str | None = None


class Shipment(Fact):
    """Where a parcel is, as last scanned."""

    carrier: str | None = None
    tracking_code: str | None = None
    status: str
    events: tuple[ShipmentEvent, ...] = ()


class Order(Fact):
    """One order with what was paid and given back."""

    id: str
    status: str
    currency: str
    captured_minor: int
    refunded_minor: int
    items: tuple[Item, ...] = ()
    placed_at: datetime | None = None
    delivered_at: datetime | None = None
    version: int
    shipment: Shipment | None = None

    @property
    def refundable_minor(self) -> int:
        """What can still be given back."""
        return max(0, self.captured_minor - self.refunded_minor)


class Subscription(Fact):
    """One running or ended subscription."""

    id: str
    plan: str
    status: str
    price_minor: int
    currency: str
    renews_at: datetime | None = None
    version: int


class Payment(Fact):
    """One captured payment."""

    id: str
    order_id: str | None = None
    subscription_id: str | None = None
    amount_minor: int
    refunded_minor: int
    currency: str
    status: str
    captured_at: datetime | None = None
    version: int

    @property
    def refundable_minor(self) -> int:
        """What can still be given back."""
        return max(0, self.amount_minor - self.refunded_minor)


class Account(Fact):
    """All that one customer has. What is not in here does not exist for this customer."""

    orders: tuple[Order, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    payments: tuple[Payment, ...] = ()

    def order(self, order_id: str) -> Order | None:
        """The customer's own order of that id (ids compare without case), or None."""
        return next((o for o in self.orders if o.id.casefold() == order_id.casefold()), None)

    def subscription(self, subscription_id: str) -> Subscription | None:
        """The customer's own subscription of that id, or None."""
        return next((s for s in self.subscriptions if s.id.casefold() == subscription_id.casefold()), None)

    def payment(self, payment_id: str) -> Payment | None:
        """The customer's own payment of that id, or None."""
        return next((p for p in self.payments if p.id.casefold() == payment_id.casefold()), None)

    def resource(self, name: str) -> Order | Subscription | Payment | None:
        """What a payload's `resource` (`order:ID`, `payment:ID`, `subscription:ID`) names, or None."""
        kind, _, ident = name.partition(":")
        match kind:
            case "order":
                return self.order(ident)
            case "payment":
                return self.payment(ident)
            case "subscription":
                return self.subscription(ident)
            case _:
                return None


class Evidence(Noun):
    """An account as read from `source` at `observed_at`; a decision may rest on it for `max_age_s` seconds."""

    evidence_id: str
    source: str
    account: Account
    observed_at: datetime
    max_age_s: int

    def fresh(self, now: datetime) -> bool:
        """Whether a decision may still rest on it (INVARIANT 9)."""
        return now - self.observed_at <= timedelta(seconds=self.max_age_s)


def evidence_digest(source: str, resource: str, account: Account) -> str:
    """Return the digest of what an approval rests on: source and the resource's values, never the time of reading."""
    found = account.resource(resource)
    value: dict[str, Any] | None = found.model_dump(mode="json") if found else None
    return digest_of({"source": source, "resource": resource, "value": value})
