"""Restore account access: start a verified reset, by a link to the address that the business system has verified.

Nobody is let in by a chat alone: the link goes to the verified address, and the reset is finished there.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Profile
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import profile_facts
from domain.catalogue.payload import ActionPayload, Told
from domain.catalogue.wish import NotProposable, Wish

SIGN_IN_MAX_AGE_S = 30


class RestoreAccountAccessPayload(ActionPayload):
    """Start the reset of the customer's own account."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"account"})
    evidence_max_age_s: ClassVar[int] = SIGN_IN_MAX_AGE_S
    repair: ClassVar[str] = "An unused link expires by itself; revoke it in the shop where it was asked for wrongly."

    kind: Literal[ActionKind.RESTORE_ACCOUNT_ACCESS] = ActionKind.RESTORE_ACCOUNT_ACCESS
    channel: Literal["verified_email"] = "verified_email"

    @property
    def resource(self) -> str:
        """`account:ID`, the customer's own."""
        return f"account:{self.customer_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class."""
        found = account.resource(wish.resource)
        if not isinstance(found, Profile):
            raise NotProposable("access is restored to the customer's own account")
        return cls(customer_id=customer_id, resource_version=found.version)

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class."""
        return {"channel": self.channel, "target": profile_facts(account, self.resource)}

    def told(self) -> dict[str, Told]:
        """Nothing: where the link goes is no matter for a chat."""
        return {}
