"""The relay: sends what the fast path did not deliver, oldest first, and sweeps for work that no wake-up stands for.

Any number may run; rows are taken with SKIP LOCKED, and a wake-up may arrive twice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TypeVar

import structlog
from temporalio.service import RPCError

from domain.wake import Wake
from relay.temporal import Waker
from store.database import Database
from store.faults import passes
from store.outbox import EVER_S, claim_due, forget_delivered, mark_delivered, open_actions, open_conversations

log = structlog.get_logger()

T = TypeVar("T")
R = TypeVar("R")

BATCH = 200
AT_ONCE = 20
BACKOFF_MAX_S = 30
SWEEP_EVERY_S = 15.0
SWEEP_OLDER_THAN_S = 15.0
STUCK_FOR_S = 600.0  # after that a running workflow is left alone: signals for ever would fill its history
KEEP_DELIVERED_S = 2 * 86_400.0  # delivered rows are of use to whoever looks into a bad night
FORGET_BATCH = 1_000


class Relay:
    """Sends due wake-ups every `interval_s`, and sweeps every quarter of a minute."""

    def __init__(
        self, db: Database, waker: Waker, interval_s: float, sweep_older_than_s: float = SWEEP_OLDER_THAN_S
    ) -> None:
        self._db = db
        self._waker = waker
        self._interval_s = interval_s
        self._sweep_older_than_s = sweep_older_than_s

    async def run(self) -> None:
        """Run until cancelled; a database or a Temporal that is away is waited for."""
        next_sweep = 0.0
        while True:
            try:
                while await self.send_due() == BATCH:
                    pass
                if asyncio.get_running_loop().time() >= next_sweep:
                    await self.sweep()
                    await forget_delivered(self._db, KEEP_DELIVERED_S, FORGET_BATCH)
                    next_sweep = asyncio.get_running_loop().time() + SWEEP_EVERY_S
            except Exception as fault:
                if not passes(fault):
                    raise
                log.warning("relay.waiting", fault=type(fault).__name__)
            await asyncio.sleep(self._interval_s)

    async def send_due(self) -> int:
        """Send what is due and return how many rows were taken. Per conversation they go in order."""
        wakes = await claim_due(self._db, BATCH, BACKOFF_MAX_S)
        by_target = [list(g) for _, g in groupby(sorted(wakes, key=_target_and_age), key=_target)]
        sent = await at_most(AT_ONCE, self._send_in_order, by_target)
        await mark_delivered(self._db, [i for ids in sent for i in ids], datetime.now(UTC))
        return len(wakes)

    async def _send_in_order(self, wakes: list[Wake]) -> list[int]:
        done: list[int] = []
        for wake in wakes:
            if not await tried(self._waker.wake, wake):
                break
            done.append(wake.outbox_id)
        return done

    async def sweep(self) -> int:
        """Wake what is unanswered or not worked through, and start what is open without a workflow; return how many."""
        found = await self._sweep_conversations(self._waker.wake, self._sweep_older_than_s, STUCK_FOR_S)
        found += await self._sweep_conversations(self._waker.ensure, STUCK_FOR_S, EVER_S)
        after = ""
        while page := await open_actions(self._db, after, BATCH, self._sweep_older_than_s):
            found += sum(await at_most(AT_ONCE, lambda w: tried(self._waker.ensure, w), page))
            after = str(page[-1].operation_id)
        return found

    async def _sweep_conversations(
        self, send: Callable[[Wake], Awaitable[None]], older_than_s: float, newer_than_s: float
    ) -> int:
        found, after = 0, ""
        while page := await open_conversations(self._db, after, BATCH, older_than_s, newer_than_s):
            found += sum(await at_most(AT_ONCE, lambda w: tried(send, w), page))
            after = page[-1].conversation_id
        return found


def _target(wake: Wake) -> str:
    return wake.operation_id or wake.conversation_id


def _target_and_age(wake: Wake) -> tuple[str, int]:
    return _target(wake), wake.outbox_id


async def tried(send: Callable[[Wake], Awaitable[None]], wake: Wake) -> bool:
    """Send one wake-up and say whether Temporal has taken it; what it has not taken comes due again."""
    try:
        await send(wake)
    except (RPCError, RuntimeError) as fault:
        log.warning("wake.not_delivered", outbox_id=wake.outbox_id, fault=type(fault).__name__)
        return False
    return True


async def at_most(limit: int, work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Run `work` over `items`, at most `limit` at once."""
    gate = asyncio.Semaphore(limit)

    async def one(item: T) -> R:
        async with gate:
            return await work(item)

    return await asyncio.gather(*(one(i) for i in items))
