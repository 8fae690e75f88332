"""The audit, read: in pages of its chain, to be verified or exported, and in pages of its verdicts, to be judged again.

Each page is one statement, so that what it says of the chain's end belongs to the rows that it holds.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.audit import GENESIS, AuditRow, VerdictRow
from domain.base import Noun
from domain.chain import Head
from store.database import Database

PAGE_ROWS = 2_000

_AT = """to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at"""
_COLUMNS = f"""a.tenant_id, a.n, {_AT}, a.kind, a.actor, a.conversation_id, a.operation_id, a.body,
    coalesce(a.hash, '') AS hash,
    CASE WHEN a.n = 1 THEN :genesis ELSE coalesce(
        (SELECT hash FROM audit b WHERE b.tenant_id = a.tenant_id AND b.n = a.n - 1), '') END AS previous"""  # noqa: S608 — so is all that is put together here
_PAGE = sa.text(f"""
    SELECT h.n AS head_n, h.hash AS head_hash, p.*
      FROM (SELECT 1) one
      LEFT JOIN audit_heads h ON h.tenant_id = :tenant
      LEFT JOIN (SELECT {_COLUMNS} FROM audit a WHERE a.tenant_id = :tenant AND a.n > :after
                  ORDER BY a.n LIMIT :rows) p ON true
     ORDER BY p.n""")  # noqa: S608 — the columns are written above
_UNCHAINED = sa.text(
    "SELECT id, kind, actor FROM audit WHERE tenant_id = :tenant AND n IS NULL ORDER BY id LIMIT :rows"
)
_SIZE = sa.text("SELECT coalesce((SELECT n FROM audit_heads WHERE tenant_id = :tenant), 0)")
_BEFORE = sa.text("SELECT min(n) - 1 FROM audit WHERE tenant_id = :tenant AND at >= :since")
_OF_VERDICTS = """FROM audit a WHERE tenant_id = :tenant AND kind = 'verdict' AND n > :after
    AND (CAST(:since AS timestamptz) IS NULL OR at >= CAST(:since AS timestamptz))"""
_VERDICTS = sa.text(
    f"SELECT n, {_AT}, coalesce(operation_id, '') AS operation_id, body {_OF_VERDICTS} ORDER BY n LIMIT :rows"
)
_COUNT = sa.text(f"SELECT count(*) {_OF_VERDICTS}")


class AuditPage(Noun):
    """Rows of one tenant's audit in order, and where the chain ended when they were read, if there is one."""

    rows: tuple[AuditRow, ...]
    head: Head | None


class Unchained(Noun):
    """A row without a place in the chain, by its id in the database."""

    id: int
    kind: str
    actor: str


async def audit_page(db: Database, tenant_id: str, after: int, rows: int = PAGE_ROWS) -> AuditPage:
    """Return up to `rows` rows after number `after`; fewer, where the chain ends with them."""
    values = {"tenant": tenant_id, "after": after, "rows": rows, "genesis": GENESIS}
    async with db.transaction(tenant_id) as tx:
        found = (await tx.execute(_PAGE, values)).mappings().all()
    first = found[0]
    head = None if first["head_n"] is None else Head(n=first["head_n"], hash=first["head_hash"])
    names = AuditRow.model_fields
    return AuditPage(rows=tuple(AuditRow(**{k: row[k] for k in names}) for row in found if row["n"]), head=head)


async def unchained(db: Database, tenant_id: str, rows: int = 20) -> list[Unchained]:
    """Return rows that have no number: the database gives every row one, in the transaction that writes it."""
    found = await _all(db, tenant_id, _UNCHAINED, rows=rows)
    return [Unchained(id=row.id, kind=row.kind, actor=row.actor) for row in found]


async def audit_size(db: Database, tenant_id: str) -> int:
    """Return how many rows the chain has, by its head."""
    return int((await _all(db, tenant_id, _SIZE))[0][0])


async def number_before(db: Database, tenant_id: str, since: datetime) -> int | None:
    """Return the number after which the rows written since then begin, or None where there are none."""
    found = (await _all(db, tenant_id, _BEFORE, since=since))[0][0]
    return None if found is None else int(found)


async def verdicts_on_record(db: Database, tenant_id: str, after: int, since: datetime | None) -> int:
    """Return how many verdicts there are after number `after` and since then."""
    return int((await _all(db, tenant_id, _COUNT, after=after, since=since))[0][0])


async def verdict_pages(
    db: Database, tenant_id: str, after: int, since: datetime | None, rows: int = PAGE_ROWS
) -> AsyncIterator[list[VerdictRow]]:
    """Yield the verdicts after number `after` and since then, in order, page by page."""
    while True:
        found = await _all(db, tenant_id, _VERDICTS, after=after, since=since, rows=rows)
        page = [VerdictRow(row.n, row.at, row.operation_id, row.body) for row in found]
        if page:
            yield page
            after = page[-1].n
        if len(page) < rows:
            return


async def _all(db: Database, tenant_id: str, query: sa.TextClause, **values: Any) -> list[sa.Row[Any]]:
    async with db.transaction(tenant_id) as tx:
        return list((await tx.execute(query, {"tenant": tenant_id, **values})).all())
