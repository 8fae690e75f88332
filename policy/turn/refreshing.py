"""Which parcels have to be asked about anew, after a turn that rested on what is known of them.

Pure; the turn does not wait for it: until then the parcel is told as of then, and decides nothing (INVARIANT 9).
"""

from datetime import datetime

from domain.account import Account, Order
from domain.freshness import DECIDE, TELL, Use, tracking_is_current
from domain.step import Answer, Propose, Step


def orders_to_refresh(step: Step, account: Account, now: datetime) -> tuple[str, ...]:
    """Return the ids of the orders whose tracking is too old for what `step` does with it."""
    use: Use
    match step:
        case Answer(resource=str(resource)):
            use = TELL
        case Propose(resource=resource):
            use = DECIDE
        case _:
            return ()
    found = account.resource(resource)
    stale = isinstance(found, Order) and not tracking_is_current(found, use, now)
    return (found.id,) if found and stale else ()
