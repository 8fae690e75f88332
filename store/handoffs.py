"""The rows of handoffs: opened with the goal and what is unanswered, claimed by whoever takes over.

Inside the transactions of `ownership`, which hold the conversation's row.
"""

from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from domain.conversation import EventKind
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.understanding import Intent
from store import tables as t
from store.database import Tx


async def open_handoff(tx: Tx, conversation_id: str) -> sa.Row[Any] | None:
    """Return the conversation's open handoff, if there is one."""
    h = t.handoffs.c
    query = sa.select(t.handoffs).where(h.conversation_id == conversation_id, h.queue_status != QueueStatus.DONE.value)
    return (await tx.execute(query)).one_or_none()


async def insert_handoff(
    tx: Tx,
    row: sa.Row[Any],
    request_id: str,
    reason: HandoffReason,
    now: datetime,
    staff_id: str | None = None,
    intent: str | None = None,
    note: str | None = None,
) -> str:
    """Open a handoff, in the queue or claimed by `staff_id`, and return its id; `intent` is that of this turn."""
    handoff_id = str(uuid4())
    v = t.evidence.c
    latest = sa.select(v.evidence_id).where(v.conversation_id == row.id).order_by(v.observed_at.desc()).limit(1)
    await tx.execute(
        sa.insert(t.handoffs).values(
            id=handoff_id,
            tenant_id=row.tenant_id,
            conversation_id=row.id,
            request_id=request_id,
            reason=reason.value,
            note=note,
            goal=await _goal(tx, row.id, intent),
            queue_status=(QueueStatus.CLAIMED if staff_id else QueueStatus.WAITING).value,
            assignee=staff_id,
            claimed_at=now if staff_id else None,
            open_from_seq=row.answered_seq,
            through_seq=row.version,
            evidence_id=latest.scalar_subquery(),
        )
    )
    return handoff_id


_ASKING = Intent.ASKS_FOR_PERSON.value  # a wish for a person is a reason, not what the customer came for


async def _goal(tx: Tx, conversation_id: str, intent: str | None) -> str:
    """The label of what the customer was last understood to want, `intent` being that of this turn."""
    if intent is not None and intent != _ASKING:
        return intent
    e = t.events.c
    told = e.body["intent"].astext
    query = (
        sa.select(told)
        .where(e.conversation_id == conversation_id, e.kind == EventKind.UNDERSTANDING.value, told != _ASKING)
        .order_by(e.seq.desc())
        .limit(1)
    )
    return (await tx.execute(query)).scalar_one_or_none() or intent or "not_understood_yet"


async def claim_handoff(tx: Tx, row: sa.Row[Any], staff: VerifiedPrincipal, request_id: str, now: datetime) -> str:
    """Give the open handoff to `staff`, or open one that is theirs; return its id."""
    already = await open_handoff(tx, row.id)
    if already is None:
        key = f"{staff.key}:{request_id}"
        return await insert_handoff(tx, row, key, HandoffReason.STAFF_TAKEOVER, now, staff.id)
    await tx.execute(
        sa.update(t.handoffs)
        .where(t.handoffs.c.id == already.id)
        .values(queue_status=QueueStatus.CLAIMED.value, assignee=staff.id, claimed_at=now)
    )
    return str(already.id)
