"""The log as it is read: events after a seq, for whoever may see them.

Staff see what lies behind an event (same seq, before the event itself); customers never do.
"""

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import Event, EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from store import tables as t
from store.database import Database
from store.log import ONE_OF_MINE, whose
from store.pipeline import Row, Statement

PAGE_EVENTS_MAX = 500
SEQ_MAX = 2**31 - 1


class Page(Noun):
    """Events in order, and the version of the conversation at that moment."""

    events: tuple[Event, ...]
    version: int


_VERSION = Statement(ONE_OF_MINE.with_only_columns(t.conversations.c.version))
_EVENTS = Statement(
    sa.select(t.events)
    .where(
        t.events.c.conversation_id == ONE_OF_MINE.with_only_columns(t.conversations.c.id).scalar_subquery(),
        t.events.c.seq >= sa.bindparam("first", type_=sa.BigInteger),
        t.events.c.seq <= sa.bindparam("last", type_=sa.BigInteger),
        sa.or_(t.events.c.part == 0, sa.bindparam("behind", type_=sa.Boolean)),
    )
    .order_by(t.events.c.seq, (t.events.c.part == 0), t.events.c.part)
)


async def events_after(
    db: Database, principal: VerifiedPrincipal, conversation_id: str, after: int, limit: int = PAGE_EVENTS_MAX
) -> Page:
    """Return the events with seq > `after` (at most `limit` seqs). Raises NotFound."""
    who = {"conversation_id": conversation_id, **whose(principal)}
    after = min(max(after, 0), SEQ_MAX)
    versions, rows = await db.at_once(
        principal.tenant_id,
        _VERSION(**who),
        _EVENTS(**who, first=after + 1, last=after + limit, behind=principal.is_staff),
    )
    if not versions:
        raise NotFound("There is no such conversation.")
    version = versions[0].version
    return Page(events=tuple(_event(r) for r in rows if r.seq <= version), version=version)


def _event(row: Row) -> Event:
    return Event(
        seq=row.seq,
        event_id=str(row.event_id),
        kind=EventKind(row.kind),
        actor=row.actor,
        at=row.at,
        body=row.body,
    )
