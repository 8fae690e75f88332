"""Asking carriers anew: at most once a minute for an order, with the answer coming a set time later.

No business write: it changes what the shop knows, never what anybody is owed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sqlite3
from datetime import UTC, datetime, timedelta

from demo.shop.carrier import asked
from demo.shop.database import transaction
from demo.shop.problems import BadRequest
from demo.shop.shapes import stamp

log = logging.getLogger("demo.shop")

ASK_EVERY_S = 60
ON_ITS_WAY = ("shipped", "processed")
FIND = "SELECT status, shipment, tracking_asked_at FROM orders WHERE tenant_id = ? AND id = ?"
ASK = "UPDATE orders SET tracking_asked_at = ? WHERE tenant_id = ? AND id = ?"
TELL = "UPDATE orders SET shipment = ? WHERE tenant_id = ? AND id = ?"
ARRIVE = """
UPDATE orders SET status = 'delivered', delivered_at = ?, version = version + 1 WHERE tenant_id = ? AND id = ?"""


class TooSoon(BadRequest):
    """The carrier was asked within the last minute; `wait_s` whole seconds are left."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(429, "asked_too_soon", f"The carrier is asked once in {ASK_EVERY_S} s; wait {wait_s} s.")
        self.wait_s = wait_s


class Tracking:
    """Asks for one database; `delay_s` is how long a carrier takes to answer."""

    def __init__(self, db: sqlite3.Connection, delay_s: float) -> None:
        self._db, self._delay_s = db, delay_s
        self._waiting: set[asyncio.Task[None]] = set()

    def ask(self, tenant: str, order_id: str) -> datetime:
        """Asks the carrier of this order; returns when its answer is there. Raises BadRequest, TooSoon."""
        now = datetime.now(UTC)
        with transaction(self._db):
            row = self._db.execute(FIND, (tenant, order_id)).fetchone()
            if row is None:
                raise BadRequest(404, "unknown_resource", f"There is no order {order_id}.")
            if row["shipment"] == "null":
                raise BadRequest(422, "no_shipment", f"Order {order_id} has no parcel yet.")
            self._check_rate(row["tracking_asked_at"], now)
            self._db.execute(ASK, (stamp(now), tenant, order_id))
            if not self._delay_s:
                self._tell(tenant, order_id, now)
        if self._delay_s:
            task = asyncio.get_running_loop().create_task(self._later(tenant, order_id))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)
        log.info("tracking.asked order=%s", order_id)
        return now + timedelta(seconds=self._delay_s)

    def forget(self) -> None:
        """Drops what has not been answered yet: at a reset, and at the end."""
        for task in self._waiting:
            task.cancel()

    async def _later(self, tenant: str, order_id: str) -> None:
        await asyncio.sleep(self._delay_s)
        with transaction(self._db):
            self._tell(tenant, order_id, datetime.now(UTC))

    def _tell(self, tenant: str, order_id: str, now: datetime) -> None:
        """Writes what the carrier says; an order whose parcel has arrived is delivered."""
        row = self._db.execute(FIND, (tenant, order_id)).fetchone()
        shipment = asked(json.loads(row["shipment"]), now)
        self._db.execute(TELL, (json.dumps(shipment), tenant, order_id))
        if shipment["status"] == "delivered" and row["status"] in ON_ITS_WAY:
            self._db.execute(ARRIVE, (shipment["events"][-1]["at"], tenant, order_id))

    @staticmethod
    def _check_rate(last: str | None, now: datetime) -> None:
        left_s = ASK_EVERY_S - (now - datetime.fromisoformat(last)).total_seconds() if last else 0
        if left_s > 0:
            raise TooSoon(math.ceil(left_s))
