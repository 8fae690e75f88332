"""How fast one person of the staff decides approvals, so that a row of quick ones is visible to whoever gives them.

Everything here is read.
"""

from datetime import datetime, timedelta
from statistics import median

import sqlalchemy as sa

from domain.action import ApprovalDecision
from domain.base import Noun
from domain.principal import VerifiedPrincipal
from store import tables as t
from store.database import Database

WINDOW = timedelta(minutes=10)
LATELY_S = 60


class Paced(Noun):
    """One decision. `apart_s`: seconds since the one before it, None for the first of the window."""

    operation_id: str
    decision: ApprovalDecision
    at: datetime
    apart_s: float | None


class Pace(Noun):
    """The asking person's decisions of the last ten minutes, the newest first, and how far apart they are."""

    decided_last_10_min: int
    decided_last_min: int
    median_seconds_apart: float | None
    items: tuple[Paced, ...]


async def pace_of(db: Database, staff: VerifiedPrincipal, now: datetime) -> Pace:
    """Return how fast `staff` has been deciding by `now`; each member of a batch counts as a decision."""
    p = t.approvals.c
    query = (
        sa.select(p.operation_id, p.decision, p.decided_at)
        .where(p.approver == staff.key, p.decided_at > now - WINDOW)
        .order_by(p.decided_at, p.id)
    )
    async with db.transaction(staff.tenant_id) as tx:
        rows = (await tx.execute(query)).all()
    return pace([(r.operation_id, ApprovalDecision(r.decision), r.decided_at) for r in rows], now)


def pace(decided: list[tuple[str, ApprovalDecision, datetime]], now: datetime) -> Pace:
    """Return the pace of decisions, given in the order in which they were made."""
    items = []
    before: datetime | None = None
    for operation_id, decision, at in decided:
        apart_s = None if before is None else (at - before).total_seconds()
        items.append(Paced(operation_id=operation_id, decision=decision, at=at, apart_s=apart_s))
        before = at
    apart = [item.apart_s for item in items if item.apart_s is not None]
    return Pace(
        decided_last_10_min=len(items),
        decided_last_min=sum((now - item.at).total_seconds() <= LATELY_S for item in items),
        median_seconds_apart=median(apart) if apart else None,
        items=tuple(reversed(items)),
    )
