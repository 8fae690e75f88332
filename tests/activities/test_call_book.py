"""Laws of the books of calls: one that was given up is in them, and one that cannot be written counts all the same."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from structlog.testing import capture_logs

from activities.call_book import CallBook
from connectors.model_endpoints.book import ModelBook
from domain.model_task import BudgetSpent
from store.database import Database
from store.model_calls import spent
from tests.activities.conftest import conversation
from tests.activities.desks import book_of, booked, desk_over, occasion
from tests.activities.test_model_desk import GOOD, Sum, task, total
from tests.connectors.raw_endpoint import silence
from tests.postgres import Postgres
from tests.store.test_model_calls import call


@asynccontextmanager
async def closed_books(database: Postgres) -> AsyncIterator[None]:
    """For a while nobody can write a call; whoever tries waits for the lock, as for a store that is away."""
    async with await psycopg.AsyncConnection.connect(database.owner_url) as owner:
        await owner.execute("LOCK TABLE model_calls IN SHARE MODE")
        yield
        await owner.rollback()


async def test_a_call_that_was_given_up_is_booked(db: Database, database: Postgres) -> None:
    ident = await conversation(db, "hello")
    patient = book_of().model_dump(mode="json")
    patient["roles"]["understand"]["small"]["call_timeout_s"] = 30
    asked = asyncio.Event()

    async def hangs(writer: asyncio.StreamWriter) -> None:
        asked.set()
        await silence(writer)

    async with desk_over(db, [hangs], ModelBook.model_validate(patient)) as (desk, _):
        asking = asyncio.ensure_future(desk.ask(task(), Sum, occasion(ident, within_s=30)))
        await asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert booked(database, ident) == [("cheap", "timeout", "cancelled", 0, 0)]


async def test_a_call_whose_booking_is_cut_short_is_booked(db: Database, database: Postgres) -> None:
    ident, books = await conversation(db, "hello"), CallBook(db)
    async with closed_books(database):
        booking = asyncio.ensure_future(books.book(occasion(ident), call()))
        await asyncio.sleep(0.05)
        booking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await booking
        assert booked(database, ident) == []
    await books.close()
    assert len(booked(database, ident)) == 1


async def test_books_that_cannot_be_written_lose_no_answer_and_the_budget_holds(
    db: Database, database: Postgres
) -> None:
    ident, other = await conversation(db, "hello"), await conversation(db, "hello")
    async with desk_over(db, [GOOD], book_of(turn={"calls_max": 1})) as (desk, there):
        async with closed_books(database):
            assert await total(desk, ident) == 3
            asking = asyncio.ensure_future(total(desk, other))
            with pytest.raises(BudgetSpent):
                await total(desk, ident)
            assert await asking == 3
            assert len(there.bodies) == 2
        assert await total(desk, ident, answered_seq=2) == 3
    assert [row[1] for row in booked(database, ident)] == ["ok", "over_budget", "ok"]
    assert (await spent(db, occasion(ident))).turn.calls == 1


@contextmanager
def locked_out(database: Postgres) -> Iterator[None]:
    """For a while nobody gets a connection who has none."""
    role = urlsplit(database.app_url).username
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(f'ALTER ROLE "{role}" NOLOGIN'.encode())
        yield
        admin.execute(f'ALTER ROLE "{role}" LOGIN'.encode())


async def test_a_call_that_could_not_be_written_is_written_with_the_next_once(db: Database, database: Postgres) -> None:
    ident, store = await conversation(db, "hello"), Database(database.app_url)
    books = CallBook(store)
    with locked_out(database), capture_logs() as logs:
        await books.book(occasion(ident), call())
    assert [entry["event"] for entry in logs] == ["model_call.unbooked"]
    for _ in range(2):
        assert (await books.spent(occasion(ident))).turn.calls == 1
    assert len(booked(database, ident)) == 1
    await store.close()
