"""A transaction is whole or not at all, knows one tenant and forgets it, and tells no parameter when it fails."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from domain.conversation import EventKind
from store import tables as t
from store.database import Database, Tx
from store.faults import passes
from store.log import append, lock_conversation
from store.pipeline import Statement, run
from tests.postgres import Postgres
from tests.store.world import Talk

COUNT = Statement(sa.select(sa.func.count().label("n")).select_from(t.conversations))


@pytest_asyncio.fixture(loop_scope="session")
async def one(postgres: Postgres) -> AsyncIterator[Database]:
    """A database with a single connection, so that whatever sticks to it shows."""
    database = Database(postgres.app_url, pool_size=1)
    yield database
    await database.close()


async def write(tx: Tx, talk: Talk) -> None:
    await append(tx, await lock_conversation(tx, talk.id), EventKind.NOTICE, "bot:interlock", {"text": "secret"})


class Abandoned(Exception):
    """A writer gives up."""


async def give_up(db: Database, talk: Talk) -> None:
    async with db.transaction(talk.tenant) as tx:
        await write(tx, talk)
        raise Abandoned


async def test_what_ends_cleanly_is_committed_and_what_raises_is_not(one: Database, talk: Talk) -> None:
    with pytest.raises(Abandoned):
        await give_up(one, talk)
    assert await talk.log() == []
    async with one.transaction(talk.tenant) as tx:
        await write(tx, talk)
        assert await talk.log() == []  # nobody else sees it yet
    assert [e.seq for e in await talk.log()] == [1]


async def test_a_cancelled_transaction_leaves_nothing_and_gives_its_locks_back(one: Database, talk: Talk) -> None:
    begun = asyncio.Event()

    async def sleeper() -> None:
        async with one.transaction(talk.tenant) as tx:
            await write(tx, talk)
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(sleeper())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await talk.say()
    async with one.transaction(talk.tenant) as tx:
        await write(tx, talk)
    assert [e.seq for e in await talk.log()] == [1, 2]


async def test_a_transaction_cancelled_while_it_waits_for_a_lock_leaves_nothing(one: Database, talk: Talk) -> None:
    async with talk.db.transaction(talk.tenant) as holder:
        await lock_conversation(holder, talk.id)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(give_up(one, talk), 0.2)
    assert await talk.log() == []
    with pytest.raises(Abandoned):
        await give_up(one, talk)


async def test_a_tenant_does_not_outlive_its_transaction(one: Database, talk: Talk) -> None:
    async with one.transaction(talk.tenant) as tx:
        ((mine,),) = await run(tx, COUNT())
    async with one.across_tenants() as tx:
        ((nobodys,),) = await run(tx, COUNT())
    with pytest.raises(Abandoned):
        await give_up(one, talk)
    async with one.engine.connect() as bare:
        assert (await bare.execute(sa.select(sa.func.count()).select_from(t.conversations))).scalar_one() == 0
    assert (mine.n, nobodys.n) == (1, 0)


async def test_statements_sent_together_are_one_transaction(one: Database, talk: Talk) -> None:
    good = Statement(sa.update(t.conversations).values(language="de"))
    bad = Statement(sa.update(t.conversations).values(owner=sa.bindparam("who", type_=sa.Text)))
    with pytest.raises(IntegrityError) as raised:
        await one.at_once(talk.tenant, good(), bad(who="nobody-we-know"))
    assert "nobody-we-know" not in str(raised.value).partition("DETAIL")[0]
    assert (await talk.row()).language == "en"
    await one.at_once(talk.tenant, good())
    assert (await talk.row()).language == "de"


async def test_a_lost_connection_is_a_failure_that_passes_and_the_next_transaction_works(
    one: Database, talk: Talk
) -> None:
    async def lose() -> None:
        async with one.transaction(talk.tenant) as tx:
            await write(tx, talk)
            pid = (await tx.execute(sa.select(sa.func.pg_backend_pid()))).scalar_one()
            async with talk.db.across_tenants() as other:
                await other.execute(sa.select(sa.func.pg_terminate_backend(pid)))
            await write(tx, talk)

    with pytest.raises(DBAPIError) as raised:
        await lose()
    assert passes(raised.value)
    assert await talk.log() == []
    async with one.transaction(talk.tenant) as tx:
        await write(tx, talk)
    assert len(await talk.log()) == 1
