"""Approvals that wait for people: what each is about, who is at it, and what may be decided together.

Everything here is read; deciding, claiming and reminding have modules of their own.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from domain.action import Action, ActionState, ApprovalRole
from domain.approving import Allows, Rights, by_table
from domain.base import Noun
from domain.principal import VerifiedPrincipal
from store import tables as t
from store.approval_batches import alike, low_risk
from store.approval_claims import standing_claims
from store.approval_rights import roles_open_to
from store.database import Database, Tx
from store.ledger import still_entitled, to_action
from store.queue import PAGE_MAX
from store.validity import rights


class Claimed(Noun):
    """Who is deciding an approval, and until when at most."""

    staff: str
    until: datetime


class ApprovalItem(Noun):
    """One action that waits for somebody's consent."""

    operation_id: str
    conversation_id: str
    customer_id: str
    requested_by: str
    kind: str
    payload: dict[str, Any]
    payload_digest: str
    amount_minor: int | None
    currency: str | None
    missing: tuple[ApprovalRole, ...]
    required_approvals: tuple[ApprovalRole, ...]
    created_at: datetime
    expires_at: datetime
    claim: Claimed | None = None
    reminded_at: datetime | None = None
    escalated: bool = False
    batch_with: tuple[str, ...] = ()  # operation ids of what the reader may decide together with it


_STAFF_ROLES = [r.value for r in ApprovalRole if r is not ApprovalRole.CUSTOMER]


async def pending_approvals(
    db: Database, staff: VerifiedPrincipal, now: datetime, allows: Allows = by_table
) -> list[ApprovalItem]:
    """Return the tenant's actions that wait for approval by staff (at most PAGE_MAX).

    What nobody has decided in time comes first, then what is about to expire.
    """
    a = t.actions.c
    query = (
        sa.select(t.actions)
        .where(
            a.state == ActionState.AWAITING_APPROVAL.value,
            a.required_approvals.has_any(sa.cast(_STAFF_ROLES, ARRAY(sa.Text))),
        )
        .order_by(a.escalated_at.is_(None), a.expires_at, a.operation_id)
    )
    async with db.transaction(staff.tenant_id) as tx:
        actions = [to_action(r) for r in (await tx.execute(query)).all()]
        given = await _given(tx, [x.operation_id for x in actions])
        waiting = [x for x in actions if _waits_for_staff(x, given.get(x.operation_id, set()))][:PAGE_MAX]
        claims = await claims_on(tx, [x.operation_id for x in waiting], now)
        together = _together(waiting, staff, await rights(tx, allows, now))
    return [
        _approval_item(
            x,
            given.get(x.operation_id, set()),
            claims.get(x.operation_id),
            tuple(sorted(together.get(x.operation_id, set()) - {x.operation_id})),
        )
        for x in waiting
    ]


def _waits_for_staff(action: Action, given: set[str]) -> bool:
    return any(r is not ApprovalRole.CUSTOMER and r.value not in given for r in action.required_approvals)


async def claims_on(tx: Tx, operation_ids: list[str], now: datetime) -> dict[str, Claimed]:
    """Return who is deciding these at `now`, by operation id."""
    query = standing_claims(now).where(t.approval_claims.c.operation_id.in_(operation_ids))
    rows = (await tx.execute(query)).all()
    return {r.operation_id: Claimed(staff=r.staff_id, until=r.until_at) for r in rows}


def _together(waiting: list[Action], staff: VerifiedPrincipal, may: Rights) -> dict[str, set[str]]:
    """For each action that the reader may decide in a batch, the ids of all that may be in it."""
    if staff.role is None:
        return {}
    batches: dict[tuple[str, str | None], set[str]] = {}
    for action in waiting:
        own = action.requested_by == staff.key
        if not own and low_risk(action, staff.role, may) and roles_open_to(staff.role, action, may):
            batches.setdefault(alike(action), set()).add(action.operation_id)
    return {ident: batch for batch in batches.values() for ident in batch}


async def _given(tx: Tx, operation_ids: list[str]) -> dict[str, set[str]]:
    """The roles that have consented to each of these, so far as it still counts."""
    p, a = t.approvals.c, t.actions.c
    query = sa.select(p.operation_id, p.role).join(t.actions, a.operation_id == p.operation_id)
    query = query.where(
        p.operation_id.in_(operation_ids),
        p.decision == "approve",
        p.voided_at.is_(None),
        p.expires_at > sa.func.now(),
        still_entitled(),
    )
    found: dict[str, set[str]] = {}
    for row in (await tx.execute(query)).all():
        found.setdefault(row.operation_id, set()).add(row.role)
    return found


def _approval_item(action: Action, given: set[str], claim: Claimed | None, batch_with: tuple[str, ...]) -> ApprovalItem:
    missing = [r for r in action.required_approvals if r.value not in given]
    return ApprovalItem(
        operation_id=action.operation_id,
        conversation_id=action.conversation_id,
        customer_id=action.customer_id,
        requested_by=action.requested_by,
        kind=action.kind.value,
        payload=action.payload.model_dump(mode="json"),
        payload_digest=action.payload_digest,
        amount_minor=action.payload.amount_minor,
        currency=action.payload.currency,
        missing=tuple(missing),
        required_approvals=action.required_approvals,
        created_at=action.created_at,
        expires_at=action.expires_at,
        claim=claim,
        reminded_at=action.reminded_at,
        escalated=action.escalated_at is not None,
        batch_with=batch_with,
    )
