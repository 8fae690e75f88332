"""One ear per process on the log of everybody, and a bell for each event stream that waits.

A conversation's bell holds nothing but that it has rung, a tenant's what is to be told, up to a limit. What has
happened is read from the store, so slow readers cost little memory.
"""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress

import structlog

from domain.principal import VerifiedPrincipal
from domain.teamwork import Topic
from domain.trace import trace
from gateway.bells import Bell, TenantBell
from gateway.crier import Crier
from gateway.refusals import TooManyStreams
from store.listening import Heard

log = structlog.get_logger(__name__)

STREAMS_MAX = 5_000
RETRY_AFTER_S = 5
_PAUSE_S, _PAUSE_MAX_S = 0.2, 5.0

# What these say is read at each look at the queue, or is not in it.
_BESIDE_THE_QUEUE = frozenset({Topic.TAGS, Topic.NOTES, Topic.PRESENCE, Topic.SEEN, Topic.RATING})

Listen = Callable[[], AbstractAsyncContextManager[AsyncIterator[Heard]]]
Place = tuple[str, str]  # tenant, conversation


class Hub:
    """Hears every change and rings the bells that wait for it; after a silence of its own it rings them all."""

    def __init__(
        self, listen: Listen, streams_per_principal_max: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._listen, self._per_principal_max, self._clock = listen, streams_per_principal_max, clock
        self._bells: defaultdict[Place, set[Bell]] = defaultdict(set)
        self._criers: dict[str, Crier] = {}
        self._held: Counter[str] = Counter()
        self._heard_at: dict[str, float] = {}
        self._all_heard_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self.listening = False
        self._closing = False

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._held.total()

    def start(self) -> None:
        """Begin to listen, in the background and for good."""
        self._task = asyncio.create_task(self._hear(), name="hub")
        self._task.add_done_callback(_tell_of_a_defect)

    def end_streams(self) -> None:
        """Tell every stream, open or to come, to end."""
        self._closing = True
        for bell in self._every_bell():
            bell.close()

    async def stop(self) -> None:
        """End every stream, and stop listening."""
        self.end_streams()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @contextmanager
    def bell(self, principal: VerifiedPrincipal, conversation_id: str) -> Iterator[Bell]:
        """Give the bell of one stream of a conversation while it is open. Raises TooManyStreams."""
        with self._counted(principal):
            place = principal.tenant_id, conversation_id
            bell = Bell(principal.key)
            if self._closing:
                bell.close()
            self._bells[place].add(bell)
            try:
                yield bell
            finally:
                self._bells[place].discard(bell)
                if not self._bells[place]:
                    del self._bells[place]

    @contextmanager
    def tenant_bell(self, principal: VerifiedPrincipal) -> Iterator[TenantBell]:
        """Give the bell of one stream of all that changes in the tenant while it is open. Raises TooManyStreams."""
        with self._counted(principal):
            bell, crier = TenantBell(principal.key), self._criers.setdefault(principal.tenant_id, Crier())
            if self._closing:
                bell.close()
            crier.bells.add(bell)
            try:
                yield bell
            finally:
                crier.bells.discard(bell)
                if not crier.bells:
                    crier.stop()
                    del self._criers[principal.tenant_id]

    def heard_at(self, tenant_id: str) -> float:
        """When something was last heard that a queue shows, or may have been missed; on the hub's clock."""
        return max(self._heard_at.get(tenant_id, self._all_heard_at), self._all_heard_at)

    def follows(self, principal: VerifiedPrincipal, conversation_id: str) -> bool:
        """Whether `principal` has a stream of the conversation open in this process."""
        place = principal.tenant_id, conversation_id
        return any(bell.who == principal.key for bell in self._bells.get(place, ()))

    @contextmanager
    def _counted(self, principal: VerifiedPrincipal) -> Iterator[None]:
        who = f"{principal.tenant_id} {principal.key}"
        if self._held[who] >= self._per_principal_max or self.streams >= STREAMS_MAX:
            raise TooManyStreams("No more event streams can be opened now.", retry_after_s=RETRY_AFTER_S)
        self._held[who] += 1
        try:
            yield
        finally:
            self._held[who] -= 1
            self._held += Counter()  # drops what has come to nothing

    async def _hear(self) -> None:
        pause_s = _PAUSE_S
        while True:
            try:
                async with self._listen() as heard:
                    self.listening, pause_s = True, _PAUSE_S
                    log.info("events.heard")
                    self._ring_all()  # whatever was called out before this is in the log
                    async for one in heard:
                        self._ring(one)
            except (ConnectionError, TimeoutError) as fault:
                log.warning("events.unheard", cause=type(fault).__name__, again_in_s=round(pause_s, 1))
            finally:
                self.listening = False
            await asyncio.sleep(pause_s * random.uniform(0.8, 1.2))  # noqa: S311  spreads replicas, guards nothing
            pause_s = min(_PAUSE_MAX_S, pause_s * 2)

    def _ring(self, one: Heard) -> None:
        if one.in_log:
            for bell in self._bells.get((one.tenant_id, one.conversation_id), ()):
                bell.ring()
        if one.topic not in _BESIDE_THE_QUEUE:
            self._heard_at[one.tenant_id] = self._clock()
        if (crier := self._criers.get(one.tenant_id)) is not None:
            crier.hear(one)

    def _ring_all(self) -> None:
        self._all_heard_at = self._clock()
        for bell in self._every_bell():
            bell.ring_for_all()

    def _every_bell(self) -> Iterator[Bell]:
        for bells in self._bells.values():
            yield from bells
        for crier in self._criers.values():
            yield from crier.bells


def _tell_of_a_defect(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("hub.failed", **trace(fault))  # streams go on: they read, too, when their standing is looked up
