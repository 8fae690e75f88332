"""Connections: one pool per role, and the transaction in which a tenant is set.

Without a tenant no row of a tenant is visible; that is the database's doing (row-level security), not ours.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from store.pipeline import COMMIT, Asked, Row, Statement, run
from store.url import driver_url

Tx = AsyncConnection

_BEGIN = Statement(sa.text("BEGIN"))
_SET_TENANT = Statement(sa.text("SELECT set_config('interlock.tenant', :tenant, true)"))


# A worker that is cut off between two statements must not keep a takeover waiting: its transaction is ended, and its
# locks with it. Nothing here waits longer than people would.
_PATIENCE = {
    "connect_timeout": 5,
    "options": "-c idle_in_transaction_session_timeout=5s -c lock_timeout=10s -c statement_timeout=30s",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


class Database:
    """A pool of connections for one role. Parameters never appear in errors."""

    def __init__(self, url: str, pool_size: int = 10) -> None:
        self.url = driver_url(url)
        self.engine: AsyncEngine = create_async_engine(
            self.url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=10,
            pool_pre_ping=False,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",  # the driver's own BEGIN costs a round trip; ours goes with what follows it
            connect_args={"application_name": "interlock", "prepare_threshold": 3, **_PATIENCE},
        )

    @asynccontextmanager
    async def transaction(self, tenant_id: str) -> AsyncIterator[Tx]:
        """Open one read-committed transaction in which only `tenant_id` exists; commits on a clean exit."""
        async with self.transaction_after(tenant_id) as (tx, _):
            yield tx

    @asynccontextmanager
    async def transaction_after(self, tenant_id: str, *asked: Asked) -> AsyncIterator[tuple[Tx, list[list[Row]]]]:
        """The same, begun with some statements in one round trip; gives their rows too."""
        async with self.engine.begin() as tx:
            _, _, *found = await run(tx, _BEGIN(), _SET_TENANT(tenant=tenant_id), *asked)
            yield tx, found

    async def at_once(self, tenant_id: str, *asked: Asked) -> list[list[Row]]:
        """Run one whole transaction in one round trip and return the rows of each statement."""
        async with self.engine.begin() as tx:
            _, _, *found, _ = await run(tx, _BEGIN(), _SET_TENANT(tenant=tenant_id), *asked, COMMIT())
            return found

    @asynccontextmanager
    async def across_tenants(self) -> AsyncIterator[Tx]:
        """Open a transaction with no tenant: only the relay's role sees anything, and only identifiers."""
        async with self.engine.begin() as tx:
            await run(tx, _BEGIN())
            yield tx

    async def close(self) -> None:
        """Give all connections back."""
        await self.engine.dispose()
