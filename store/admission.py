"""Who may come in: standing of customers and staff, and requests that are repeated under an Idempotency-Key.

Looked up at every request, never believed from a token.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from domain.base import Noun
from domain.principal import StaffRole
from domain.tenant import TenantStanding
from store import tables as t
from store.database import Database
from store.pipeline import Row, Statement

_STAFF = Statement(sa.select(t.staff).where(t.staff.c.id == sa.any_(sa.bindparam("staff_ids", type_=ARRAY(sa.Text)))))
_CUSTOMER = Statement(sa.select(t.customers.c.status).where(t.customers.c.id == sa.bindparam("customer_id")))
_c = t.tenants.c
TENANT = Statement(  # to be run with others in one round trip
    sa.select(_c.id, _c.kind, _c.stage, sa.func.policy_in_force(_c.id, sa.func.now()).label("policy_digest"))
)
_FIRST_SEEN = Statement(
    insert(t.customers).values(tenant_id=sa.bindparam("tenant_id"), id=sa.bindparam("id")).on_conflict_do_nothing()
)


class StaffStanding(Noun):
    """A member of staff as the database knows them now."""

    id: str
    name: str
    role: StaffRole
    revoked: bool
    tenant: TenantStanding


class CustomerStanding(Noun):
    """A customer as the database knows them now: `status` is active or blocked."""

    status: str
    tenant: TenantStanding


async def staff_standing(db: Database, tenant_id: str, staff_id: str) -> StaffStanding | None:
    """Return a staff member's standing, or None when the tenant has no such person."""
    return (await staff_standings(db, tenant_id, [staff_id])).get(staff_id)


async def staff_standings(db: Database, tenant_id: str, staff_ids: Collection[str]) -> dict[str, StaffStanding]:
    """Return the standing of each of these members of staff that the tenant has, by id."""
    found, tenants = await db.at_once(tenant_id, _STAFF(staff_ids=list(staff_ids)), TENANT())
    return {
        row.id: StaffStanding(
            id=row.id,
            name=row.name,
            role=StaffRole(row.role),
            revoked=row.revoked_at is not None,
            tenant=to_standing(tenants[0]),
        )
        for row in found
    }


async def customer_standing(db: Database, tenant_id: str, customer_id: str) -> CustomerStanding | None:
    """Return a customer's standing (first seen now, they are active), or None when there is no such tenant."""
    customers, tenants = await db.at_once(tenant_id, _CUSTOMER(customer_id=customer_id), TENANT())
    if not tenants:
        return None
    if not customers:
        await db.at_once(tenant_id, _FIRST_SEEN(tenant_id=tenant_id, id=customer_id))
    status = str(customers[0].status) if customers else "active"
    return CustomerStanding(status=status, tenant=to_standing(tenants[0]))


async def tenant_standing(db: Database, tenant_id: str) -> TenantStanding | None:
    """Return a tenant's standing, or None when there is no such tenant."""
    (found,) = await db.at_once(tenant_id, TENANT())
    return to_standing(found[0]) if found else None


def to_standing(row: Row) -> TenantStanding:
    """Return a row of `TENANT` as everybody reads it."""
    return TenantStanding(id=row.id, kind=row.kind, stage=row.stage, policy_digest=row.policy_digest)


class Repeat(Noun):
    """What is known of a request key: `status` None means that the first request is still running."""

    same_request: bool
    status: int | None
    answer: Any = None


async def begin_request(
    db: Database, tenant_id: str, principal: str, key: str, request_digest: str, now: datetime, lease_s: int
) -> Repeat | None:
    """Claim an Idempotency-Key. None: it is new, or was abandoned, and is this request's; else what is known of it."""
    k = t.idempotency_keys.c
    mine = (k.principal == principal) & (k.key == key)
    add = (
        insert(t.idempotency_keys)
        .values(tenant_id=tenant_id, principal=principal, key=key, request_digest=request_digest, created_at=now)
        .on_conflict_do_nothing()
        .returning(k.key)
    )
    async with db.transaction(tenant_id) as tx:
        row = None
        while row is None:  # the key that was in the way may be given back before it is read
            if (await tx.execute(add)).one_or_none() is not None:
                return None
            row = (await tx.execute(sa.select(t.idempotency_keys).where(mine).with_for_update())).one_or_none()
        abandoned = row.status is None and row.created_at < now - timedelta(seconds=lease_s)
        if abandoned and row.request_digest == request_digest:
            await tx.execute(sa.update(t.idempotency_keys).where(mine).values(created_at=now))
            return None
    return Repeat(same_request=row.request_digest == request_digest, status=row.status, answer=row.answer)


async def finish_request(db: Database, tenant_id: str, principal: str, key: str, status: int, answer: Any) -> None:
    """Keep the first answer under its key."""
    k = t.idempotency_keys.c
    async with db.transaction(tenant_id) as tx:
        await tx.execute(
            sa.update(t.idempotency_keys)
            .where(k.principal == principal, k.key == key)
            .values(status=status, answer=answer)
        )


async def abandon_request(db: Database, tenant_id: str, principal: str, key: str) -> None:
    """Give a key back whose request did not come to an answer worth keeping."""
    k = t.idempotency_keys.c
    async with db.transaction(tenant_id) as tx:
        await tx.execute(
            sa.delete(t.idempotency_keys).where(k.principal == principal, k.key == key, k.status.is_(None))
        )


async def forget_old_requests(db: Database, tenant_id: str, before: datetime) -> int:
    """Delete keys older than `before`; return how many."""
    async with db.transaction(tenant_id) as tx:
        gone = await tx.execute(sa.delete(t.idempotency_keys).where(t.idempotency_keys.c.created_at < before))
    return int(gone.rowcount)
