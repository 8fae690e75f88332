"""A crier: tells all who follow one tenant what changes there; each change is put into bytes once, for all of them.

Changes that come fast are told together: of one conversation four times a second at most.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from gateway.bells import TenantBell
from store.listening import Heard

APART_S = 0.1  # between two frames about one conversation; the first goes at once
CHANGES_HELD_MAX = 500


@dataclass(frozen=True)
class Change:
    """Something has changed about a conversation. `seq` 0: nothing in its log; `kind` None: more than one thing."""

    conversation_id: str
    seq: int
    kind: str | None

    def and_then(self, later: "Change") -> "Change":
        """Return both as one."""
        kind = self.kind if self.kind == later.kind else None
        return Change(self.conversation_id, max(self.seq, later.seq), kind)

    def frame(self) -> bytes:
        """Return it as an event of a stream."""
        return f"event: changed\ndata: {json.dumps(asdict(self), separators=(',', ':'))}\n\n".encode()


class Crier:
    """Remembers what has changed until it may be told, then rings the bells of all streams of its tenant."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bells: set[TenantBell] = set()
        self._clock = clock
        self._changes: dict[str, Change] = {}
        self._told_at: dict[str, float] = {}
        self._next: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def hear(self, one: Heard) -> None:
        """Remember what has changed; it is told as soon as this moment's other changes are heard too."""
        new = Change(one.conversation_id, one.seq, one.topic)
        known = self._changes.get(one.conversation_id)
        self._changes[one.conversation_id] = known.and_then(new) if known else new
        if len(self._changes) > CHANGES_HELD_MAX:
            self.ring_for_all()
        else:
            self._tell_at(self._told_at.get(one.conversation_id, self._clock() - APART_S) + APART_S)

    def ring_for_all(self) -> None:
        """Say that anything may be new."""
        self._changes.clear()
        for bell in self.bells:
            bell.ring_for_all()

    def stop(self) -> None:
        """Tell nothing more."""
        if self._next is not None:
            self._next.cancel()

    def _tell_at(self, due_at: float) -> None:
        if self._next is None or due_at < self._next_at:
            self.stop()
            in_s = max(0.0, due_at - self._clock())
            self._next, self._next_at = asyncio.get_running_loop().call_later(in_s, self._tell), due_at

    def _tell(self) -> None:
        self._next, now = None, self._clock()
        self._told_at = {known: at for known, at in self._told_at.items() if now - at < APART_S}
        due = [one for one in self._changes if one not in self._told_at]
        self._told_at |= dict.fromkeys(due, now)
        if frames := b"".join(self._changes.pop(one).frame() for one in due):
            for bell in self.bells:
                bell.tell(frames)
        if self._changes:
            self._tell_at(min(self._told_at[one] for one in self._changes) + APART_S)
