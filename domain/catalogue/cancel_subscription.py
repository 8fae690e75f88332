"""Cancel subscription: end it for its owner; nothing further is charged and nothing is given back.

A subscription that has ended is begun anew by its owner.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Subscription
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import subscription_facts
from domain.catalogue.payload import ActionPayload, Told
from domain.catalogue.wish import NotProposable, Wish


class CancelSubscriptionPayload(ActionPayload):
    """Cancel one subscription of its owner."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"subscription"})
    repair: ClassVar[str] = "The customer subscribes again; the old price is honoured by changing the plan's price."

    kind: Literal[ActionKind.CANCEL_SUBSCRIPTION] = ActionKind.CANCEL_SUBSCRIPTION
    subscription_id: str
    plan: str | None = None  # its name, so that people see what would end
    amount_minor: Literal[None] = None
    currency: Literal[None] = None

    @property
    def resource(self) -> str:
        """`subscription:ID`."""
        return f"subscription:{self.subscription_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class."""
        found = account.resource(wish.resource)
        if not isinstance(found, Subscription):
            raise NotProposable(f"a cancellation of {wish.resource.partition(':')[0]!r} cannot be proposed")
        return cls(customer_id=customer_id, subscription_id=found.id, plan=found.plan, resource_version=found.version)

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class."""
        return {"target": subscription_facts(account, self.resource)}

    def told(self) -> dict[str, Told]:
        """`subscription`, by its plan where that is known."""
        named = f"{self.plan} ({self.subscription_id})" if self.plan else self.subscription_id
        return {"subscription": named}
