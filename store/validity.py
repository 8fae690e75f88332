"""Whether what an action was proposed on still holds: the bundle in force, and what was read of the customer since.

Read only; inside the transactions that decide, remind and tell, each under the locks that it has.
"""

from datetime import datetime

import sqlalchemy as sa

from domain.account import Account
from domain.action import Action, ActionState, evidence_digest
from domain.approving import Allows, Rights
from domain.refusal import StaleReason
from store import tables as t
from store.circumstances import lock_tenant, policy_in_force, tenant_row
from store.database import Tx
from store.pipeline import Row


async def rights(tx: Tx, allows: Allows, now: datetime) -> Rights:
    """Return what the bundle in force lets people of the tenant do."""
    return await _rights(tx, await tenant_row(tx), allows, now)


async def rights_held(tx: Tx, tenant_id: str, allows: Allows, now: datetime) -> Rights:
    """Return the same, and keep another bundle from being published before this transaction ends."""
    return await _rights(tx, await lock_tenant(tx, tenant_id), allows, now)


async def _rights(tx: Tx, tenant: Row, allows: Allows, now: datetime) -> Rights:
    return Rights(
        allows=allows,
        policy_digest=await policy_in_force(tx, tenant.id, now),
        tenant_id=tenant.id,
        tenant_kind=tenant.kind,
        stage=tenant.stage,
    )


async def overtaken(tx: Tx, action: Action, now: datetime) -> StaleReason | None:
    """Return what has changed since consent to `action` was asked for, or None where that question still stands."""
    if action.state is not ActionState.AWAITING_APPROVAL:
        return None
    if await policy_in_force(tx, action.tenant_id, now) != action.policy_digest:
        return StaleReason.POLICY_CHANGED
    return None if await _evidence_holds(tx, action) else StaleReason.EVIDENCE_CHANGED


async def _evidence_holds(tx: Tx, action: Action) -> bool:
    """Whether what was read last in this conversation says the same about the action as what it rests on."""
    e = t.evidence.c
    query = (
        sa.select(e.source, e.value)
        .where(e.conversation_id == action.conversation_id, e.subject == f"customer:{action.customer_id}")
        .order_by(e.observed_at.desc())
        .limit(1)
    )
    found = (await tx.execute(query)).one_or_none()
    if found is None:
        return True
    return evidence_digest(found.source, action.payload, Account.model_validate(found.value)) == action.evidence_digest
