"""Actions that wait for the consent of staff, as one more sort of thing in the queue.

Everything here is read; `approval_queue` tells all about each of them to whoever decides.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from domain.action import ActionState, ApprovalRole
from domain.desk import DeskSettings
from domain.handoff import QueueStatus
from domain.urgency import Marks, urgency_of
from domain.waiting import Hold, Waiting, WaitingKind
from store import tables as t
from store.approval_claims import standing_claims
from store.conversation_facts import FACTS, NOW, beside_row, facts_of
from store.ledger import still_entitled
from store.pipeline import Row, Statement

_a, _c, _p = t.actions.c, t.conversations.c, t.approvals.c
_STAFF_ROLES = frozenset(r.value for r in ApprovalRole) - {ApprovalRole.CUSTOMER.value}
ESCALATED = "approval_escalated"


def _waiting() -> sa.Select[Any]:
    claims = standing_claims(NOW).subquery()
    given = sa.select(_p.role).where(
        _p.operation_id == _a.operation_id,
        _p.decision == "approve",
        _p.voided_at.is_(None),
        _p.expires_at > NOW,
        still_entitled(),
    )
    source = beside_row(t.actions.join(t.conversations, _c.id == _a.conversation_id))
    return (
        sa.select(_a.operation_id, _a.conversation_id, _a.kind, _a.required_approvals, _a.created_at, _a.expires_at)
        .add_columns(_a.escalated_at, claims.c.staff_id, claims.c.until_at, *FACTS)
        .add_columns(sa.func.array(given.scalar_subquery(), type_=ARRAY(sa.Text)).label("given"))
        .select_from(source.outerjoin(claims, claims.c.operation_id == _a.operation_id))
        .where(
            _a.state == ActionState.AWAITING_APPROVAL.value,
            _a.required_approvals.has_any(sa.cast(sorted(_STAFF_ROLES), ARRAY(sa.Text))),
        )
        .order_by(_a.expires_at, _a.operation_id)
        .limit(sa.bindparam("limit", type_=sa.Integer))
    )


WAITING_APPROVALS = Statement(_waiting())  # the soonest to expire first; takes `now` and `limit`


def to_approvals(rows: Iterable[Row], document: DeskSettings) -> Iterator[Waiting]:
    """Give what waits for the consent of staff, of the rows of `WAITING_APPROVALS`."""
    for row in rows:
        if _STAFF_ROLES & set(row.required_approvals) - set(row.given):
            yield _to_waiting(row, document)


def _to_waiting(row: Row, document: DeskSettings) -> Waiting:
    reason = ESCALATED if row.escalated_at else WaitingKind.APPROVAL.value
    judged = urgency_of(document.urgency, reason, Marks())
    return Waiting(
        kind=WaitingKind.APPROVAL,
        id=row.operation_id,
        conversation_id=row.conversation_id,
        operation_id=row.operation_id,
        reason=reason,
        urgency=judged.urgency,
        urgency_why=judged.why,
        status=QueueStatus.WAITING,
        opened_at=row.created_at,
        goal=row.kind,
        expires_at=row.expires_at,
        claim=Hold(staff=row.staff_id, until=row.until_at) if row.staff_id else None,
        **facts_of(row),
    )
