"""A customer's account as a business system tells it, and the evidence that it becomes.

Amounts are integer minor units of the currency beside them; times are aware and UTC.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from domain.base import Noun

_T = TypeVar("_T")


class Fact(BaseModel):
    """A frozen value read from outside: it drops fields it does not know, since providers add them freely.

    What a provider leaves out never allows anything: a default is the value that permits least.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class Item(Fact):
    """One line of an order. `item_id` names the variant that was bought, `product_id` what it is a variant of."""

    sku: str = ""
    item_id: str = ""
    product_id: str = ""
    title: str
    quantity: int = 1
    price_minor: int
    returnable: bool = False


class Variant(Fact):
    """What an item may be exchanged for."""

    item_id: str
    product_id: str
    title: str = ""
    price_minor: int
    available: bool = False


class Address(Fact):
    """One address of the customer's own book, as lines of a label."""

    id: str
    label: str = ""
    lines: tuple[str, ...] = ()
    verified: bool = False


class PaymentMethod(Fact):
    """One way to pay that the customer has on file. `type` is card, gift_card, paypal or bank."""

    id: str
    type: str
    label: str = ""
    balance_minor: int | None = None  # of a gift card
    currency: str | None = None


class Plan(Fact):
    """One plan that a subscription may have."""

    name: str
    price_minor: int
    currency: str


class Profile(Fact):
    """The customer's own record. `access` is ok or locked."""

    id: str
    access: str = "ok"
    email_verified: bool = False
    store_credit_minor: int = 0
    currency: str = "EUR"
    version: int = 1


class ShipmentEvent(Fact):
    """One scan of a parcel."""

    status: str
    at: datetime
    place: str | None = None


class Shipment(Fact):
    """Where a parcel is, as last scanned; `observed_at` is when the carrier was last asked."""

    carrier: str | None = None
    tracking_code: str | None = None
    status: str
    events: tuple[ShipmentEvent, ...] = ()
    observed_at: datetime | None = None

    @property
    def known_at(self) -> datetime | None:
        """As of when it is known where the parcel is: when the carrier was asked, else the last scan."""
        return self.observed_at or max((e.at for e in self.events), default=None)


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
    address_id: str | None = None
    payment_method_id: str | None = None

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
    payment_method_id: str | None = None


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


OWN_ACCOUNT = "account"  # the customer's, whoever it is: a customer's id may be an address, and is in no history

Resource = Order | Subscription | Payment | Profile


class Account(Fact):
    """All that one customer has, and what it may be changed to. What is not in here does not exist for them."""

    orders: tuple[Order, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    payments: tuple[Payment, ...] = ()
    profile: Profile | None = None
    addresses: tuple[Address, ...] = ()
    payment_methods: tuple[PaymentMethod, ...] = ()
    plans: tuple[Plan, ...] = ()  # that the tenant offers
    variants: tuple[Variant, ...] = ()  # of the products in the orders
    product_version: str | None = Field(default=None, coerce_numbers_to_str=True)  # that the customer uses

    def order(self, order_id: str) -> Order | None:
        """The customer's own order of that id, or None; without its case only where that leaves one alone."""
        return _called(order_id, ((o.id, o) for o in self.orders))

    def subscription(self, subscription_id: str) -> Subscription | None:
        """The customer's own subscription of that id, or None; case as for an order."""
        return _called(subscription_id, ((s.id, s) for s in self.subscriptions))

    def payment(self, payment_id: str) -> Payment | None:
        """The customer's own payment of that id, or None; case as for an order."""
        return _called(payment_id, ((p.id, p) for p in self.payments))

    def address(self, address_id: str | None) -> Address | None:
        """The address of that id in the customer's own book, or None."""
        return next((a for a in self.addresses if a.id == address_id), None)

    def payment_method(self, method_id: str | None) -> PaymentMethod | None:
        """The customer's own way to pay of that id, or None."""
        return next((m for m in self.payment_methods if m.id == method_id), None)

    def plan(self, name: str | None) -> Plan | None:
        """The plan of that name that is offered, or None; case as for an order."""
        return _called(name or "", ((p.name, p) for p in self.plans))

    def resource(self, name: str) -> Resource | None:
        """What a payload's `resource` (`order:ID`, `payment:ID`, `subscription:ID`, `account:ID`) names, or None."""
        kind, _, ident = name.partition(":")
        match kind:
            case "order":
                return self.order(ident)
            case "payment":
                return self.payment(ident)
            case "subscription":
                return self.subscription(ident)
            case "account":
                return self.profile if self.profile and ident in ("", self.profile.id) else None
            case _:
                return None


def _called(wanted: str, named: Iterable[tuple[str, _T]]) -> _T | None:
    """The one that is called so to the letter, else the only one that is called so without case, else none."""
    alike = [(name, thing) for name, thing in named if name.casefold() == wanted.casefold()]
    exact = [(name, thing) for name, thing in alike if name == wanted]
    found = [thing for _, thing in exact or alike]
    return found[0] if len(found) == 1 else None


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
