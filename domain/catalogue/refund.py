"""Refund: give back an amount on one order, or on one payment, be it of an order or of none.

The original way to pay gets it; the business system never gives back more than was captured.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from domain.account import Account, Order, Payment
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import money_facts
from domain.catalogue.payload import ActionPayload, Money, Thing, Told
from domain.catalogue.wish import NotProposable, Wish
from domain.duplicates import equal_charges


class RefundPayload(ActionPayload):
    """Give back `amount_minor` of `currency` on one order, or on one payment.

    A payment of an order names the order too, so that all money of one order meets there: limits, what is open, what
    is in flight. The version is then the order's, and `payment_version` the payment's.
    """

    acts_on: ClassVar[frozenset[str]] = frozenset({"order", "payment"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Cannot be taken back. Ask the customer to pay again, or write it off with finance."

    kind: Literal[ActionKind.REFUND] = ActionKind.REFUND
    order_id: str | None = None
    payment_id: str | None = None
    payment_version: int | None = None
    amount_minor: int = Field(gt=0)
    currency: str

    @property
    def resource(self) -> str:
        """The order, else the payment."""
        return f"order:{self.order_id}" if self.order_id else f"payment:{self.payment_id}"

    @property
    def effect_on(self) -> str:
        """The payment where one is named: that is what the business system is asked to give back."""
        return f"payment:{self.payment_id}" if self.payment_id else self.resource

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the amount is the wish's own."""
        found = account.resource(wish.resource)
        if not isinstance(found, Order | Payment):
            raise NotProposable(f"a refund of {wish.resource.partition(':')[0]!r} cannot be proposed")
        if wish.amount_minor is None or wish.amount_minor < 1 or wish.currency is None:
            raise NotProposable("a refund needs an amount of at least one minor unit, and its currency")
        payment = found if isinstance(found, Payment) else None
        order = found if isinstance(found, Order) else account.order(found.order_id or "")
        return cls(
            customer_id=customer_id,
            order_id=order.id if order else None,
            payment_id=payment.id if payment else None,
            payment_version=payment.version if payment and order else None,
            amount_minor=wish.amount_minor,
            currency=wish.currency,
            resource_version=order.version if order else found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; of a payment of an order no more can be given back than is left of both."""
        target = money_facts(account, self.resource, self.amount_minor, now)
        if self.order_id and self.payment_id:
            paid = money_facts(account, f"payment:{self.payment_id}", self.amount_minor, now)
            left_minor = min(target["refundable_minor"], paid["refundable_minor"])
            target |= {"refundable_minor": left_minor, "charged_twice": paid["charged_twice"]}
        return {"amount_minor": self.amount_minor, "currency": self.currency, "target": target}

    def told(self) -> dict[str, Told]:
        """`amount` and `what`, the payment where one is named."""
        kind, _, ident = self.effect_on.partition(":")
        return {
            "amount": Money(amount_minor=self.amount_minor, currency=self.currency),
            "what": Thing(kind=kind, id=ident),
        }

    def rests_on(self, account: Account) -> list[Any]:
        """The payment, where the resource is its order, and the equal charges that make it a double one."""
        paid = account.payment(self.payment_id) if self.order_id and self.payment_id else None
        alike = equal_charges(account, self.effect_on, self.amount_minor)
        return [p.model_dump(mode="json") for p in ((paid,) if paid else ()) + alike]
