"""Change payment method: let an open order, or a subscription, be paid with another way that is on file.

A way to pay is never taken from a chat: it is entered where payments are, and named here by its id.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Order, Subscription
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import method_facts, money_facts, subscription_facts
from domain.catalogue.payload import ActionPayload, Thing, Told
from domain.catalogue.wish import NotProposable, Wish


class ChangePaymentMethodPayload(ActionPayload):
    """Pay one order or one subscription with `payment_method_id`; `label` is how the customer knows it."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"order", "subscription"})
    repair: ClassVar[str] = "Change it back the same way; what was charged meanwhile is given back as a refund."

    kind: Literal[ActionKind.CHANGE_PAYMENT_METHOD] = ActionKind.CHANGE_PAYMENT_METHOD
    order_id: str | None = None
    subscription_id: str | None = None
    payment_method_id: str
    label: str

    @property
    def resource(self) -> str:
        """`order:ID` or `subscription:ID`."""
        return f"order:{self.order_id}" if self.order_id else f"subscription:{self.subscription_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class."""
        found = account.resource(wish.resource)
        method = account.payment_method(wish.payment_method_id)
        if not isinstance(found, Order | Subscription):
            raise NotProposable("only an order or a subscription of the customer's has a way to pay")
        if method is None:
            raise NotProposable("the new way to pay must be on file, by its payment_method_id")
        return cls(
            customer_id=customer_id,
            order_id=found.id if isinstance(found, Order) else None,
            subscription_id=found.id if isinstance(found, Subscription) else None,
            payment_method_id=method.id,
            label=method.label or method.type,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; a gift card must cover what is to be paid."""
        found = account.resource(self.resource)
        original = found.payment_method_id if isinstance(found, Order | Subscription) else None
        due = found.captured_minor if isinstance(found, Order) else 0
        method = method_facts(account.payment_method(self.payment_method_id), original, due)
        money = money_facts(account, self.resource, None, now)
        target = {**money, **subscription_facts(account, self.resource)} if self.subscription_id else money
        return {"method": method, "target": {**target, "price_minor": target.get("price_minor", 0)}}

    def told(self) -> dict[str, Told]:
        """`what` and `method`."""
        kind, _, ident = self.resource.partition(":")
        return {"what": Thing(kind=kind, id=ident), "method": self.label}

    def rests_on(self, account: Account) -> list[Any]:
        """The way to pay itself."""
        found = account.payment_method(self.payment_method_id)
        return [found.model_dump(mode="json")] if found else []
