"""What every list tells of a conversation beside what it lists: columns and joins, in one place.

Nothing here is a statement of its own.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.conversation import EventKind
from store import tables as t
from store.pipeline import Row

_c, _n, _z = t.conversations.c, t.assignments.c, t.snoozes.c

FACTS = (
    _c.language,
    _c.channel,
    _c.principal_id,
    _c.owner,
    _c.holder,
    _n.staff_id.label("assigned_to"),
    _z.until_at.label("snoozed_until"),
)


NOW = sa.bindparam("now", type_=sa.DateTime(timezone=True))


def beside_row(source: sa.FromClause) -> sa.Join:
    """Return `source`, in which a conversation is, joined with whose it is and until when it sleeps at `:now`."""
    sleeps = sa.and_(_z.conversation_id == _c.id, _z.until_at > NOW, _z.customer_seq >= _c.customer_seq)
    return source.outerjoin(t.assignments, _n.conversation_id == _c.id).outerjoin(t.snoozes, sleeps)


def facts_of(row: Row) -> dict[str, Any]:
    """Return the facts of a row by the names that `Waiting` has for them."""
    return {
        "language": row.language,
        "channel": row.channel,
        "customer_id": row.principal_id,
        "owner": row.owner,
        "holder": row.holder,
        "assigned_to": row.assigned_to,
        "snoozed_until": row.snoozed_until,
    }


def unanswered_since() -> sa.Case[datetime]:
    """Return when the oldest message of the customer came that nobody has answered, or null."""
    e = t.events.c
    oldest = sa.select(sa.func.min(e.at)).where(
        e.conversation_id == _c.id, e.seq > _c.answered_seq, e.part == 0, e.kind == EventKind.CUSTOMER_MESSAGE.value
    )
    return sa.case((_c.customer_seq > _c.answered_seq, oldest.scalar_subquery()))
