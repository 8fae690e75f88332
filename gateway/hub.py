"""One ear per process on the log of everybody, and a bell for each event stream that waits.

A conversation's bell holds nothing but that it has rung, a tenant's which conversations rang it, up to a limit. What
has happened is read from the store, so slow readers cost no memory.
"""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import TypeVar

import structlog

from domain.principal import VerifiedPrincipal
from domain.trace import trace
from gateway.bells import Bell, TenantBell
from gateway.refusals import TooManyStreams
from store.listening import Heard

log = structlog.get_logger(__name__)

STREAMS_MAX = 5_000
RETRY_AFTER_S = 5
_PAUSE_S, _PAUSE_MAX_S = 0.2, 5.0

Listen = Callable[[], AbstractAsyncContextManager[AsyncIterator[Heard]]]
Place = tuple[str, str]  # tenant, conversation
K = TypeVar("K")
B = TypeVar("B", bound=Bell)


class Hub:
    """Hears every change and rings the bells that wait for it; after a silence of its own it rings them all."""

    def __init__(self, listen: Listen, streams_per_principal_max: int) -> None:
        self._listen, self._per_principal_max = listen, streams_per_principal_max
        self._bells: defaultdict[Place, set[Bell]] = defaultdict(set)
        self._tenant_bells: defaultdict[str, set[TenantBell]] = defaultdict(set)
        self._held: Counter[str] = Counter()
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
            with _hung(self._bells, place, bell, closing=self._closing):
                yield bell

    @contextmanager
    def tenant_bell(self, principal: VerifiedPrincipal) -> Iterator[TenantBell]:
        """Give the bell of one stream of all that changes in the tenant while it is open. Raises TooManyStreams."""
        with self._counted(principal):
            bell = TenantBell(principal.key)
            with _hung(self._tenant_bells, principal.tenant_id, bell, closing=self._closing):
                yield bell

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
        for tenant_bell in self._tenant_bells.get(one.tenant_id, ()):
            tenant_bell.hear(one)

    def _ring_all(self) -> None:
        for bell in self._every_bell():
            bell.ring_for_all()

    def _every_bell(self) -> Iterator[Bell]:
        for of_places in (self._bells, self._tenant_bells):
            for bells in of_places.values():
                yield from bells


@contextmanager
def _hung(bells: defaultdict[K, set[B]], place: K, bell: B, *, closing: bool) -> Iterator[None]:
    """Hang a bell where it can be rung; it is taken away again in the end."""
    if closing:
        bell.close()
    bells[place].add(bell)
    try:
        yield
    finally:
        bells[place].discard(bell)
        if not bells[place]:
            del bells[place]


def _tell_of_a_defect(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("hub.failed", **trace(fault))  # streams go on: they read, too, when their standing is looked up
