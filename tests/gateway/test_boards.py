"""Boards: read once for all who look in one moment, never too old, never another tenant's, true to who changed it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import pytest

from domain.principal import VerifiedPrincipal
from gateway.boards import AGE_MAX_S, Board, Boards
from gateway.hub import Hub
from store.database import Database
from store.listening import Heard, listening
from store.queue import Look, look
from tests.conftest import MakeStaff, MakeTenant
from tests.store.world import Talk

Who = VerifiedPrincipal


class Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def heard() -> asyncio.Queue[Heard]:
    """What a hub hears in the place of what Postgres calls out."""
    return asyncio.Queue()


@pytest.fixture
async def hub(clock: Clock, heard: asyncio.Queue[Heard]) -> AsyncIterator[Hub]:
    listens = asyncio.Event()

    @asynccontextmanager
    async def listen() -> AsyncIterator[AsyncIterator[Heard]]:
        async def calls() -> AsyncIterator[Heard]:
            listens.set()
            while True:
                yield await heard.get()

        yield calls()

    hub = Hub(listen, 10, clock)
    hub.start()
    await listens.wait()
    clock.at += 1  # what was before it listened may have been missed
    yield hub
    await hub.stop()


@pytest.fixture
def boards(db: Database, hub: Hub, clock: Clock) -> Boards:
    return Boards(partial(look, db), hub, lambda: datetime.now(UTC), clock)


async def call_out(heard: asyncio.Queue[Heard], tenant_id: str, topic: str = "log") -> None:
    """Let the hub hear of a change."""
    heard.put_nowait(Heard(tenant_id=tenant_id, conversation_id="c", seq=1, topic=topic))
    for _ in range(3):
        await asyncio.sleep(0)
    assert heard.empty()


async def test_who_looks_in_the_same_moment_looks_at_one_board(
    boards: Boards, talk: Talk, make_staff: MakeStaff
) -> None:
    people = [make_staff(talk.tenant) for _ in range(5)]
    found = await asyncio.gather(*(boards.of(who) for who in people))
    assert len({id(board) for board in found}) == 1
    assert await boards.of(people[0]) is found[0]


async def test_a_board_is_never_of_another_tenant(
    boards: Boards, talk: Talk, agent: Who, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    await talk.ask_for_person()
    stranger = make_staff(make_tenant())
    mine, theirs = await asyncio.gather(boards.of(agent), boards.of(stranger))
    assert [one.waiting.conversation_id for one in mine.order] == [talk.id]
    assert (theirs.tenant_id, theirs.order) == (stranger.tenant_id, [])
    for who, board in ((agent, mine), (stranger, theirs)):
        assert await boards.of(who) is board


async def test_a_board_holds_for_a_second_and_until_something_is_heard_that_it_shows(
    boards: Boards, clock: Clock, agent: Who, heard: asyncio.Queue[Heard]
) -> None:
    first = await boards.of(agent)
    clock.at += AGE_MAX_S - 0.01
    await call_out(heard, "another-tenant")
    await call_out(heard, agent.tenant_id, "presence")  # no queue shows it
    assert await boards.of(agent) is first
    clock.at += 0.02
    second = await boards.of(agent)
    assert second is not first
    clock.at += 0.01
    await call_out(heard, agent.tenant_id)
    clock.at += 0.01
    third = await boards.of(agent)
    assert third is not second
    assert await boards.of(agent) is third


async def test_many_changes_make_few_boards_and_who_waits_for_one_gets_a_new_one(
    db: Database, hub: Hub, agent: Who, clock: Clock, heard: asyncio.Queue[Heard]
) -> None:
    async def slow(tenant_id: str, now: datetime, since: datetime) -> Look:
        found = await look(db, tenant_id, now, since)
        clock.at += 0.05
        return found

    boards = Boards(slow, hub, lambda: datetime.now(UTC), clock)
    last = await boards.of(agent)
    began = asyncio.get_running_loop().time()
    clock.at += 0.01
    await call_out(heard, agent.tenant_id)
    clock.at += 0.01
    found = await asyncio.gather(*(boards.of(agent) for _ in range(20)))
    assert len({id(board) for board in found}) == 1
    assert found[0] is not last
    assert asyncio.get_running_loop().time() - began >= 0.17


async def test_who_changed_something_sees_it_though_nothing_was_heard_yet(
    boards: Boards, clock: Clock, talk: Talk, agent: Who, manager: Who
) -> None:
    def seen(board: Board) -> list[str | None]:
        return [one.waiting.conversation_id for one in board.order]

    assert seen(await boards.of(agent)) == []
    await talk.ask_for_person()
    clock.at += 0.01
    boards.changed_by(agent)
    assert seen(await boards.of(manager)) == []
    clock.at += 0.01
    assert seen(await boards.of(agent)) == [talk.id]
    assert seen(await boards.of(manager)) == [talk.id]  # the newer board is everybody's


async def test_a_board_that_was_begun_before_a_change_is_not_for_who_made_it(
    db: Database, hub: Hub, clock: Clock, talk: Talk, agent: Who
) -> None:
    was_read, go_on = asyncio.Event(), asyncio.Event()

    async def slow(tenant_id: str, now: datetime, since: datetime) -> Look:
        found = await look(db, tenant_id, now, since)
        was_read.set()
        await go_on.wait()
        return found

    boards = Boards(slow, hub, lambda: datetime.now(UTC), clock)
    begun = asyncio.create_task(boards.of(agent))
    await was_read.wait()
    await talk.ask_for_person()
    clock.at += 0.01
    boards.changed_by(agent)
    clock.at += 0.01
    mine = asyncio.create_task(boards.of(agent))
    await asyncio.sleep(0)
    go_on.set()
    assert (await begun).order == []
    assert [one.waiting.conversation_id for one in (await mine).order] == [talk.id]


async def test_a_hub_that_hears_nothing_keeps_no_board(db: Database, agent: Who) -> None:
    boards = Boards(partial(look, db), Hub(lambda: listening(db), 10), lambda: datetime.now(UTC))
    assert await boards.of(agent) is not await boards.of(agent)


async def test_a_board_that_cannot_be_had_is_tried_anew_by_the_next(
    db: Database, hub: Hub, clock: Clock, agent: Who
) -> None:
    faults: list[Exception] = [ConnectionError()]

    async def away_once(tenant_id: str, now: datetime, since: datetime) -> Look:
        if faults:
            raise faults.pop()
        return await look(db, tenant_id, now, since)

    boards = Boards(away_once, hub, lambda: datetime.now(UTC), clock)
    failed = await asyncio.gather(boards.of(agent), boards.of(agent), return_exceptions=True)
    assert [type(fault) for fault in failed] == [ConnectionError] * 2
    assert (await boards.of(agent)).tenant_id == agent.tenant_id
