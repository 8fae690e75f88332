"""Every committed event is heard, as identifiers; a connection that is lost, or cannot be had, says so."""

import asyncio

import psycopg
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from domain.conversation import EventKind
from store.database import Database
from store.faults import passes
from store.listening import Heard, listening, ping
from store.log import append, lock_conversation
from tests.store.world import Talk


class Abandoned(Exception):
    """The writer gives up."""


async def write_and_give_up(talk: Talk) -> None:
    async with talk.db.transaction(talk.tenant) as tx:
        await append(tx, await lock_conversation(tx, talk.id), EventKind.NOTICE, "bot:interlock", {})
        raise Abandoned


async def test_what_is_committed_is_heard_in_order_and_what_is_rolled_back_is_not(talk: Talk) -> None:
    async with listening(talk.db) as heard:
        with pytest.raises(Abandoned):
            await write_and_give_up(talk)
        await talk.say()
        await talk.publish()
        async with asyncio.timeout(20):
            mine = [await anext(heard) for _ in range(2)]
    assert mine == [Heard(tenant_id=talk.tenant, conversation_id=talk.id, seq=n) for n in (1, 2)]


async def lose_the_connection(db: Database) -> None:
    async with listening(db) as heard:
        async with db.across_tenants() as tx:
            await tx.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'interlock-listener' AND usename = current_user"
            )
        async with asyncio.timeout(20):
            await anext(heard)


async def test_a_lost_connection_says_so(db: Database) -> None:
    with pytest.raises(ConnectionError):
        await lose_the_connection(db)


async def test_a_server_that_is_not_there_is_a_failure_that_passes() -> None:
    nowhere = Database("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(ConnectionError):
        async with listening(nowhere):
            pass
    with pytest.raises(OperationalError) as raised:
        await ping(nowhere)
    assert passes(raised.value)
    await nowhere.close()


def test_a_violated_constraint_does_not_pass_by_itself() -> None:
    assert not passes(IntegrityError("statement", {}, psycopg.errors.UniqueViolation()))
    assert not passes(ValueError())


async def test_a_server_that_is_there_answers(db: Database) -> None:
    await ping(db)
