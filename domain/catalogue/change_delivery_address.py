"""Change delivery address: send an order that has not left yet to another address of the customer's own book.

An address that only a chat has named is not in the book: it is entered and verified in the shop first.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from domain.account import Account, Order
from domain.catalogue.kinds import ActionKind
from domain.catalogue.order_facts import money_facts
from domain.catalogue.payload import ActionPayload, Thing, Told
from domain.catalogue.wish import NotProposable, Wish


class ChangeDeliveryAddressPayload(ActionPayload):
    """Deliver one order to `address_id`; `address` are its lines as read, so that people see where it would go."""

    acts_on: ClassVar[frozenset[str]] = frozenset({"order"})
    repair: ClassVar[str] = "Change it back while the order has not left; after that, ask the carrier to redirect it."

    kind: Literal[ActionKind.CHANGE_DELIVERY_ADDRESS] = ActionKind.CHANGE_DELIVERY_ADDRESS
    order_id: str
    address_id: str
    address: tuple[str, ...]

    @property
    def resource(self) -> str:
        """`order:ID`."""
        return f"order:{self.order_id}"

    @classmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """See the base class."""
        found = account.resource(wish.resource)
        address = account.address(wish.address_id)
        if not isinstance(found, Order):
            raise NotProposable("only an order of the customer's is delivered elsewhere")
        if address is None:
            raise NotProposable("the new address must be one of the customer's own book, by its address_id")
        return cls(
            customer_id=customer_id,
            order_id=found.id,
            address_id=address.id,
            address=address.lines,
            resource_version=found.version,
        )

    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """See the base class; an address whose lines have changed since is not the one that was shown."""
        order, address = account.order(self.order_id), account.address(self.address_id)
        return {
            "address": {
                "known": address is not None,
                "verified": address is not None and address.verified,
                "as_shown": address is not None and address.lines == self.address,
                "unchanged": order is not None and order.address_id == self.address_id,
            },
            "target": money_facts(account, self.resource, None, now),
        }

    def told(self) -> dict[str, Told]:
        """`what` and `address`."""
        return {"what": Thing(kind="order", id=self.order_id), "address": ", ".join(self.address) or self.address_id}

    def rests_on(self, account: Account) -> list[Any]:
        """The address itself."""
        found = account.address(self.address_id)
        return [found.model_dump(mode="json")] if found else []
