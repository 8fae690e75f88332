"""A connection that was cut off in the middle of a pipeline serves nobody else."""

import asyncio
from contextlib import suppress

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from store.database import Database
from store.pipeline import Statement, run
from tests.postgres import Postgres

SLEEP = Statement(sa.text("SELECT pg_sleep(:seconds)"))
SEVEN = Statement(sa.text("SELECT 7 AS seven"))
BROKEN = Statement(sa.text("SELECT 1 / :zero"))


@pytest.fixture
async def one(postgres: Postgres) -> Database:
    """A pool of a single connection, so that the next who asks gets the same."""
    return Database(postgres.app_url, pool_size=1)


async def serves(db: Database) -> bool:
    async with db.transaction("t") as tx:
        plain = (await tx.execute(sa.text("SELECT 7"))).scalar_one()
        (rows,) = await run(tx, SEVEN())
    return bool(plain == 7 and rows[0].seven == 7)


async def test_whoever_leaves_while_the_pipeline_is_put_away_leaves_no_half_of_it(one: Database) -> None:
    held, let_go = asyncio.Event(), asyncio.Event()

    async def competitor(connection: psycopg.AsyncConnection) -> None:
        async with connection.lock:  # gets it once the statements have run, before the pipeline is put away
            held.set()
            await let_go.wait()

    with suppress(asyncio.CancelledError, DBAPIError):
        async with one.engine.connect() as tx:
            connection = (await tx.get_raw_connection()).driver_connection
            assert isinstance(connection, psycopg.AsyncConnection)
            running = asyncio.create_task(run(tx, SLEEP(seconds=0.3)))
            await asyncio.sleep(0.1)
            holding = asyncio.create_task(competitor(connection))
            await held.wait()
            await asyncio.sleep(0.05)
            running.cancel()
            await asyncio.wait([running])
            let_go.set()
            await holding
            assert running.cancelled()
            assert connection.closed
    assert await serves(one)
    await one.close()


@pytest.mark.parametrize("after_ms", [0, 1, 5, 20, 60])
async def test_whoever_leaves_at_any_moment_spoils_nothing_for_the_next(one: Database, after_ms: int) -> None:
    async def whole() -> None:
        async with one.transaction("t") as tx:
            await run(tx, SEVEN(), SLEEP(seconds=0.05), SEVEN())

    for _ in range(5):
        task = asyncio.create_task(whole())
        await asyncio.sleep(after_ms / 1000)
        task.cancel()
        await asyncio.wait([task])
        assert await serves(one)
    await one.close()


async def test_a_statement_that_fails_leaves_the_connection_in_order(one: Database) -> None:
    with pytest.raises(DBAPIError):
        async with one.transaction("t") as tx:
            await run(tx, SEVEN(), BROKEN(zero=0), SEVEN())
    assert await serves(one)
    await one.close()
