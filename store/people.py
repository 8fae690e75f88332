"""What people are called: the names of a tenant and of its staff, for those who sign in.

Read alone; names are never written to logs or histories.
"""

import sqlalchemy as sa

from store import tables as t
from store.database import Database
from store.pipeline import Statement

_TENANT_NAME = Statement(sa.select(t.tenants.c.name).where(t.tenants.c.id == sa.bindparam("tenant_id")))
_STAFF_NAME = Statement(
    sa.select(t.staff.c.name).where(
        t.staff.c.tenant_id == sa.bindparam("tenant_id"), t.staff.c.id == sa.bindparam("staff_id")
    )
)


async def tenant_name(db: Database, tenant_id: str) -> str | None:
    """Return what the organisation calls itself; None where there is no such tenant."""
    (found,) = await db.at_once(tenant_id, _TENANT_NAME(tenant_id=tenant_id))
    return str(found[0].name) if found else None


async def names(db: Database, tenant_id: str, staff_id: str) -> tuple[str, str | None]:
    """Return what the organisation and one of its staff are called; no name where there is no such person."""
    tenant, person = await db.at_once(
        tenant_id, _TENANT_NAME(tenant_id=tenant_id), _STAFF_NAME(tenant_id=tenant_id, staff_id=staff_id)
    )
    return str(tenant[0].name), str(person[0].name) if person else None
