"""The stream of all that changes in a tenant, for its staff: which conversation, and what about it; never the words.

Whoever follows it reads what it needs by the routes. What it sends was put into bytes once for all its readers.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway.bells import TenantBell
from gateway.hub import Hub
from gateway.identity import Caller, Identity, Session
from gateway.standing import left_s, standing

HEARTBEAT_S = 15.0
STANDING_S = 30.0
STANDING_ON_CHANGE_S = 10.0  # what is told are ids: no need to look everybody up at each change
_OPENING = b": open\nretry: 2000\nid: 0\n\n"  # with an id, a browser says when it comes back that it was here
_HEARTBEAT = b": still here\n\n"


@dataclass
class StaffStream:
    """Tells one session what changes. `resumed`: it has broken off before, so anything may have changed meanwhile."""

    identity: Identity
    may_look: Callable[[Caller], Awaitable[bool]]
    session: Session
    resumed: bool
    clock: Callable[[], float] = time.monotonic

    async def follow(self, bell: TenantBell) -> AsyncGenerator[bytes, None]:
        """Yield frames until the stream has to end."""
        yield _OPENING
        if self.resumed:
            bell.ring_for_all()
        looked_at, beat_at = self.clock(), self.clock() + HEARTBEAT_S
        standing_at = self._standing_due_at()
        while not bell.closing:
            rung = await bell.wait(min(beat_at, standing_at) - self.clock())
            if self.clock() >= standing_at or (rung and self.clock() - looked_at >= STANDING_ON_CHANGE_S):
                now = await standing(self.identity, self.session, self.may_look)
                if now is None:
                    return
                self.session, looked_at = now, self.clock()
                standing_at = self._standing_due_at()
            if frames := bell.take():
                yield frames
            if self.clock() >= beat_at:
                beat_at = self.clock() + HEARTBEAT_S
                yield _HEARTBEAT

    def _standing_due_at(self) -> float:
        """When to look the bearer up again though nothing changes: every so often, and when the token runs out."""
        return self.clock() + min(STANDING_S, left_s(self.session))


class StaffEvents(StreamingResponse):
    """The answer that a staff stream is: it holds its bell until the reader is gone."""

    media_type = "text/event-stream"

    def __init__(self, stream: StaffStream, hub: Hub) -> None:
        super().__init__(_nothing(), headers={"X-Accel-Buffering": "no"})
        self._stream, self._hub = stream, hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send frames until there are no more. Raises TooManyStreams before anything is sent."""
        with self._hub.tenant_bell(self._stream.session.principal) as bell:
            async with aclosing(self._stream.follow(bell)) as frames:
                self.body_iterator = frames
                await super().__call__(scope, receive, send)


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
