"""Whether an action depends on where a parcel is, and what is known of that is too old to act on.

Pure; the base policy forbids the same by its rule `tracking-too-old`, and a test keeps the two equal.
"""

from datetime import datetime

from domain.account import Account, Order
from domain.catalogue.payload import ActionPayload
from domain.duplicates import charged_twice
from domain.freshness import DECIDE, tracking_is_current


def rests_on_stale_tracking(payload: ActionPayload, account: Account, now: datetime) -> bool:
    """Return whether it would be done to an order whose parcel was last heard of too long ago (INVARIANT 9).

    An order that has been delivered, or was paid for twice, does not depend on where its parcel is.
    """
    order = account.resource(payload.resource) if "order" in payload.acts_on else None
    if not isinstance(order, Order) or order.status == "delivered":
        return False
    if payload.amount_minor and charged_twice(account, payload.effect_on, payload.amount_minor):
        return False
    return not tracking_is_current(order, DECIDE, now)
