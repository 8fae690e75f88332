"""Refund: give back an amount on one order, or on one payment that has no order.

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


class RefundPayload(ActionPayload):
    """Give back `amount_minor` of `currency` on one order, or on one payment that has no order."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"order", "payment"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Cannot be taken back. Ask the customer to pay again, or write it off with finance."

    kind: Literal[ActionKind.REFUND] = ActionKind.REFUND
    order_id: str | None = None
    payment_id: str | None = None
    amount_minor: int = Field(gt=0)
    currency: str

    @property
    def resource(self) -> str:
        """`order:ID` or `payment:ID`."""
        return f"order:{self.order_id}" if self.order_id else f"payment:{self.payment_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the amount is the wish's own."""
        found = account.resource(wish.resource)
        if not isinstance(found, Order | Payment):
            raise NotProposable(f"a refund of {wish.resource.partition(':')[0]!r} cannot be proposed")
        if wish.amount_minor is None or wish.amount_minor < 1 or wish.currency is None:
            raise NotProposable("a refund needs an amount of at least one minor unit, and its currency")
        return cls(
            customer_id=customer_id,
            order_id=found.id if isinstance(found, Order) else None,
            payment_id=found.id if isinstance(found, Payment) else None,
            amount_minor=wish.amount_minor,
            currency=wish.currency,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class."""
        target = money_facts(account, self.resource, self.amount_minor, now)
        return {"amount_minor": self.amount_minor, "currency": self.currency, "target": target}

    def told(self) -> dict[str, Told]:
        """`amount` and `what`."""
        kind, _, ident = self.resource.partition(":")
        return {
            "amount": Money(amount_minor=self.amount_minor, currency=self.currency),
            "what": Thing(kind=kind, id=ident),
        }
