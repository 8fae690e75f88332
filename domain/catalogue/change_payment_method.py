"""Change payment method: let an open order, or a subscription, be paid with another way that is on file.

A way to pay is never taken from a chat: it is entered where payments are, and named here by its id.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Order, Subscription
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import label_of, method_facts, money_facts, subscription_facts
from domain.catalogue.payload import ActionPayload, Thing, Told
from domain.catalogue.wish import NotProposable, Wish


class ChangePaymentMethodPayload(ActionPayload):
    """Pay one order or one subscription with `payment_method_id`; `label` is how the customer knows it.

    `due_minor` is what it was to pay when this was proposed: what is left of the order's payment, or one period.
    """

    acts_on: ClassVar[frozenset[str]] = frozenset({"order", "subscription"})
    repair: ClassVar[str] = "Change it back the same way; what was charged meanwhile is given back as a refund."

    kind: Literal[ActionKind.CHANGE_PAYMENT_METHOD] = ActionKind.CHANGE_PAYMENT_METHOD
    order_id: str | None = None
    subscription_id: str | None = None
    payment_method_id: str
    label: str
    due_minor: int = 0
    due_currency: str = ""

    @property
    def resource(self) -> str:
        """`order:ID` or `subscription:ID`."""
        return f"order:{self.order_id}" if self.order_id else f"subscription:{self.subscription_id}"

    @property
    def stake_minor(self) -> int:
        """What the new way is to pay."""
        return self.due_minor

    @property
    def stake_currency(self) -> str:
        """See the base class."""
        return self.due_currency

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
            label=label_of(method),
            due_minor=_due_minor(found),
            due_currency=found.currency,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; a gift card must cover what is to be paid."""
        found = account.resource(self.resource)
        wanted = account.payment_method(self.payment_method_id)
        if isinstance(found, Order | Subscription):
            method = method_facts(wanted, found.payment_method_id, _due_minor(found), found.currency)
        else:
            method = method_facts(wanted, None, self.due_minor, self.due_currency)
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


def _due_minor(found: Order | Subscription) -> int:
    """What is to be paid for it, by the account of now."""
    return found.refundable_minor if isinstance(found, Order) else found.price_minor
