"""Delivers what webhooks are to be told: to many at once, to each in turn, again and again until it is taken or dead.

Sees identifiers of every tenant under the relay's role; what is said is read within its tenant, when it is sent.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from domain.fault import OperationalFault
from domain.trace import trace
from domain.webhook import Letter, Tried, after
from domain.webhook_kinds import DeliveryFault, DeliveryState
from relay.letters import told
from store.database import Database
from store.deliveries import (
    Due,
    Held,
    bury_removed,
    forget_settled,
    hold_webhooks,
    release_webhook,
    settle_as_seen,
    settle_delivery,
    take_due,
)
from store.delivery_facts import fact_of
from store.faults import passes
from store.secrets import Vault
from store.webhooks import secret_name

log = structlog.get_logger()

Send = Callable[[Letter], Awaitable[Tried]]

AT_ONCE = 20  # webhooks; a slow one takes one of these places, and no other waits for it
BURST = 50  # deliveries to one webhook before the others get a turn,
BURST_S = 5.0  # and for how long: slow ones, however many a tenant has, hold the places no longer than this and a try
PAUSE_S_MAX = 3_600.0  # of one webhook, where it asks for one
FORGET_EVERY_S = 600.0
KEEP_SETTLED_S = 30 * 86_400.0
KEEP_DEAD_S = 180 * 86_400.0  # time enough to mend a receiver and have it told again
FORGET_BATCH = 5_000


@dataclass(frozen=True)
class Pace:
    """How deliveries go: every `interval_s` what is due, each tried `attempts_max` times at most."""

    interval_s: float
    attempts_max: int
    unseen_after_s: float  # how long a reply in a chat waits for its reader
    lease_s: float  # longer than one try can take
    burst_s: float = BURST_S


class Deliveries:
    """Delivers until cancelled."""

    def __init__(self, relay_db: Database, db: Database, vault: Vault, send: Send, pace: Pace) -> None:
        self._relay_db, self._db, self._vault, self._send, self._pace = relay_db, db, vault, send, pace
        self._serving: set[asyncio.Task[None]] = set()
        self._defect: BaseException | None = None

    async def run(self) -> None:
        """Run until cancelled; a database that is away is waited for."""
        next_sweep = 0.0
        try:
            while True:
                try:
                    if self._defect is not None:
                        raise self._defect
                    await self.begin()
                    if asyncio.get_running_loop().time() >= next_sweep:
                        await bury_removed(self._relay_db)
                        await forget_settled(self._relay_db, KEEP_SETTLED_S, KEEP_DEAD_S, FORGET_BATCH)
                        next_sweep = asyncio.get_running_loop().time() + FORGET_EVERY_S
                except Exception as fault:
                    if not passes(fault):
                        raise
                    log.warning("deliveries.waiting", fault=type(fault).__name__)
                await asyncio.sleep(self._pace.interval_s)
        finally:
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    async def begin(self) -> int:
        """Begin to serve the webhooks that something is due for, as far as there is room; return how many."""
        room = AT_ONCE - len(self._serving)
        if room <= 0:
            return 0
        held = await hold_webhooks(self._relay_db, room, self._pace.lease_s, self._pace.unseen_after_s)
        for one in held:
            task = asyncio.create_task(self._serve(one))
            self._serving.add(task)
            task.add_done_callback(self._ended)
        return len(held)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        if not task.cancelled() and (defect := task.exception()) is not None:
            self._defect = defect

    async def idle(self) -> None:
        """Return once nothing is being delivered."""
        await asyncio.gather(*self._serving)

    async def _serve(self, held: Held) -> None:
        """Deliver to one webhook what is due, in turn, until one try fails or the others are due a turn."""
        pause_s, until = 0.0, asyncio.get_running_loop().time() + self._pace.burst_s
        try:
            for _ in range(BURST):
                due = await take_due(self._relay_db, held, self._pace.lease_s, self._pace.unseen_after_s)
                if due is None:
                    break
                tried = await self._try(due)
                if tried.fault is not None:
                    pause_s = tried.retry_after_s or 0.0
                if tried.fault is not None or asyncio.get_running_loop().time() >= until:
                    break
            await release_webhook(self._relay_db, held, min(pause_s, PAUSE_S_MAX))
        except Exception as fault:
            if not passes(fault):
                raise
            log.warning("webhook.left", webhook_id=held.webhook_id, fault=type(fault).__name__)  # its lease runs out

    async def _try(self, due: Due) -> Tried:
        letter = await self._letter(due)
        if letter is None:
            await settle_as_seen(self._relay_db, due)
            return Tried()
        tried = letter if isinstance(letter, Tried) else await self._send(letter)
        then = after(tried, due.attempts, self._pace.attempts_max, random.random())  # noqa: S311  a jitter
        await settle_delivery(self._relay_db, due, tried, then)
        if tried.fault is not None:
            told_of = {"webhook_id": due.webhook_id, "delivery_id": due.id, "fault": tried.fault.value}
            event = "delivery.died" if then.state is DeliveryState.DEAD else "delivery.failed"
            log.warning(event, attempt=due.attempts, status=tried.status, **told_of)
        return tried

    async def _letter(self, due: Due) -> Letter | Tried | None:
        """Return what is to be sent; None: it has been read here; a fault where there is nothing to sign with."""
        try:
            fact = await fact_of(self._db, due.tenant_id, due.webhook_id, due.id)
            if fact.seen:
                return None
            secret = self._vault.open(due.tenant_id, secret_name(due.webhook_id), fact.sealed or "")
            return Letter(url=fact.url, secret=secret, message_id=due.message_id, body=told(fact))
        except OperationalFault:
            return Tried(fault=DeliveryFault.NO_SECRET)
        except Exception as defect:
            if passes(defect):
                raise
            log.error("delivery.untellable", delivery_id=due.id, **trace(defect))  # it must not keep all others from it
            return Tried(fault=DeliveryFault.DEFECT)
