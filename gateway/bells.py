"""Bells: what a stream waits on; one rings for a conversation, another for all that changes in a tenant.

A tenant's bell remembers which conversations rang it, each once, and gives up counting where they are too many.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from store.listening import Heard

CHANGES_HELD_MAX = 500


@dataclass(frozen=True)
class Change:
    """Something has changed about a conversation. `seq` 0: nothing in its log; `kind` None: more than one thing."""

    conversation_id: str
    seq: int
    kind: str | None


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
    """Rings for every change in a tenant, and remembers what rang it until that is taken."""

    def __init__(self, who: str) -> None:
        super().__init__(who)
        self._changes: dict[str, Change] = {}
        self._for_all = False

    def hear(self, one: Heard) -> None:
        """Remember what has changed, and ring."""
        new = Change(one.conversation_id, one.seq, one.topic)
        known = self._changes.get(one.conversation_id)
        if known is not None:
            kind = known.kind if known.kind == new.kind else None
            new = Change(new.conversation_id, max(known.seq, new.seq), kind)
        self._changes[one.conversation_id] = new
        if len(self._changes) > CHANGES_HELD_MAX:
            self.ring_for_all()
        self.ring()

    def ring_for_all(self) -> None:
        """Say that anything may be new."""
        self._changes.clear()
        self._for_all = True
        super().ring_for_all()

    def take_all(self) -> bool:
        """Return whether anything may be new, and forget it."""
        for_all, self._for_all = self._for_all, False
        return for_all

    def take(self, conversation_id: str) -> Change:
        """Return what has changed about a conversation that is in `waiting`, and forget it."""
        return self._changes.pop(conversation_id)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The conversations that have changed, in the order of their first change."""
        return tuple(self._changes)
