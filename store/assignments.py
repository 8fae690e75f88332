"""Whose a conversation is among the staff, and until when it sleeps: both one row a conversation, or none.

Who is assigned owns nothing: they are asked to look at it. What sleeps is only kept out of the queue.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.principal import VerifiedPrincipal
from domain.refusal import Refusal
from domain.teamwork import Topic
from store import tables as t
from store.beside import beside, ring
from store.database import Database, Tx

_a, _z, _s, _c = t.assignments.c, t.snoozes.c, t.staff.c, t.conversations.c


async def assign(
    db: Database, staff: VerifiedPrincipal, conversation_id: str, to: str | None, now: datetime
) -> str | None:
    """Assign the conversation to a person of the staff, or to nobody; return who has it.

    Raises NotFound, and Refusal where there is no such person.
    """
    async with beside(db, staff, conversation_id) as (tx, _):
        if to is None:
            await tx.execute(sa.delete(t.assignments).where(_a.conversation_id == conversation_id))
        else:
            await _require_colleague(tx, to)
            new = {"staff_id": to, "assigned_by": staff.key, "assigned_at": now}
            await tx.execute(
                insert(t.assignments)
                .values(conversation_id=conversation_id, tenant_id=staff.tenant_id, **new)
                .on_conflict_do_update(index_elements=["conversation_id"], set_=new)
            )
        await ring(tx, staff.tenant_id, conversation_id, Topic.ASSIGNEE)
    return to


async def _require_colleague(tx: Tx, staff_id: str) -> None:
    here = sa.select(_s.id).where(_s.id == staff_id, _s.revoked_at.is_(None))
    if (await tx.execute(here)).one_or_none() is None:
        raise Refusal("Nobody of that id works here; GET /staff lists who does.")


async def snooze(
    db: Database, staff: VerifiedPrincipal, conversation_id: str, until: datetime | None, now: datetime
) -> datetime | None:
    """Let a conversation sleep until a time, or wake it; return until when it sleeps. Raises NotFound.

    What the customer writes after this moment wakes it, too.
    """
    async with beside(db, staff, conversation_id) as (tx, row):
        if until is None:
            await tx.execute(sa.delete(t.snoozes).where(_z.conversation_id == conversation_id))
        else:
            new = {"until_at": until, "snoozed_by": staff.key, "snoozed_at": now, "customer_seq": row.customer_seq}
            await tx.execute(
                insert(t.snoozes)
                .values(conversation_id=conversation_id, tenant_id=staff.tenant_id, **new)
                .on_conflict_do_update(index_elements=["conversation_id"], set_=new)
            )
        await ring(tx, staff.tenant_id, conversation_id, Topic.SNOOZE)
    return until


def asleep(now: datetime) -> sa.ColumnElement[bool]:
    """Return the condition under which a conversation sleeps, over `conversations` joined with its row of `snoozes`."""
    return sa.and_(_z.until_at > now, _c.customer_seq <= _z.customer_seq)


async def assignee_of(tx: Tx, conversation_id: str) -> str | None:
    """Return who has the conversation, if anybody has."""
    query = sa.select(_a.staff_id).where(_a.conversation_id == conversation_id)
    return (await tx.execute(query)).scalar_one_or_none()


async def snoozed_until(tx: Tx, conversation_id: str, now: datetime) -> datetime | None:
    """Return until when the conversation sleeps, or None where it is awake."""
    query = sa.select(_z.until_at).join(t.conversations, _c.id == _z.conversation_id)
    return (await tx.execute(query.where(_z.conversation_id == conversation_id, asleep(now)))).scalar_one_or_none()
