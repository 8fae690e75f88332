"""When a write reached the shop, also where the whole process was stopped while the request lay in a socket.

A clock ticks in the event loop; a gap between ticks is a stall, and what arrives just after it counts from its start.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

TICK_S = 0.25
STALL_S = 1.0
#: requests this soon after a stall may have waited since its beginning
GRACE_S = 1.0


@dataclass
class ArrivalClock:
    """Monotonic seconds at which a request that is seen now may have arrived, at the earliest."""

    last_tick_s: float = field(default_factory=time.monotonic)
    stall_began_s: float = 0.0
    stall_ended_s: float = float("-inf")

    def arrived_s(self) -> float:
        """Now, or the beginning of a stall that has only just ended."""
        now = self._tick()
        return self.stall_began_s if now - self.stall_ended_s < GRACE_S else now

    async def run(self) -> None:
        """Ticks until cancelled."""
        while True:
            self._tick()
            await asyncio.sleep(TICK_S)

    def _tick(self) -> float:
        now = time.monotonic()
        if now - self.last_tick_s > STALL_S:
            self.stall_began_s, self.stall_ended_s = self.last_tick_s, now
        self.last_tick_s = now
        return now
