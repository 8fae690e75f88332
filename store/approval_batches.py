"""Batches: equal low-risk items that one person may decide together, each still in a transaction of its own.

What is equal is the kind and the currency; what is low-risk is for the bundle in force to say, by kind and amount.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from domain.action import Action
from domain.approving import Allows, Rights
from domain.permission import Tool, ToolRole
from domain.principal import StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, NotAllowedReason, NotFound
from store import tables as t
from store.approval_rights import require_other_requester, roles_open_to
from store.database import Database
from store.ledger import to_action
from store.validity import rights


def low_risk(action: Action, staff: StaffRole, may: Rights) -> bool:
    """Whether a person in this role may decide `action` together with others."""
    return may.may_use(Tool.APPROVE_IN_BATCH, ToolRole(staff.value), action.payload)


def alike(action: Action) -> tuple[str, str]:
    """Return what all actions of one batch have in common."""
    return action.kind.value, action.payload.stake_currency


async def require_batch(
    db: Database, staff: VerifiedPrincipal, operation_ids: Sequence[str], allows: Allows, now: datetime
) -> None:
    """Pass only a batch of equal low-risk items that `staff` may decide. Raises NotFound, ApprovalNotAllowed."""
    a = t.actions.c
    async with db.transaction(staff.tenant_id) as tx:
        rows = (await tx.execute(sa.select(t.actions).where(a.operation_id.in_(operation_ids)))).all()
        may = await rights(tx, allows, now)
    actions = [to_action(row) for row in rows]
    if missing := set(operation_ids) - {action.operation_id for action in actions}:
        raise NotFound(f"There is no such action: {min(missing)}.")
    if len({alike(action) for action in actions}) > 1:
        told = "A batch is of one kind and one currency. Decide the others apart."
        raise ApprovalNotAllowed(told, NotAllowedReason.NOT_ALIKE)
    for action in sorted(actions, key=lambda x: x.operation_id):
        _require_low_risk(action, staff, may)


def _require_low_risk(action: Action, staff: VerifiedPrincipal, may: Rights) -> None:
    ident = action.operation_id
    if staff.role is None or not low_risk(action, staff.role, may):
        told = f"Action {ident} has to be looked at on its own: the policy in force lets nobody of your role batch it."
        raise ApprovalNotAllowed(told, NotAllowedReason.NOT_LOW_RISK, operation_id=ident)
    if not roles_open_to(staff.role, action, may):
        told = f"Action {ident} needs no approval that your role may give."
        raise ApprovalNotAllowed(told, NotAllowedReason.WRONG_ROLE, operation_id=ident)
    require_other_requester(action, staff)
