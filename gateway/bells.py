"""Bells: what a stream waits on; one rings for a conversation, another for all that changes in a tenant.

A conversation's bell holds nothing; a tenant's holds what its stream has not sent yet, up to a limit.
"""

import asyncio
from contextlib import suppress

FRAMES_HELD_MAX = 500
EVERYTHING = b'event: changed\ndata: {"conversation_id":null,"seq":0,"kind":null}\n\n'


class Bell:
    """Rings when there may be something new, and when it is time to go. `who` holds it (`kind:id`)."""

    def __init__(self, who: str) -> None:
        self.who = who
        self._rung = asyncio.Event()
        self.closing = False

    def ring(self) -> None:
        """Say that there may be something new."""
        self._rung.set()

    def ring_for_all(self) -> None:
        """Say that anything may be new."""
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


class TenantBell(Bell):
    """Rings for every change in a tenant, and holds the frames that tell of it until they are taken."""

    def __init__(self, who: str) -> None:
        super().__init__(who)
        self._frames: list[bytes] = []

    def tell(self, frames: bytes) -> None:
        """Hold what is to be told, and ring; who takes nothing for long hears that anything may have changed."""
        if len(self._frames) < FRAMES_HELD_MAX:
            self._frames.append(frames)
            self.ring()
        else:
            self.ring_for_all()

    def ring_for_all(self) -> None:
        """Say that anything may be new."""
        self._frames = [EVERYTHING]
        super().ring_for_all()

    def take(self) -> bytes:
        """Return what is to be told, and hold it no longer."""
        frames, self._frames = self._frames, []
        return b"".join(frames)
