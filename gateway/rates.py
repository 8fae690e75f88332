"""Rates: how often one principal, and one tenant, may come; each has windows of its own, so that none starves another.

In memory and per process; what must hold across processes is a constraint of the store, not a rate.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from domain.principal import VerifiedPrincipal
from gateway.refusals import RateLimited
from settings import Settings

_FORGET_EVERY_S = 60.0


class MovingWindow:
    """At most `limit` admissions in any `span_s` seconds, per key. Exact, by the monotonic clock.

    The in-memory windows of `limits` go over every key each 10 ms in a thread of their own, live by the wall clock and
    never drop a key; these touch one key at a time and forget those that are quiet.
    """

    def __init__(self, limit: int, span_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._span_s, self._clock = limit, span_s, clock
        self._admitted: dict[str, deque[float]] = {}
        self._swept_at = clock()

    def wait_s(self, key: str) -> float:
        """Return 0 where one more is admitted now, else the seconds until it is. Admits nothing."""
        now = self._clock()
        admitted = self._admitted.get(key)
        if admitted is None:
            return 0.0
        while admitted and admitted[0] <= now - self._span_s:
            admitted.popleft()
        return 0.0 if len(admitted) < self._limit else admitted[0] + self._span_s - now

    def admit(self, key: str) -> None:
        """Count one admission."""
        now = self._clock()
        self._admitted.setdefault(key, deque()).append(now)
        if now - self._swept_at > _FORGET_EVERY_S:
            self._swept_at = now
            quiet = [k for k, admitted in self._admitted.items() if admitted[-1] <= now - self._span_s]
            for k in quiet:
                del self._admitted[k]

    def __len__(self) -> int:
        return len(self._admitted)


@dataclass(frozen=True)
class Rates:
    """The windows of one process: messages and other writes per principal, requests and new sessions per tenant."""

    messages: MovingWindow
    writes: MovingWindow
    tenants: MovingWindow
    sessions: MovingWindow

    @classmethod
    def of(cls, settings: Settings, clock: Callable[[], float] = time.monotonic) -> "Rates":
        """Return windows as wide as the settings say."""
        per_minute = settings.customer_messages_per_minute_max
        return cls(
            messages=MovingWindow(per_minute, 60.0, clock),
            writes=MovingWindow(per_minute, 60.0, clock),
            tenants=MovingWindow(settings.tenant_requests_per_second_max, 1.0, clock),
            sessions=MovingWindow(settings.sessions_per_minute_max, 60.0, clock),
        )

    def admit(self, principal: VerifiedPrincipal, *, writes: bool, message: bool) -> None:
        """Count a request where every window admits it. Raises RateLimited, and then counts it nowhere."""
        mine, tenant = f"{principal.tenant_id} {principal.key}", principal.tenant_id
        window = (self.messages if message else self.writes) if writes else None
        if window is not None and (wait_s := window.wait_s(mine)) > 0:
            raise _limited("This account sends", wait_s)
        if (wait_s := self.tenants.wait_s(tenant)) > 0:
            raise _limited("This organisation sends", wait_s)
        if window is not None:
            window.admit(mine)
        self.tenants.admit(tenant)

    def admit_tenant(self, tenant_id: str) -> None:
        """Count a request that the tenant itself has signed. Raises RateLimited, and then counts it nowhere."""
        if (wait_s := self.tenants.wait_s(tenant_id)) > 0:
            raise _limited("This organisation sends", wait_s)
        self.tenants.admit(tenant_id)

    def admit_session(self, whose: str) -> None:
        """Count a session of a tenant's visitors or of one customer. Raises RateLimited, and then counts it nowhere."""
        if (wait_s := self.sessions.wait_s(whose)) > 0:
            raise _limited("This organisation's chat begins sessions", wait_s)
        self.sessions.admit(whose)


def _limited(who: str, wait_s: float) -> RateLimited:
    return RateLimited(f"{who} faster than it may; nothing was stored.", retry_after_s=max(1, math.ceil(wait_s)))
