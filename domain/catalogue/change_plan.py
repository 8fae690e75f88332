"""Change plan: move a subscription to another plan that is offered, at the price of that plan.

It can be changed back; what was charged in between is a matter for a refund.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Subscription
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import subscription_facts
from domain.catalogue.payload import ActionPayload, Money, Told
from domain.catalogue.wish import NotProposable, Wish


class ChangePlanPayload(ActionPayload):
    """Move one subscription from `plan` to `new_plan`, at `new_price_minor` each period."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"subscription"})
    repair: ClassVar[str] = "Change the plan back; give back what was charged in between as a refund."

    kind: Literal[ActionKind.CHANGE_PLAN] = ActionKind.CHANGE_PLAN
    subscription_id: str
    plan: str
    new_plan: str
    new_price_minor: int
    new_price_currency: str

    @property
    def resource(self) -> str:
        """`subscription:ID`."""
        return f"subscription:{self.subscription_id}"

    @property
    def stake_minor(self) -> int:
        """The new price of one period."""
        return self.new_price_minor

    @property
    def stake_currency(self) -> str:
        """See the base class."""
        return self.new_price_currency

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the price is the plan's own."""
        found, plan = account.resource(wish.resource), account.plan(wish.plan)
        if not isinstance(found, Subscription):
            raise NotProposable("only a subscription of the customer's has a plan")
        if plan is None:
            raise NotProposable("the new plan must be one that is offered, by its name")
        return cls(
            customer_id=customer_id,
            subscription_id=found.id,
            plan=found.plan,
            new_plan=plan.name,
            new_price_minor=plan.price_minor,
            new_price_currency=plan.currency,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; `as_offered` is whether plan and price are still what was shown."""
        plan = account.plan(self.new_plan)
        offered = plan is not None and (plan.price_minor, plan.currency) == (
            self.new_price_minor,
            self.new_price_currency,
        )
        return {
            "plan": {
                "offered": plan is not None,
                "as_offered": offered,
                "unchanged": self.plan.casefold() == self.new_plan.casefold(),
                "price_minor": self.new_price_minor,
                "currency": self.new_price_currency,
            },
            "target": subscription_facts(account, self.resource),
        }

    def told(self) -> dict[str, Told]:
        """`subscription`, `plan` and `price`."""
        return {
            "subscription": f"{self.plan} ({self.subscription_id})",
            "plan": self.new_plan,
            "price": Money(amount_minor=self.new_price_minor, currency=self.new_price_currency),
        }

    def rests_on(self, account: Account) -> list[Any]:
        """The plan as it is offered."""
        found = account.plan(self.new_plan)
        return [found.model_dump(mode="json")] if found else []
