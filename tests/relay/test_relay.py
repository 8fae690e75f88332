"""Laws of the relay: every committed wake-up is sent, in its conversation's order, however often something is away."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from relay.relay import Relay
from relay.temporal import TemporalAddress, Waker, connect
from stack import ports
from store.database import Database
from store.outbox import claim_due, outbox_lag
from tests.relay.conftest import NOBODY, KeepingWaker, lazy_waker, talk
from tests.workflows import servers
from workflows.messages import conversation_workflow_id

Due = Callable[[], None]
Row = Callable[[int], tuple[int, datetime | None]]


async def test_wake_ups_go_in_the_order_of_their_conversation_and_once(
    db: Database, relay_db: Database, due: Due, row: Row
) -> None:
    wakes = [await talk(db, 4) for _ in range(3)]
    due()
    waker = KeepingWaker()
    relay = Relay(relay_db, waker, 1)
    assert await relay.send_due() == 12
    for one in wakes:
        assert [w for w in waker.woken if w.conversation_id == one[0].conversation_id] == one
        assert all(row(w.outbox_id)[1] for w in one)
    assert await relay.send_due() == 0


async def test_the_fast_path_has_its_time_before_the_relay_begins(db: Database, relay_db: Database) -> None:
    await talk(db)
    assert await Relay(relay_db, KeepingWaker(), 1).send_due() == 0


async def test_after_a_failure_the_later_ones_of_the_conversation_wait_and_others_do_not(
    db: Database, relay_db: Database, due: Due, row: Row
) -> None:
    stuck, free = await talk(db, 3), await talk(db, 2)
    due()
    waker = KeepingWaker()
    waker.refused.add(stuck[0].conversation_id)
    await Relay(relay_db, waker, 1).send_due()
    assert waker.woken == free
    assert [row(w.outbox_id)[1] for w in stuck] == [None, None, None]
    waker.refused.clear()
    due()
    await Relay(relay_db, waker, 1).send_due()
    assert waker.woken == [*free, *stuck]


async def test_what_failed_is_tried_again_later_and_later(db: Database, relay_db: Database, due: Due, row: Row) -> None:
    (wake,) = await talk(db)
    waker = KeepingWaker()
    waker.refused.add(wake.conversation_id)
    relay = Relay(relay_db, waker, 1)
    for attempt in (1, 2, 3):
        due()
        assert await relay.send_due() == 1
        assert await relay.send_due() == 0
        assert row(wake.outbox_id) == (attempt, None)


async def test_two_relays_never_take_the_same_row(db: Database, relay_db: Database, due: Due) -> None:
    await asyncio.gather(*(talk(db, 5) for _ in range(6)))
    due()
    taken = await asyncio.gather(*(claim_due(relay_db, 10, 30) for _ in range(4)))
    ids = [w.outbox_id for wakes in taken for w in wakes]
    assert len(ids) == len(set(ids)) == 30


async def test_while_temporal_is_down_rows_are_kept_and_it_all_goes_out_when_it_is_up(
    db: Database, relay_db: Database, due: Due, row: Row
) -> None:
    port = ports.resolve({"--port": 0})["--port"]
    where = TemporalAddress(address=f"127.0.0.1:{port}", namespace="default")
    relay = Relay(relay_db, Waker(await connect(where), "nobody", 600), 1)
    wakes = await talk(db, 2)
    due()
    assert await relay.send_due() == 2
    assert [row(w.outbox_id)[1] for w in wakes] == [None, None]
    assert (await outbox_lag(relay_db)).waiting == 2
    async with servers.temporal_at(port):
        due()
        await relay.send_due()
        assert all(row(w.outbox_id)[1] for w in wakes)
        client = await connect(where, lazy=False)
        handle = client.get_workflow_handle(conversation_workflow_id(wakes[0].conversation_id))
        events = [e async for e in handle.fetch_history_events()]
        assert len([e for e in events if e.HasField("workflow_execution_signaled_event_attributes")]) == 2


async def test_a_relay_outlives_a_database_that_is_away(relay_db: Database) -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    relay = asyncio.create_task(Relay(away, await lazy_waker(NOBODY), 0.01).run())
    await asyncio.sleep(0.3)
    assert not relay.done()
    relay.cancel()
    await asyncio.gather(relay, return_exceptions=True)
    await away.close()


async def test_a_sweep_wakes_what_is_unanswered_though_its_wake_up_was_delivered(
    db: Database, relay_db: Database, due: Due
) -> None:
    wakes = await talk(db, 2)
    due()
    waker = KeepingWaker()
    await Relay(relay_db, waker, 1).send_due()
    waker.woken.clear()
    assert await Relay(relay_db, waker, 1).sweep() == 0  # it is young: its workflow is at it
    assert await Relay(relay_db, waker, 1, sweep_older_than_s=0).sweep() == 1
    assert [(w.conversation_id, w.seq) for w in waker.woken] == [(wakes[0].conversation_id, 2)]
