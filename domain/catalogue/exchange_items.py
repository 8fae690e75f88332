"""Exchange items: some items of a delivered order for other variants of the same products.

What the new ones cost more is taken from a way to pay of the customer's, what they cost less is given back to it.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from domain.account import Account, Item, Order, Variant
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import items_of, label_of, method_facts, money_facts
from domain.catalogue.payload import ActionPayload, Money, Thing, Told
from domain.catalogue.wish import NotProposable, Wish


class ExchangeItemsPayload(ActionPayload):
    """Exchange each of `item_ids` for the one of `new_item_ids` at the same place.

    `difference_minor` is what the new ones cost more; below zero, what is given back, which is then `amount_minor` too.
    """

    acts_on: ClassVar[frozenset[str]] = frozenset({"order"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Call the exchange off in the shop until the parcel has left; after that, exchange back."

    kind: Literal[ActionKind.EXCHANGE_ITEMS] = ActionKind.EXCHANGE_ITEMS
    order_id: str
    item_ids: tuple[str, ...] = Field(min_length=1)
    new_item_ids: tuple[str, ...] = Field(min_length=1)
    shown: tuple[str, ...] = ()  # what each piece is called, and what it would become
    payment_method_id: str
    method_label: str = ""  # how the customer knows that way; empty where it is not on file
    difference_minor: int
    difference_currency: str

    @property
    def resource(self) -> str:
        """`order:ID`."""
        return f"order:{self.order_id}"

    @property
    def stake_minor(self) -> int:
        """What moves, one way or the other."""
        return abs(self.difference_minor)

    @property
    def stake_currency(self) -> str:
        """See the base class."""
        return self.difference_currency

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the difference comes from the prices in the account."""
        found = account.resource(wish.resource)
        if not isinstance(found, Order):
            raise NotProposable("only items of an order of the customer's can be exchanged")
        items = items_of(found, wish.item_ids)
        new = [_variant(account, item_id) for item_id in wish.new_item_ids]
        if not items or len(items) != len(wish.item_ids) or len(new) != len(items) or None in new:
            raise NotProposable("an exchange names items of the order, and for each the variant that is wanted")
        if wish.payment_method_id is None:
            raise NotProposable("an exchange names the way to pay for the difference, or to get it back")
        difference_minor = _difference(list(zip(items, new, strict=True)))
        return cls(
            customer_id=customer_id,
            order_id=found.id,
            item_ids=wish.item_ids,
            new_item_ids=wish.new_item_ids,
            shown=tuple(f"{old.title} → {v.title or v.item_id}" for old, v in zip(items, new, strict=True) if v),
            payment_method_id=wish.payment_method_id,
            method_label=label_of(account.payment_method(wish.payment_method_id)),
            difference_minor=difference_minor,
            difference_currency=found.currency,
            amount_minor=-difference_minor if difference_minor < 0 else None,
            currency=found.currency if difference_minor < 0 else None,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; `items` counts what does not fit, and all of it is 0 where everything does."""
        order = account.order(self.order_id)
        items = items_of(order, self.item_ids)
        pairs = list(zip(items, [_variant(account, i) for i in self.new_item_ids], strict=False))
        method = account.payment_method(self.payment_method_id)
        original = order.payment_method_id if order else None
        return {
            "items": {
                "asked": len(self.item_ids),
                "missing": len(self.item_ids) - len(items),
                "unpaired": abs(len(self.item_ids) - len(self.new_item_ids)),
                "not_returnable": sum(not item.returnable for item in items),
                "unavailable": sum(new is None or not new.available for _, new in pairs),
                "other_product": sum(new is not None and new.product_id != item.product_id for item, new in pairs),
                "unchanged": sum(new is not None and new.item_id == item.item_id for item, new in pairs),
            },
            "difference_minor": self.difference_minor,
            "amount_minor": max(0, -self.difference_minor),
            "as_priced": self.difference_minor == _difference(pairs),
            "method": method_facts(method, original, self.difference_minor, self.difference_currency),
            "target": money_facts(account, self.resource, None, now),
        }

    def told(self) -> dict[str, Told]:
        """`what`, `count`, `items`, `difference` and `method`, the way to pay it or to get it back."""
        return {
            "what": Thing(kind="order", id=self.order_id),
            "count": str(len(self.item_ids)),
            "items": ", ".join(self.shown or self.item_ids),
            "difference": Money(amount_minor=self.difference_minor, currency=self.difference_currency),
            "method": self.method_label or self.payment_method_id,
        }

    def rests_on(self, account: Account) -> list[Any]:
        """The variants, whose prices and stock may change, and the way to pay."""
        wanted = [v for i in self.new_item_ids if (v := _variant(account, i))]
        method = account.payment_method(self.payment_method_id)
        return [fact.model_dump(mode="json") for fact in (*wanted, *((method,) if method else ()))]


def _difference(pairs: list[tuple[Item, Variant | None]]) -> int:
    """What the new ones cost more, by the prices of now."""
    return sum(new.price_minor - item.price_minor for item, new in pairs if new)


def _variant(account: Account, item_id: str) -> Variant | None:
    return next((v for v in account.variants if v.item_id == item_id), None)
