"""One event stream: reads the log from where its reader stands whenever its bell rings, and says so when nothing does.

It ends when its token does, when its bearer may no longer come, when the reader leaves, and when the process stops.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway.attendance import Attendance
from gateway.bells import Bell
from gateway.hub import Hub
from gateway.identity import Caller, Identity, Session
from gateway.standing import left_s, standing
from gateway.wire import sse
from store.database import Database
from store.events import Page, events_after
from store.faults import passes

log = structlog.get_logger(__name__)

HEARTBEAT_S = 15.0
STANDING_S = 30.0
RETRY_S = 2.0
PAGE_EVENTS = 100
_OPENING = b": open\nretry: 2000\n\n"
_HEARTBEAT = b": still here\n\n"


@dataclass
class Stream:
    """Follows one conversation for one session, from `after` on."""

    db: Database
    identity: Identity
    may_read: Callable[[Caller], Awaitable[bool]]
    session: Session
    conversation_id: str
    after: int
    attendance: Attendance
    clock: Callable[[], float] = time.monotonic
    _frames: list[bytes] = field(default_factory=list)
    _unread: bool = False

    async def begin(self) -> None:
        """Read what is there already. Raises NotFound, while there is still time to answer so."""
        self._take(await self._page())

    async def follow(self, bell: Bell) -> AsyncGenerator[bytes, None]:
        """Yield frames until the stream has to end."""
        yield _OPENING
        await self.attendance.here(self.session.principal)
        beat_at, standing_at = self.clock() + HEARTBEAT_S, self._standing_due_at()
        while not bell.closing:
            for frame in self._frames:
                yield frame
            self._frames, had = [], bool(self._frames)
            pause_s = 0.0 if self._unread and had else RETRY_S if self._unread else HEARTBEAT_S
            rung = await bell.wait(min(pause_s, beat_at - self.clock(), standing_at - self.clock()))
            if self.clock() >= standing_at or (rung and self.session.principal.is_staff):
                if not await self._still_good():
                    return
                standing_at, rung = self._standing_due_at(), True  # a missed call is made good here at the latest
            if self.clock() >= beat_at:
                beat_at = self.clock() + HEARTBEAT_S
                yield _HEARTBEAT
                await self.attendance.here(self.session.principal)
            if self._unread or rung:
                await self._read()

    def _standing_due_at(self) -> float:
        """When to look the bearer up again: every so often, and when the token runs out."""
        return self.clock() + min(STANDING_S, left_s(self.session))

    async def _read(self) -> None:
        try:
            self._take(await self._page())
        except Exception as fault:
            if not passes(fault):
                raise
            log.warning("stream.delayed", cause=type(fault).__name__, conversation=self.conversation_id)
            self._unread = True

    async def _page(self) -> Page:
        return await events_after(self.db, self.session.principal, self.conversation_id, self.after, limit=PAGE_EVENTS)

    def _take(self, page: Page) -> None:
        if page.events:
            self.after = page.events[-1].seq
        self._frames = sse(page.events, self.session.principal)
        self._unread = bool(page.events) and self.after < page.version

    async def _still_good(self) -> bool:
        now = await standing(self.identity, self.session, self.may_read)
        if now is None:
            log.info("stream.ended", conversation=self.conversation_id)
            return False
        self.session = now
        return True


class EventStream(StreamingResponse):
    """The answer that a stream is: it holds its bell from before the first read until the reader is gone."""

    media_type = "text/event-stream"

    def __init__(self, stream: Stream, hub: Hub) -> None:
        super().__init__(_nothing(), headers={"X-Accel-Buffering": "no"})
        self._stream, self._hub = stream, hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send frames until there are no more. Raises TooManyStreams and NotFound before anything is sent."""
        principal = self._stream.session.principal
        with self._hub.bell(principal, self._stream.conversation_id) as bell:
            await self._stream.begin()
            async with aclosing(self._stream.follow(bell)) as frames:
                self.body_iterator = frames
                await super().__call__(scope, receive, send)
        await self._stream.attendance.gone(principal)


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
