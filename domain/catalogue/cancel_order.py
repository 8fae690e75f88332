"""Cancel order: end an order that has not left yet, and give back what was paid for it.

The reasons are those that the shop takes; what is given back is what is left of the payment.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self, get_args

from domain.account import Account, Order
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import money_facts
from domain.catalogue.payload import ActionPayload, Label, Thing, Told
from domain.catalogue.wish import NotProposable, Wish

CancelReason = Literal["no_longer_needed", "ordered_by_mistake"]


class CancelOrderPayload(ActionPayload):
    """Cancel one order of its owner. `amount_minor` is what is given back, None where nothing was paid."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"order"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Cannot be taken back. The customer orders again; the price of then may be honoured."

    kind: Literal[ActionKind.CANCEL_ORDER] = ActionKind.CANCEL_ORDER
    order_id: str
    reason: CancelReason

    @property
    def resource(self) -> str:
        """`order:ID`."""
        return f"order:{self.order_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class."""
        found = account.resource(wish.resource)
        if not isinstance(found, Order):
            raise NotProposable("only an order of the customer's can be cancelled")
        reason = next((r for r in get_args(CancelReason) if r == wish.reason), None)
        if reason is None:
            raise NotProposable(f"cancelling an order needs a reason: {', '.join(get_args(CancelReason))}")
        left = found.refundable_minor
        return cls(
            customer_id=customer_id,
            order_id=found.id,
            reason=reason,
            amount_minor=left or None,
            currency=found.currency if left else None,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; an amount of 0 is one that gives nothing back."""
        return {
            "amount_minor": self.amount_minor or 0,
            "currency": self.currency or "",
            "reason": self.reason,
            "target": money_facts(account, self.resource, self.amount_minor, now),
        }

    def told(self) -> dict[str, Told]:
        """`what` and `reason`."""
        return {"what": Thing(kind="order", id=self.order_id), "reason": Label(key=f"reason.{self.reason}")}
