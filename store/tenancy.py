"""What a tenant has in force, and the standing and past of its customers, as policy looks at them.

Read inside the transactions that decide; bundles are immutable and readable by every tenant.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from store import tables as t
from store.database import Database, Tx


async def bundle_files(db: Database, digest: str) -> dict[str, str] | None:
    """Return the files of a published policy bundle, or None when there is none of that digest."""
    query = sa.select(t.policy_bundles.c.files).where(t.policy_bundles.c.digest == digest)
    async with db.across_tenants() as tx:
        files = (await tx.execute(query)).scalar_one_or_none()
    return dict(files) if files is not None else None


async def customer_status(tx: Tx, customer_id: str) -> str:
    """Return `active` or `blocked`; a customer never seen before is active."""
    query = sa.select(t.customers.c.status).where(t.customers.c.id == customer_id)
    return (await tx.execute(query)).scalar_one_or_none() or "active"


async def refunds_30d(tx: Tx, customer_id: str, now: datetime) -> tuple[int, int]:
    """Return how many refunds, and how much in minor units, were or may have been made in the last 30 days."""
    a = t.actions.c
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(a.amount_minor), 0)).where(
        a.customer_id == customer_id,
        a.kind == "refund",
        a.state.in_(["submitted", "unknown", "confirmed"]),
        a.created_at > now - timedelta(days=30),
    )
    count, amount = (await tx.execute(query)).one()
    return int(count), int(amount)
