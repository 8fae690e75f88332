"""Laws of the fast path: it delivers and marks, and what it cannot deliver is the relay's."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from relay import courier
from relay.courier import TemporalCourier
from store.database import Database
from tests.relay.conftest import NOBODY, KeepingWaker, lazy_waker, talk

Row = Callable[[int], tuple[int, datetime | None]]


@asynccontextmanager
async def running(sender: TemporalCourier) -> AsyncIterator[None]:
    marking = asyncio.create_task(sender.run())
    try:
        yield
    finally:
        marking.cancel()
        await asyncio.gather(marking, return_exceptions=True)


async def test_what_is_delivered_is_marked(db: Database, row: Row) -> None:
    wakes, waker = await talk(db, 3), KeepingWaker()
    sender = TemporalCourier(waker, db)
    async with running(sender):
        sender.send(wakes)
        await asyncio.sleep(2 * courier.MARK_INTERVAL_S)
        assert sorted(w.outbox_id for w in waker.woken) == [w.outbox_id for w in wakes]
        assert all(row(w.outbox_id)[1] for w in wakes)


async def test_the_last_deliveries_are_marked_on_the_way_out(db: Database, row: Row) -> None:
    (wake,) = await talk(db)
    sender = TemporalCourier(KeepingWaker(), db)
    async with running(sender):
        sender.send([wake])
        await asyncio.sleep(0)
    assert row(wake.outbox_id)[1] is not None


async def test_with_temporal_down_it_neither_raises_nor_marks(db: Database, row: Row) -> None:
    (wake,) = await talk(db)
    sender = TemporalCourier(await lazy_waker(NOBODY), db)
    async with running(sender):
        sender.send([wake])
        await asyncio.sleep(2 * courier.MARK_INTERVAL_S)
    assert row(wake.outbox_id)[1] is None


async def test_with_the_database_away_nothing_is_raised(db: Database) -> None:
    (wake,) = await talk(db)
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    sender = TemporalCourier(KeepingWaker(), away)
    async with running(sender):
        sender.send([wake])
        await asyncio.sleep(2 * courier.MARK_INTERVAL_S)
    await away.close()
