"""The log as it is read: events after a seq, for whoever may see them.

Staff see what lies behind an event (same seq, before the event itself); customers never do.
"""

from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import Event, EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from store import tables as t
from store.database import Database
from store.log import mine

PAGE_EVENTS_MAX = 500


class Page(Noun):
    """Events in order, and the version of the conversation at that moment."""

    events: tuple[Event, ...]
    version: int


async def events_after(
    db: Database, principal: VerifiedPrincipal, conversation_id: str, after: int, limit: int = PAGE_EVENTS_MAX
) -> Page:
    """Return the events with seq > `after` (at most `limit` seqs). Raises NotFound."""
    e, c = t.events.c, t.conversations.c
    async with db.transaction(principal.tenant_id) as tx:
        version = (
            await tx.execute(sa.select(c.version).where(c.id == conversation_id, mine(principal)))
        ).scalar_one_or_none()
        if version is None:
            raise NotFound("There is no such conversation.")
        first, last = max(after, 0) + 1, min(after + limit, version)
        if first > last:
            return Page(events=(), version=version)
        query = sa.select(t.events).where(e.conversation_id == conversation_id, e.seq.between(first, last))
        query = query.order_by(e.seq, (e.part == 0), e.part)
        if not principal.is_staff:
            query = query.where(e.part == 0)
        rows = (await tx.execute(query)).all()
    return Page(events=tuple(_event(r) for r in rows), version=version)


def _event(row: sa.Row[Any]) -> Event:
    return Event(
        seq=row.seq,
        event_id=str(row.event_id),
        kind=EventKind(row.kind),
        actor=row.actor,
        at=row.at,
        body=row.body,
    )
