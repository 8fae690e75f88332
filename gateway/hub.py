"""One ear per process on the log of everybody, and a bell for each event stream that waits on a conversation.

A bell holds nothing but that it has rung: what has happened is read from the store, so slow readers cost no memory.
"""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress

import structlog

from domain.principal import VerifiedPrincipal
from domain.trace import trace
from gateway.refusals import TooManyStreams
from store.listening import Heard

log = structlog.get_logger(__name__)

STREAMS_MAX = 5_000
RETRY_AFTER_S = 5
_PAUSE_S, _PAUSE_MAX_S = 0.2, 5.0

Listen = Callable[[], AbstractAsyncContextManager[AsyncIterator[Heard]]]
Place = tuple[str, str]  # tenant, conversation


class Bell:
    """Rings when there may be something new, and when it is time to go."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self.closing = False

    def ring(self) -> None:
        """Say that there may be something new."""
        self._rung.set()

    def close(self) -> None:
        """Say that the stream has to end."""
        self.closing = True
        self._rung.set()

    async def wait(self, timeout_s: float) -> bool:
        """Return whether it rang within `timeout_s`, or had rung since the last wait; it is silent again then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, timeout_s)):
                await self._rung.wait()
        rung = self._rung.is_set()
        self._rung.clear()
        return rung


class Hub:
    """Hears every event and rings the bells of its conversation; after a silence of its own it rings them all."""

    def __init__(self, listen: Listen, streams_per_principal_max: int) -> None:
        self._listen, self._per_principal_max = listen, streams_per_principal_max
        self._bells: defaultdict[Place, set[Bell]] = defaultdict(set)
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
        for bells in self._bells.values():
            for bell in bells:
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
        """Give the bell of one stream while it is open. Raises TooManyStreams."""
        who, place = f"{principal.tenant_id} {principal.key}", (principal.tenant_id, conversation_id)
        if self._held[who] >= self._per_principal_max or self.streams >= STREAMS_MAX:
            raise TooManyStreams("No more event streams can be opened now.", retry_after_s=RETRY_AFTER_S)
        bell = Bell()
        if self._closing:
            bell.close()
        self._held[who] += 1
        self._bells[place].add(bell)
        try:
            yield bell
        finally:
            self._held[who] -= 1
            self._held += Counter()  # drops what has come to nothing
            self._bells[place].discard(bell)
            if not self._bells[place]:
                del self._bells[place]

    async def _hear(self) -> None:
        pause_s = _PAUSE_S
        while True:
            try:
                async with self._listen() as heard:
                    self.listening, pause_s = True, _PAUSE_S
                    log.info("events.heard")
                    self._ring_all()  # whatever was called out before this is in the log
                    async for one in heard:
                        self._ring((one.tenant_id, one.conversation_id))
            except (ConnectionError, TimeoutError) as fault:
                log.warning("events.unheard", cause=type(fault).__name__, again_in_s=round(pause_s, 1))
            finally:
                self.listening = False
            await asyncio.sleep(pause_s * random.uniform(0.8, 1.2))  # noqa: S311  spreads replicas, guards nothing
            pause_s = min(_PAUSE_MAX_S, pause_s * 2)

    def _ring(self, place: Place) -> None:
        for bell in self._bells.get(place, ()):
            bell.ring()

    def _ring_all(self) -> None:
        for bells in self._bells.values():
            for bell in bells:
                bell.ring()


def _tell_of_a_defect(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("hub.failed", **trace(fault))  # streams go on: they read, too, when their standing is looked up
