"""The rows of handoffs: opened with the goal and what is unanswered, claimed by whoever takes over.

Inside the transactions of `ownership`, which hold the conversation's row.
"""

from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from domain.action import ActionState
from domain.conversation import EventKind
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.summary import Summary
from domain.understanding import Intent, Need
from domain.urgency import Marks, urgency_of
from store import tables as t
from store.database import Tx
from store.desk import standing_desk


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
    summary: Summary | None = None,
    understood: dict[str, Any] | None = None,
) -> str:
    """Open a handoff, in the queue or claimed by `staff_id`, and return its id; `intent` is that of this turn.

    `summary` is that of the conversation up to now, and `understood` what was understood, where this turn has made
    them. How urgent it is, and which skill it takes, is judged now, by the desk's document of now.
    """
    handoff_id = str(uuid4())
    goal, document = await _goal(tx, row.id, intent, summary), (await standing_desk(tx)).document
    judged = urgency_of(document.urgency, reason.value, await _marks(tx, row.id, goal, understood))
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
            goal=goal,
            queue_status=(QueueStatus.CLAIMED if staff_id else QueueStatus.WAITING).value,
            assignee=staff_id,
            claimed_at=now if staff_id else None,
            open_from_seq=row.answered_seq,
            through_seq=row.version,
            evidence_id=latest.scalar_subquery(),
            urgency=judged.urgency.rank,
            urgency_why=judged.why,
            skill=document.skills.by_intent.get(goal),
        )
    )
    return handoff_id


_NEEDS = tuple(intent.value for intent in Intent if intent.is_need)  # a wish for a person is a reason, and no need


async def _goal(tx: Tx, conversation_id: str, intent: str | None, summary: Summary | None) -> str:
    """The label of what the customer was last understood to want, `intent` being that of this turn."""
    if intent in _NEEDS:
        return str(intent)
    if summary is not None and summary.goals:
        return summary.goals[-1].intent.value
    e = t.events.c
    told = sa.func.coalesce(e.body["meant"].astext, e.body["intent"].astext)
    query = (
        sa.select(told)
        .where(e.conversation_id == conversation_id, e.kind == EventKind.UNDERSTANDING.value, told.in_(_NEEDS))
        .order_by(e.seq.desc())
        .limit(1)
    )
    return (await tx.execute(query)).scalar_one_or_none() or intent or "not_understood_yet"


async def _marks(tx: Tx, conversation_id: str, goal: str, understood: dict[str, Any] | None) -> Marks:
    """What is known of the matter when the handoff opens."""
    e, a = t.events.c, t.actions.c
    if understood is None:
        last = sa.select(e.body).where(e.conversation_id == conversation_id, e.kind == EventKind.UNDERSTANDING.value)
        understood = (await tx.execute(last.order_by(e.seq.desc()).limit(1))).scalar_one_or_none() or {}
    unknown = sa.exists().where(a.conversation_id == conversation_id, a.state == ActionState.UNKNOWN.value)
    return Marks.of(understood, goal, money_unknown=(await tx.execute(sa.select(unknown))).scalar_one())


async def left_open(tx: Tx, conversation_id: str, through_seq: int) -> tuple[str, ...]:
    """Return what the last turn before a handoff left open, one plain line each: what waits, and what was asked.

    `through_seq` is where the log ended when the handoff opened.
    """
    e = t.events.c
    handed = sa.select(sa.func.min(e.seq)).where(
        e.conversation_id == conversation_id, e.kind == EventKind.OWNER_CHANGED.value, e.seq > through_seq
    )
    bound = sa.func.coalesce(handed.scalar_subquery(), through_seq)

    def last(kind: EventKind) -> sa.Select[Any]:
        mine = sa.and_(e.conversation_id == conversation_id, e.kind == kind.value, e.seq <= bound)
        return sa.select(e.seq, e.body).where(mine).order_by(e.seq.desc()).limit(1)

    turn = (await tx.execute(last(EventKind.UNDERSTANDING))).one_or_none()
    if turn is None:
        return ()
    kept = (await tx.execute(last(EventKind.SUMMARY))).one_or_none()
    if kept is not None and kept.seq == turn.seq:
        asked = [q.question for q in Summary.model_validate(kept.body).open_questions]
    else:
        asked = [turn.body["question"]] if turn.body.get("question") else []
    waiting = [Need.model_validate(need) for need in turn.body.get("waiting", ())]
    return (
        *(f"asked for and not dealt with yet: {_label(need)}" for need in waiting),
        *(f"the customer was asked and has not answered: {question}" for question in asked),
    )


def _label(need: Need) -> str:
    return f"{need.intent.value} of {need.resource}" if need.resource else need.intent.value


async def claim_handoff(
    tx: Tx,
    row: sa.Row[Any],
    staff: VerifiedPrincipal,
    request_id: str,
    now: datetime,
    reason: HandoffReason = HandoffReason.STAFF_TAKEOVER,
    intent: str | None = None,
) -> str:
    """Give the open handoff to `staff`, or open one that is theirs, for `reason` and of that intent; return its id."""
    already = await open_handoff(tx, row.id)
    if already is None:
        return await insert_handoff(tx, row, f"{staff.key}:{request_id}", reason, now, staff.id, intent)
    await tx.execute(
        sa.update(t.handoffs)
        .where(t.handoffs.c.id == already.id)
        .values(
            queue_status=QueueStatus.CLAIMED.value,
            assignee=staff.id,
            claimed_at=sa.func.coalesce(t.handoffs.c.claimed_at, now),  # how long it waited for the first of them
        )
    )
    await tx.execute(sa.delete(t.handoff_claims).where(t.handoff_claims.c.handoff_id == already.id))
    return str(already.id)
