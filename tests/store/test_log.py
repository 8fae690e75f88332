"""INVARIANT 1: the log numbers its events 1, 2, 3, whoever writes at once and whatever is rolled back."""

import asyncio
from uuid import uuid4

import pytest

from domain.conversation import EventKind
from domain.refusal import NotFound
from store.log import append, append_behind, leave_wake, lock_conversation, step_result
from tests.conftest import MakeTenant
from tests.store.world import Talk

WRITERS, TURNS = 30, 4


class Abandoned(Exception):
    """A writer gives up after it has written."""


async def write(talk: Talk, n: int) -> None:
    async with talk.db.transaction(talk.tenant) as tx:
        row = await lock_conversation(tx, talk.id)
        event = await append(tx, row, EventKind.NOTICE, "bot:interlock", {"text": str(n)})
        await append_behind(tx, row, [(EventKind.DRAFT, {"n": n}), (EventKind.VERDICT, {"n": n})])
        await leave_wake(tx, row, event, row.owner_epoch)
        if n % 3 == 0:
            raise Abandoned


async def test_seq_is_gapless_under_many_writers_and_rollbacks(talk: Talk) -> None:
    async def writer(n: int) -> None:
        for turn in range(TURNS):
            try:
                await write(talk, n * TURNS + turn)
            except Abandoned:
                continue

    await asyncio.gather(*(writer(n) for n in range(WRITERS)))
    written = sum(n % 3 != 0 for n in range(WRITERS * TURNS))
    log = await talk.log()
    everybody = [e for e in log if not e.kind.staff_only]
    assert [e.seq for e in everybody] == list(range(1, written + 1))
    assert [e.body["n"] for e in log if e.kind is EventKind.DRAFT] == [int(e.body["text"]) for e in everybody]
    assert (await talk.row()).version == written
    wakes = await talk.all("SELECT event_seq FROM outbox WHERE conversation_id = :id ORDER BY id")
    assert [seq for (seq,) in wakes] == list(range(1, written + 1))


async def test_time_does_not_run_backwards_along_the_log(talk: Talk) -> None:
    await asyncio.gather(*(talk.say() for _ in range(WRITERS)))
    times = [e.at for e in await talk.log()]
    assert times == sorted(times)
    assert (await talk.row()).updated_at == times[-1]


async def test_a_customer_sees_no_gap_where_staff_see_more(talk: Talk) -> None:
    await talk.claimed()
    async with talk.db.transaction(talk.tenant) as tx:
        assert await step_result(tx, talk.id, uuid4().hex) is None
    staff = await talk.log()
    assert {e.kind for e in staff} >= {EventKind.VERDICT}
    seqs = [e.seq for e in staff if not e.kind.staff_only]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_a_step_finds_what_it_wrote(talk: Talk) -> None:
    await talk.say()
    fence = await talk.fence()
    await talk.publish(fence)
    async with talk.db.transaction(talk.tenant) as tx:
        found = await step_result(tx, talk.id, fence.step_id)
    assert found is not None
    assert found.kind == EventKind.BOT_REPLY


async def test_a_conversation_of_another_tenant_cannot_be_locked(talk: Talk, make_tenant: MakeTenant) -> None:
    async with talk.db.transaction(make_tenant()) as tx:
        with pytest.raises(NotFound):
            await lock_conversation(tx, talk.id)
