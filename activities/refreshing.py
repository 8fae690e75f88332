"""Refreshing: ask the business system to ask the carrier anew, in the background of a conversation.

Changes nothing but how fresh a fact is; what it brings is read with the account of the next turn.
"""

from temporalio import activity

from activities.business import BusinessSystem
from domain.errand import Errand, RefreshTracking


class Refreshing:
    """Holds the business system."""

    def __init__(self, business: BusinessSystem) -> None:
        self._business = business

    @activity.defn(name=Errand.REFRESH_TRACKING)
    async def refresh_tracking(self, ask: RefreshTracking) -> bool:
        """Return whether the carrier was asked; False: it was asked a moment ago. Raises Unreachable."""
        return await self._business.refresh_tracking(ask.tenant_id, ask.order_id) is None
