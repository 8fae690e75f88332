"""The standing of whoever follows a stream: looked up again while it is open, as at every request.

It is lost with the token, with the bearer's place, and with the right to look.
"""

import time
from collections.abc import Awaitable, Callable

import structlog

from domain.refusal import NotFound
from gateway.identity import LEEWAY_S, Caller, Identity, Session
from gateway.refusals import CustomerBlocked, Unauthenticated
from store.faults import passes

log = structlog.get_logger(__name__)

LEAST_S = 0.1


def left_s(session: Session) -> float:
    """Return the seconds until the session's token runs out, at least a moment."""
    return max(LEAST_S, session.claims.expires_at + LEEWAY_S - time.time())


async def standing(
    identity: Identity, session: Session, may_look: Callable[[Caller], Awaitable[bool]]
) -> Session | None:
    """Return the session as it stands now, or None where its stream has to end.

    Where the database is away it stands as it did: nothing can be read meanwhile either.
    """
    try:
        now = await identity.renewed(session)
        if await may_look(now.principal):
            return now
        cause = NotFound.slug
    except (Unauthenticated, CustomerBlocked) as no:
        cause = no.slug
    except Exception as fault:
        if not passes(fault):
            raise
        log.warning("standing.unknown", cause=type(fault).__name__)
        return session
    log.info("standing.lost", cause=cause)
    return None
