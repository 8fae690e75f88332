"""Kill switches: all dispatch of a tenant, or of one kind of action; who turns one, and why, is audited with it.

INVARIANT: what is stopped when a switch has committed is neither reserved nor sent; both lock the row read here.
"""

import sqlalchemy as sa

from domain.action import ActionKind
from domain.base import Noun
from domain.refusal import NotFound
from store import tables as t
from store.circumstances import close_gate
from store.database import Database, Tx

_c = t.tenants.c


class Switches(Noun):
    """What is stopped for a tenant: `everything`, or the kinds named."""

    everything: bool
    kinds: tuple[ActionKind, ...]


async def switches(db: Database, tenant_id: str) -> Switches:
    """Return what is stopped just now. Raises NotFound where there is no such tenant."""
    async with db.transaction(tenant_id) as tx:
        return await _standing(tx, tenant_id)


async def turn(db: Database, tenant_id: str, kind: ActionKind | None, *, stopped: bool, by: str, why: str) -> bool:
    """Stop one kind of action, or (None) everything, or let it go on; say whether it was otherwise before.

    `by` is `kind:id`. Raises NotFound where there is no such tenant.
    """
    async with db.transaction(tenant_id) as tx:
        await close_gate(tx, tenant_id)
        before = await _standing(tx, tenant_id)
        if (before.everything if kind is None else kind in before.kinds) is stopped:
            return False
        await _turn(tx, tenant_id, kind, stopped, by, why)
        return True


async def stop_everything(tx: Tx, tenant_id: str, by: str, why: str) -> None:
    """Stop a tenant's dispatch inside the transaction that found the reason; after the locks on its actions."""
    await close_gate(tx, tenant_id)
    if not (await _standing(tx, tenant_id)).everything:
        await _turn(tx, tenant_id, None, True, by, why)


async def _turn(tx: Tx, tenant_id: str, kind: ActionKind | None, stopped: bool, by: str, why: str) -> None:
    said = sa.func.set_config("interlock.actor", by, True), sa.func.set_config("interlock.why", why, True)
    await tx.execute(sa.select(*said))  # for the trigger that audits the row
    changed = sa.update(t.tenants).where(_c.id == tenant_id)
    if kind is None:
        await tx.execute(changed.values(dispatch_halted=stopped))
        return
    without = sa.func.array_remove(_c.halted_kinds, kind.value)
    now = sa.func.array_append(without, kind.value) if stopped else without
    await tx.execute(changed.values(halted_kinds=now))


async def _standing(tx: Tx, tenant_id: str) -> Switches:
    query = sa.select(_c.dispatch_halted, _c.halted_kinds).where(_c.id == tenant_id)
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such tenant.")
    return Switches(everything=row.dispatch_halted, kinds=tuple(ActionKind(k) for k in row.halted_kinds))
