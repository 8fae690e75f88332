"""Whether what an action was proposed on still holds: the bundle in force, and what was read of the customer since.

Read only; inside the transactions that decide, remind and tell, each under the locks that it has.
"""

from datetime import datetime

import sqlalchemy as sa

from domain.account import Account
from domain.action import Action, ActionState, Cause, evidence_digest
from domain.approving import Allows, Rights
from domain.parcels import rests_on_stale_tracking
from domain.refusal import StaleReason
from store import tables as t
from store.circumstances import lock_tenant, policy_in_force, tenant_row
from store.database import Tx
from store.log import under_lock
from store.pipeline import Row


async def rights(tx: Tx, allows: Allows, now: datetime) -> Rights:
    """Return what the bundle in force lets people of the tenant do."""
    return await rights_of(tx, await tenant_row(tx), allows, now)


async def pass_gate(tx: Tx, tenant_id: str, now: datetime) -> tuple[Row, datetime]:
    """Keep another bundle from being published before this transaction ends; return the tenant's row, and the time.

    It is the time past the gate: a decision that waited for a publication is made under what was published.
    """
    return await lock_tenant(tx, tenant_id), await under_lock(tx, now)


async def rights_of(tx: Tx, tenant: Row, allows: Allows, now: datetime) -> Rights:
    """Return what the bundle in force at `now` lets people of `tenant` do."""
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


async def parcels_to_ask_about(tx: Tx, action: Action, now: datetime) -> tuple[str, ...]:
    """Return the ids of the orders whose parcels have to be asked about before the action can go on.

    Also of what was denied to a person, so that they can ask for it again: a turn of the bot has its own refreshed.
    """
    denied = action.by_staff and action.cause is Cause.DENIED
    waits = action.state is ActionState.AWAITING_APPROVAL or denied
    if not waits or "order" not in action.payload.acts_on:
        return ()
    found = await _read_last(tx, action)
    if found is None:
        return ()
    account = Account.model_validate(found.value)
    if not rests_on_stale_tracking(action.payload, account, now):
        return ()
    order = account.resource(action.payload.resource)
    return (order.id,) if order else ()


async def _evidence_holds(tx: Tx, action: Action) -> bool:
    """Whether what was read last in this conversation says the same about the action as what it rests on."""
    found = await _read_last(tx, action)
    if found is None:
        return True
    return evidence_digest(found.source, action.payload, Account.model_validate(found.value)) == action.evidence_digest


async def _read_last(tx: Tx, action: Action) -> Row | None:
    """What was read last, in the action's conversation, of its customer's account."""
    e = t.evidence.c
    query = (
        sa.select(e.source, e.value)
        .where(e.conversation_id == action.conversation_id, e.subject == f"customer:{action.customer_id}")
        .order_by(e.observed_at.desc())
        .limit(1)
    )
    return (await tx.execute(query)).one_or_none()
