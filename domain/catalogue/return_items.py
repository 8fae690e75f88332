"""Return items: take back some items of a delivered order, and give back what was paid for them.

The money goes to the way it was paid with, or to another of the customer's that policy allows.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from domain.account import Account, Order
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import items_of, label_of, method_facts, money_facts
from domain.catalogue.payload import ActionPayload, Label, Money, Thing, Told
from domain.catalogue.wish import NotProposable, Wish


class ReturnItemsPayload(ActionPayload):
    """Return the pieces named, each id once for each piece."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"order"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Call the return off in the shop until the parcel has arrived; after that, sell again."

    kind: Literal[ActionKind.RETURN_ITEMS] = ActionKind.RETURN_ITEMS
    order_id: str
    item_ids: tuple[str, ...] = Field(min_length=1)
    shown: tuple[str, ...] = ()  # what each piece is called, so that people see what would go back
    payment_method_id: str | None = None  # None: the way it was paid with
    method_label: str = ""  # how the customer knows the way that gets the money; empty where it is not on file
    amount_minor: int = Field(gt=0)
    currency: str

    @property
    def resource(self) -> str:
        """`order:ID`."""
        return f"order:{self.order_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the amount is what the items cost, and at most what is left of the order."""
        found = account.resource(wish.resource)
        if not isinstance(found, Order):
            raise NotProposable("only items of an order of the customer's can be returned")
        items = items_of(found, wish.item_ids)
        if not items or len(items) != len(wish.item_ids):
            raise NotProposable("a return names items of the order by their item_id, each no more often than bought")
        amount_minor = min(sum(item.price_minor for item in items), found.refundable_minor)
        if amount_minor < 1:
            raise NotProposable("nothing is left to give back on this order")
        return cls(
            customer_id=customer_id,
            order_id=found.id,
            item_ids=wish.item_ids,
            shown=tuple(item.title for item in items),
            payment_method_id=wish.payment_method_id,
            method_label=label_of(account.payment_method(wish.payment_method_id or found.payment_method_id)),
            amount_minor=amount_minor,
            currency=found.currency,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; `items.missing` counts pieces that the order does not hold."""
        order = account.order(self.order_id)
        items = items_of(order, self.item_ids)
        original = order.payment_method_id if order else None
        method = account.payment_method(self.payment_method_id or original)
        named = method_facts(method, original, 0, self.currency)
        to_original = self.payment_method_id is None or self.payment_method_id == original
        return {
            "amount_minor": self.amount_minor,
            "currency": self.currency,
            "items": {
                "asked": len(self.item_ids),
                "missing": len(self.item_ids) - len(items),
                "not_returnable": sum(not item.returnable for item in items),
                "price_minor": sum(item.price_minor for item in items),
            },
            "refund_to": {**named, "known": named["known"] or to_original, "original": to_original},
            "target": money_facts(account, self.resource, self.amount_minor, now),
        }

    def told(self) -> dict[str, Told]:
        """`amount`, `what`, `count`, `items` and `method`, the way that gets the money."""
        named = self.method_label or self.payment_method_id
        return {
            "amount": Money(amount_minor=self.amount_minor, currency=self.currency),
            "what": Thing(kind="order", id=self.order_id),
            "count": str(len(self.item_ids)),
            "items": ", ".join(self.shown or self.item_ids),
            "method": named or Label(key="return_items.original"),
        }

    def rests_on(self, account: Account) -> list[Any]:
        """The way that gets the money."""
        order = account.order(self.order_id)
        found = account.payment_method(self.payment_method_id or (order.payment_method_id if order else None))
        return [found.model_dump(mode="json")] if found else []
