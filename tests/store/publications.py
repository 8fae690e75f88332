"""A publication that is under way: it holds the tenant's gate while something comes to wait for it, then commits."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from store.circumstances import close_gate
from store.database import Database
from store.policies import NewBundle, Plan, PublicationCause, Term, publications, publish_in
from tests.postgres import Postgres
from tests.store.terms import now

UntilWaiting = Callable[["asyncio.Task[Any]"], Awaitable[None]]


@asynccontextmanager
async def publishing(postgres: Postgres, tenant_id: str, digest: str) -> AsyncIterator[UntilWaiting]:
    """Publish a bundle that is kept. The gate is closed inside, and open after the commit, at the end."""
    db = Database(postgres.app_url, 2)
    bundle = NewBundle(digest=digest, bundle_id="base", version="1", manifest={}, files={})
    term = Term(bundle=bundle, effective_from=now(), effective_until=None, cause=PublicationCause.PUBLISHED)

    async def until_waiting(task: "asyncio.Task[Any]") -> None:
        for _ in range(500):
            if task.done() or await _somebody_waits(postgres):
                return
            await asyncio.sleep(0.01)
        raise AssertionError("nobody has come to wait")

    try:
        seen = (await publications(db, tenant_id))[0].n
        async with db.transaction(tenant_id) as tx:
            await close_gate(tx, tenant_id)
            yield until_waiting
            await publish_in(tx, tenant_id, Plan(seen=seen, terms=(term,)), "staff:x", None)
    finally:
        await db.close()


async def _somebody_waits(postgres: Postgres) -> bool:
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with await psycopg.AsyncConnection.connect(postgres.owner_url, autocommit=True) as owner:
        row = await (await owner.execute(query)).fetchone()
        return bool(row and row[0])
