"""Cases as people deal with them on the command line: which are open, who may answer for one, and how one is closed.

A difference between the books ends when a person closes it; an unknown action ends by its settlement alone.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.handoff import QueueStatus
from domain.principal import StaffRole
from domain.refusal import Forbidden, NotFound, Refusal
from store import tables as t
from store.database import Database, Tx

CASES_MAX = 200  # of one tenant at a time, oldest first
UNKNOWN_ACTION = "unknown_action"
_RESPONSIBLE = frozenset({StaffRole.MANAGER, StaffRole.FINANCE, StaffRole.ADMIN})
_DONE = QueueStatus.DONE.value


class Case(Noun):
    """One thing about money that waits for a person."""

    case_id: str
    tenant_id: str
    kind: str
    operation_id: str | None
    conversation_id: str | None
    queue_status: QueueStatus
    opened_at: datetime
    detail: dict[str, Any]


async def cases_open(db: Database, tenant_id: str) -> list[Case]:
    """Return the tenant's open cases, oldest first (at most CASES_MAX)."""
    k = t.cases.c
    query = sa.select(t.cases).where(k.queue_status != _DONE).order_by(k.opened_at, k.id).limit(CASES_MAX)
    async with db.transaction(tenant_id) as tx:
        return [_to_case(r) for r in (await tx.execute(query)).all()]


async def close_case(db: Database, tenant_id: str, case_id: str, staff_id: str, now: datetime) -> Case:
    """Close a difference that a member of staff has dealt with, and return it as it was.

    Raises NotFound, Forbidden, and Refusal for what is closed already or ends by settlement.
    """
    k = t.cases.c
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(sa.select(t.cases).where(k.id == case_id).with_for_update())).one_or_none()
        if row is None:
            raise NotFound("There is no such case.")
        await responsible(tx, staff_id)
        if row.queue_status == _DONE:
            raise Refusal("This case is closed already.")
        if row.kind == UNKNOWN_ACTION:
            raise Refusal("An unknown action ends when its outcome is settled, not by closing its case.")
        await tx.execute(
            sa.update(t.cases).where(k.id == case_id).values(queue_status=_DONE, assignee=staff_id, done_at=now)
        )
        return _to_case(row)


async def responsible(tx: Tx, staff_id: str) -> None:
    """Pass for staff who may answer for money: managers, finance, admins. Raises NotFound, Forbidden."""
    s = t.staff.c
    row = (await tx.execute(sa.select(s.role, s.revoked_at).where(s.id == staff_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such member of staff.")
    if row.revoked_at is not None:
        raise Forbidden("The access of this member of staff was revoked.")
    if StaffRole(row.role) not in _RESPONSIBLE:
        raise Forbidden("This takes a manager, finance or an admin.")


def _to_case(row: sa.Row[Any]) -> Case:
    return Case(
        case_id=row.id,
        tenant_id=row.tenant_id,
        kind=row.kind,
        operation_id=row.operation_id,
        conversation_id=row.conversation_id,
        queue_status=QueueStatus(row.queue_status),
        opened_at=row.opened_at,
        detail=row.detail,
    )
