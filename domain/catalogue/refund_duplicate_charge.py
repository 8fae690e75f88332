"""Refund of a duplicate charge: give back the later of two equal charges for one thing, and nothing else.

The amount is the payment's own, so that nobody can ask for another.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from domain.account import Account, Payment
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import money_facts
from domain.catalogue.payload import ActionPayload, Money, Thing, Told
from domain.catalogue.wish import NotProposable, Wish
from domain.duplicates import equal_charges


class RefundDuplicateChargePayload(ActionPayload):
    """Give back the whole of one payment that repeats an earlier one."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"payment"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Cannot be taken back. If the charge was no duplicate, ask the customer to pay again."

    kind: Literal[ActionKind.REFUND_DUPLICATE_CHARGE] = ActionKind.REFUND_DUPLICATE_CHARGE
    payment_id: str
    order_id: str | None = None  # what was charged, where it was an order: two refunds of one order are never in flight
    amount_minor: int = Field(gt=0)
    currency: str

    @property
    def resource(self) -> str:
        """The order that was charged, else the payment."""
        return f"order:{self.order_id}" if self.order_id else f"payment:{self.payment_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the resource is the payment to give back."""
        found = account.resource(wish.resource)
        if not isinstance(found, Payment) or found.amount_minor < 1:
            raise NotProposable("only a payment of the customer's can be a duplicate charge")
        order = account.order(found.order_id) if found.order_id else None
        return cls(
            customer_id=customer_id,
            payment_id=found.id,
            order_id=order.id if order else None,
            amount_minor=found.amount_minor,
            currency=found.currency,
            resource_version=order.version if order else found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; the money is the payment's, whatever the order's."""
        paid = money_facts(account, f"payment:{self.payment_id}", self.amount_minor, now)
        order = money_facts(account, self.resource, self.amount_minor, now)
        target = {**paid, "version": order["version"], "tracking": order["tracking"]}
        return {"amount_minor": self.amount_minor, "currency": self.currency, "target": target}

    def told(self) -> dict[str, Told]:
        """`amount` and `what`, the payment."""
        return {
            "amount": Money(amount_minor=self.amount_minor, currency=self.currency),
            "what": Thing(kind="payment", id=self.payment_id),
        }

    def rests_on(self, account: Account) -> list[Any]:
        """The payment, where the resource is its order, and the equal charges that make it a double one."""
        paid = account.payment(self.payment_id) if self.order_id else None
        alike = equal_charges(account, f"payment:{self.payment_id}", self.amount_minor)
        return [p.model_dump(mode="json") for p in ((paid,) if paid else ()) + alike]
