"""What an activity needs of a business system, whoever it is: the interface that connectors fulfil.

One business system in this form; a tenant's own connector is chosen here later.
"""

from datetime import datetime
from typing import Protocol

from domain.account import Evidence
from domain.action import Action
from domain.connector import ConnectorContract, Lookup, WriteOutcome


class BusinessSystem(Protocol):
    """The authority on orders, payments and subscriptions."""

    contract: ConnectorContract

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        """Return a customer's account as evidence. Raises Unreachable."""
        ...

    async def look_up(self, tenant_id: str, operation_id: str, timeout_s: float = 5) -> Lookup:
        """Return what became of an operation. Raises Unreachable."""
        ...

    async def refresh_tracking(self, tenant_id: str, order_id: str, timeout_s: float = 5) -> datetime | None:
        """Have the carrier asked anew; where it was just asked, return when it may be again. Raises Unreachable."""
        ...

    async def execute(self, action: Action) -> WriteOutcome:
        """Send one claimed action, once. Never raises for what the other side does."""
        ...
