"""The fast path: delivers a wake-up right after its commit, in the background, and marks it delivered in batches.

Best effort by design; whatever it loses, the relay sends.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import structlog
from temporalio.service import RPCError

from domain.trace import trace
from domain.wake import Wake
from relay.temporal import Waker
from store.database import Database
from store.outbox import mark_delivered

log = structlog.get_logger()

UNDERWAY_MAX = 1_000  # more than this, and the relay has to do it
MARK_INTERVAL_S = 0.2


class TemporalCourier:
    """Fulfils `domain.courier.Courier`; run `run()` beside the server that uses it."""

    def __init__(self, waker: Waker, db: Database) -> None:
        self._waker = waker
        self._db = db
        self._underway: set[asyncio.Task[None]] = set()
        self._delivered: dict[str, list[int]] = {}

    def send(self, wakes: Sequence[Wake]) -> None:
        """Take wake-ups for delivery in the background."""
        for wake in wakes:
            if len(self._underway) >= UNDERWAY_MAX:
                return
            task = asyncio.create_task(self._deliver(wake))
            self._underway.add(task)
            task.add_done_callback(self._underway.discard)

    async def _deliver(self, wake: Wake) -> None:
        try:
            await self._waker.wake(wake)
        except (RPCError, RuntimeError) as fault:
            log.warning("wake.left_to_relay", outbox_id=wake.outbox_id, fault=type(fault).__name__)
            return
        self._delivered.setdefault(wake.tenant_id, []).append(wake.outbox_id)

    async def run(self) -> None:
        """Mark deliveries until cancelled; the last ones on the way out."""
        try:
            while True:
                await asyncio.sleep(MARK_INTERVAL_S)
                await self._mark()
        finally:
            await asyncio.gather(*self._underway, return_exceptions=True)
            await self._mark()

    async def _mark(self) -> None:
        delivered, self._delivered = self._delivered, {}
        for tenant_id, ids in delivered.items():
            try:
                await mark_delivered(self._db, ids, datetime.now(UTC), tenant_id)
            except Exception as fault:  # noqa: BLE001  nothing may end the marking: the relay sends these again
                log.warning("outbox.not_marked", rows=len(ids), **trace(fault))
