"""The carriers, as far as this shop knows them: what they say when they are asked anew about a parcel.

Pure; a parcel that has been still for long sometimes turns out to have moved.
"""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta
from typing import Any

from demo.shop.shapes import stamp

#: a parcel that was scanned since has no news
STILL = timedelta(days=2)
#: how long ago the scan was that nobody had asked for
NEWS_AGE = timedelta(hours=1)
#: by the parcel's code: one in three is there, one is on the van, one has not moved
NEWS = ("delivered", "out_for_delivery", None)

Json = dict[str, Any]


def asked(shipment: Json, now: datetime) -> Json:
    """The shipment as the carrier tells it at `now`: observed then, perhaps with one event more."""
    events = shipment["events"]
    news = _news(shipment, now)
    if news:
        place = events[-1]["place"] if events else ""
        events = [*events, {"status": news, "at": stamp(now - NEWS_AGE), "place": place}]
    return {**shipment, "status": news or shipment["status"], "events": events, "observed_at": stamp(now)}


def _news(shipment: Json, now: datetime) -> str | None:
    last = shipment["events"][-1]["at"] if shipment["events"] else None
    if shipment["status"] == "delivered" or last is None or now - datetime.fromisoformat(last) < STILL:
        return None
    found = NEWS[zlib.crc32(shipment["tracking_code"].encode()) % len(NEWS)]
    return None if found == shipment["status"] else found
