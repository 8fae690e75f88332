"""How old a fact may be, by what it is and what it is used for: telling a status, or deciding about money.

One table, in seconds; what decides must be fresher than what is told, and what is final never grows old.
"""

from datetime import datetime
from typing import Literal

from domain.account import Order, Shipment

Use = Literal["tell", "review", "decide"]
TELL: Use = "tell"
REVIEW: Use = "review"  # told once a person has read, and perhaps changed, what is told
DECIDE: Use = "decide"

CLOCKS_DIFFER_MAX_S = 5  # what lies further ahead than this was not observed by any clock of ours
_HOUR = 3_600
FOR_EVER_S = 10 * 365 * 24 * _HOUR

MAX_AGE_S: dict[tuple[str, Use], int] = {
    ("account", TELL): 300,
    ("account", REVIEW): 900,
    ("account", DECIDE): 60,
    ("tracking", TELL): 12 * _HOUR,
    ("tracking", DECIDE): _HOUR,
}
FINAL_TRACKING = frozenset({"delivered", "returned", "lost"})  # a parcel that has come to an end moves no more


def max_age_s(fact: str, use: Use, status: str = "") -> int:
    """Return how old, in seconds, a fact may be for that use. Raises KeyError for a fact that has no limit here."""
    if fact == "tracking" and status in FINAL_TRACKING:
        return FOR_EVER_S
    return MAX_AGE_S[fact, use]


def tracking_is_current(order: Order, use: Use, now: datetime) -> bool:
    """Return whether what is known of an order's parcel may be used as how it stands now (INVARIANT 9).

    Without a parcel there is nothing to be stale.
    """
    shipment = order.shipment
    if shipment is None:
        return True
    age_s = tracking_age_s(shipment, now)
    return age_s is not None and age_s <= max_age_s("tracking", use, shipment.status)


def tracking_age_s(shipment: Shipment, now: datetime) -> float | None:
    """Return how long ago, in seconds, it was known where the parcel is; None where no time of it can be believed."""
    known_at = shipment.known_at
    age_s = (now - known_at).total_seconds() if known_at else None
    return age_s if age_s is not None and age_s >= -CLOCKS_DIFFER_MAX_S else None
