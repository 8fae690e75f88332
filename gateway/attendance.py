"""Whether a customer is there: for as long as an event stream of theirs is open, and some seconds longer.

People of the staff say themselves what they are doing. Where it cannot be written down, the stream goes on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import structlog

from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.teamwork import PresenceState
from gateway.hub import Hub
from store.database import Database
from store.faults import passes
from store.presence import attend, leave

log = structlog.get_logger(__name__)

_CUSTOMERS = frozenset({PrincipalKind.CUSTOMER, PrincipalKind.ANONYMOUS})


@dataclass(frozen=True)
class Attendance:
    """Writes down that a customer follows one conversation, and that they do so no more."""

    db: Database
    hub: Hub
    conversation_id: str
    now: Callable[[], datetime]

    async def here(self, principal: VerifiedPrincipal) -> None:
        """Note that `principal` is there; it holds for longer than it is until the next time."""
        if principal.kind in _CUSTOMERS:
            with _if_possible():
                await attend(self.db, principal, self.conversation_id, PresenceState.LOOKING, self.now())

    async def gone(self, principal: VerifiedPrincipal) -> None:
        """Note that a stream of `principal` has ended, unless another of theirs is open here."""
        if principal.kind in _CUSTOMERS and not self.hub.follows(principal, self.conversation_id):
            with _if_possible():
                await leave(self.db, principal, self.conversation_id, self.now())


@contextmanager
def _if_possible() -> Iterator[None]:
    """Pass over a failure that passes by itself: presence runs out on its own."""
    try:
        yield
    except Exception as fault:
        if not passes(fault):
            raise
        log.warning("presence.unwritten", cause=type(fault).__name__)
