"""What waits for people: everything that is open, as it is sorted by policy.

Everything here is read, in one round trip; claiming, taking over and deciding have modules of their own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.desk import BY_RANK, DeskSettings
from domain.handoff import HandoffReason, QueueStatus
from domain.urgency import Marks, urgency_of
from domain.waiting import Hold, Person, Waiting, WaitingKind
from store import tables as t
from store.conversation_facts import FACTS, NOW, beside_row, facts_of, unanswered_since
from store.database import Database, Tx
from store.desk import LAST_DESK, StandingDesk, to_desk
from store.pipeline import Row, Statement, run
from store.waiting_approvals import WAITING_APPROVALS, to_approvals

PAGE_MAX = 200
OPEN_MAX = 5_000  # of each kind; what is beyond that is the least urgent, or the youngest
# What a person took without anybody having waited for them.
_OF_THEIR_OWN_ACCORD = (HandoffReason.STAFF_TAKEOVER.value, HandoffReason.DRAFT_REJECTED.value)
TAKEN_MAX = 1_000  # handoffs that an estimate looks back on

_h, _k, _c, _d = t.handoffs.c, t.cases.c, t.conversations.c, t.drafts.c
_claims, _s = t.handoff_claims.c, t.staff.c
_DONE, _HOUR = QueueStatus.DONE.value, timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Look:
    """All that is open at one moment, the document that it is sorted by, and what was taken lately."""

    waiting: list[Waiting]
    desk: StandingDesk
    able: dict[str, Person]  # the staff of whom something special is known, by id
    waits_s: list[float]  # of the handoffs that were taken since the moment asked about
    done_last_hour: int


def _handoffs(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The open handoffs that meet these conditions: the most urgent first, then the oldest."""
    holds = sa.and_(_claims.handoff_id == _h.id, _claims.until_at > NOW)
    works = sa.and_(_s.tenant_id == _claims.tenant_id, _s.id == _claims.staff_id, _s.revoked_at.is_(None))
    unanswered = sa.case((_h.first_reply_at.is_not(None), unanswered_since()))
    columns = (_h.id, _h.conversation_id, _h.reason, _h.goal, _h.queue_status, _h.assignee, _h.opened_at, _h.skill)
    more = (_h.first_reply_at, _h.urgency, _h.urgency_why, _s.id.label("claimed_by"), _claims.until_at)
    source = beside_row(t.handoffs.join(t.conversations, _c.id == _h.conversation_id))
    return (
        sa.select(*columns, *more, *FACTS, unanswered.label("unanswered_at"))
        .select_from(source.outerjoin(t.handoff_claims, holds).outerjoin(t.staff, works))
        .where(_h.queue_status != _DONE, *conditions)
        .order_by(_h.urgency, _h.opened_at)
        .limit(OPEN_MAX)
    )


def _cases() -> sa.Select[Any]:
    return (
        sa.select(_k.id, _k.conversation_id, _k.operation_id, _k.kind, _k.queue_status, _k.assignee, _k.opened_at)
        .add_columns(*FACTS)
        .select_from(beside_row(t.cases.outerjoin(t.conversations, _c.id == _k.conversation_id)))
        .where(_k.queue_status != _DONE)
        .order_by(_k.opened_at)
        .limit(OPEN_MAX)
    )


def _drafts() -> sa.Select[Any]:
    """Drafts that can still be sent: nothing has changed since they were made."""
    standing = sa.and_(_c.id == _d.conversation_id, _c.owner_epoch == _d.owner_epoch, _c.customer_seq <= _d.through_seq)
    return (
        sa.select(_d.draft_id, _d.conversation_id, _d.intent, _d.made_at, *FACTS)
        .select_from(beside_row(t.drafts.join(t.conversations, standing)))
        .where(_d.state == "waiting")
        .order_by(_d.made_at)
        .limit(OPEN_MAX)
    )


def _taken() -> sa.Select[Any]:
    """How many seconds each handoff that was taken `:since` had waited for the first who took it."""
    return (
        sa.select(sa.cast(sa.func.extract("epoch", _h.claimed_at - _h.opened_at), sa.Float).label("s"))
        .where(_h.claimed_at >= sa.bindparam("since"), *(_h.reason != reason for reason in _OF_THEIR_OWN_ACCORD))
        .order_by(_h.claimed_at.desc())
        .limit(TAKEN_MAX)
    )


_HANDOFFS, _HANDOFF = (
    Statement(_handoffs()),
    Statement(_handoffs(_h.conversation_id == sa.bindparam("conversation_id"))),
)
_CASES, _DRAFTS, TAKEN = Statement(_cases()), Statement(_drafts()), Statement(_taken())
_DONE_SINCE = Statement(sa.select(sa.func.count().label("n")).where(_h.done_at >= sa.bindparam("since")))
_ABLE = Statement(
    sa.select(_s.id, _s.skills, _s.languages).where(
        sa.func.cardinality(_s.skills) + sa.func.cardinality(_s.languages) > 0
    )
)


async def look(db: Database, tenant_id: str, now: datetime, taken_since: datetime | None = None) -> Look:
    """Return everything that is open for the tenant, with what was taken since a moment (None: nothing)."""
    desk, handoffs, cases, drafts, approvals, able, taken, done = await db.at_once(
        tenant_id,
        LAST_DESK(),
        _HANDOFFS(now=now),
        _CASES(now=now),
        _DRAFTS(now=now),
        WAITING_APPROVALS(now=now, limit=OPEN_MAX),
        _ABLE(),
        TAKEN(since=taken_since or now),
        _DONE_SINCE(since=now - _HOUR),
    )
    standing = to_desk(desk)
    return Look(
        waiting=[
            *map(_to_handoff, handoffs),
            *_to_cases(cases, standing.document),
            *_to_drafts(drafts, standing.document),
            *to_approvals(approvals, standing.document),
        ],
        desk=standing,
        able={s.id: Person(id=s.id, skills=tuple(s.skills), languages=tuple(s.languages)) for s in able},
        waits_s=[row.s for row in taken],
        done_last_hour=done[0].n,
    )


async def open_handoff_of(tx: Tx, conversation_id: str, now: datetime) -> Waiting | None:
    """Return the open handoff of a conversation as it stands in the queue, if there is one."""
    (rows,) = await run(tx, _HANDOFF(conversation_id=conversation_id, now=now))
    return _to_handoff(rows[0]) if rows else None


def _to_handoff(row: Row) -> Waiting:
    return Waiting(
        kind=WaitingKind.HANDOFF,
        id=row.id,
        conversation_id=row.conversation_id,
        operation_id=None,
        reason=row.reason,
        urgency=BY_RANK[row.urgency],
        urgency_why=row.urgency_why,
        status=QueueStatus(row.queue_status),
        opened_at=row.opened_at,
        goal=row.goal,
        skill=row.skill,
        taken_by=row.assignee,
        first_reply_at=row.first_reply_at,
        unanswered_at=row.unanswered_at,
        claim=Hold(staff=row.claimed_by, until=row.until_at) if row.claimed_by else None,
        **facts_of(row),
    )


def _to_cases(rows: Iterable[Row], document: DeskSettings) -> Iterator[Waiting]:
    for row in rows:
        judged = urgency_of(document.urgency, row.kind, Marks())
        yield Waiting(
            kind=WaitingKind.CASE,
            id=row.id,
            conversation_id=row.conversation_id,
            operation_id=row.operation_id,
            reason=row.kind,
            urgency=judged.urgency,
            urgency_why=judged.why,
            status=QueueStatus(row.queue_status),
            opened_at=row.opened_at,
            taken_by=row.assignee,
            **facts_of(row),
        )


def _to_drafts(rows: Iterable[Row], document: DeskSettings) -> Iterator[Waiting]:
    for row in rows:
        judged = urgency_of(document.urgency, WaitingKind.DRAFT.value, Marks(intent=row.intent))
        yield Waiting(
            kind=WaitingKind.DRAFT,
            id=row.draft_id,
            conversation_id=row.conversation_id,
            operation_id=None,
            reason=WaitingKind.DRAFT.value,
            urgency=judged.urgency,
            urgency_why=judged.why,
            status=QueueStatus.WAITING,
            opened_at=row.made_at,
            goal=row.intent,
            skill=document.skills.by_intent.get(row.intent or ""),
            **facts_of(row),
        )
