"""The audit exported: one JSON object a line, with all that is hashed, so that anybody can recompute the chain.

Reads page by page; what it writes of a tenant is one unbroken stretch of its chain.
"""

from collections.abc import Callable
from datetime import datetime

from domain.base import Noun
from domain.chain import Head
from store.database import Database
from store.record import PAGE_ROWS, audit_page, number_before

Write = Callable[[str], object]


class Exported(Noun):
    """What was written of one tenant: so many rows, the last of which is `head`."""

    tenant_id: str
    rows: int
    head: Head


async def export_tenant(
    db: Database, tenant_id: str, since: datetime | None, write: Write, progress: Callable[[int], object]
) -> Exported:
    """Write the tenant's rows, from the first that was written since then; return where they end."""
    after = 0 if since is None else await number_before(db, tenant_id, since)
    rows, head = 0, Head()
    while after is not None:
        page = await audit_page(db, tenant_id, after)
        for row in page.rows:
            write(row.model_dump_json() + "\n")
            head = Head(n=row.n, hash=row.hash)
        rows += len(page.rows)
        progress(len(page.rows))
        after = head.n if len(page.rows) == PAGE_ROWS else None
    return Exported(tenant_id=tenant_id, rows=rows, head=head)
