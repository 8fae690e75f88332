"""Store credit: put an amount to the customer's credit with the shop, for a reason that the shop knows.

No money leaves; it can be taken back while it is unspent.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field

from domain.account import Account, Profile
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import profile_facts
from domain.catalogue.payload import ActionPayload, Label, Money, Told
from domain.catalogue.wish import NotProposable, Wish

CreditReason = Literal["goodwill", "late_delivery", "damaged_item", "missing_item"]


class StoreCreditPayload(ActionPayload):
    """Credit `amount_minor` of `currency` to the customer."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"account"})
    moves_money: ClassVar[bool] = True
    repair: ClassVar[str] = "Take the credit back in the shop while it is unspent; spent credit is written off."

    kind: Literal[ActionKind.STORE_CREDIT] = ActionKind.STORE_CREDIT
    amount_minor: int = Field(gt=0)
    currency: str
    reason: CreditReason

    @property
    def resource(self) -> str:
        """`account:ID`, the customer's own."""
        return f"account:{self.customer_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class; the amount and the reason are the wish's own."""
        found = account.resource(wish.resource)
        if not isinstance(found, Profile):
            raise NotProposable("store credit is for the customer's own account")
        if wish.amount_minor is None or wish.amount_minor < 1 or wish.currency is None:
            raise NotProposable("store credit needs an amount of at least one minor unit, and its currency")
        reason = next((r for r in get_args(CreditReason) if r == wish.reason), None)
        if reason is None:
            raise NotProposable(f"store credit needs a reason: {', '.join(get_args(CreditReason))}")
        return cls(
            customer_id=customer_id,
            amount_minor=wish.amount_minor,
            currency=wish.currency,
            reason=reason,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class."""
        target = profile_facts(account, self.resource)
        return {"amount_minor": self.amount_minor, "currency": self.currency, "reason": self.reason, "target": target}

    def told(self) -> dict[str, Told]:
        """`amount` and `reason`."""
        return {
            "amount": Money(amount_minor=self.amount_minor, currency=self.currency),
            "reason": Label(key=f"reason.{self.reason}"),
        }
