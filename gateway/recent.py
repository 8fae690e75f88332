"""What takes a while to count and is asked for by many: one count at a time, given to all who ask within some seconds.

In memory and per process; what is counted for one tenant is never given to another.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

KEEP_S = 15.0
KEPT_MAX = 200

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Count(Generic[Found]):
    task: asyncio.Task[Found]
    good_until: float


class Recent(Generic[Found]):
    """Counts by tenant and key; one that failed is not kept, and everybody who waited for it is told."""

    def __init__(self, keep_s: float = KEEP_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep_s, self._clock = keep_s, clock
        self._counts: dict[tuple[str, str], _Count[Found]] = {}

    async def of(self, tenant_id: str, key: str, count: Callable[[], Awaitable[Found]]) -> Found:
        """Return what `count` found within the last seconds, counting where nobody has."""
        now, place = self._clock(), (tenant_id, key)
        kept = self._counts.get(place)
        if kept is None or kept.good_until <= now or (kept.task.done() and _failed(kept.task)):
            self._sweep(now)
            kept = _Count(asyncio.ensure_future(_counted(count)), now + self._keep_s)
            self._counts[place] = kept
        return await asyncio.shield(kept.task)  # one who leaves takes nothing from the others

    def _sweep(self, now: float) -> None:
        self._counts = {place: c for place, c in self._counts.items() if c.good_until > now}
        while len(self._counts) >= KEPT_MAX:
            del self._counts[next(iter(self._counts))]


async def _counted(count: Callable[[], Awaitable[Found]]) -> Found:
    return await count()


def _failed(task: asyncio.Task[Found]) -> bool:
    return task.cancelled() or task.exception() is not None
