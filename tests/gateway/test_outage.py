"""Postgres gone and back: a clear 503, nothing lost, nothing doubled, and no restart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from gateway.app import create_app
from store.database import Database
from tests.gateway.cable import Cable
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.postgres import Postgres
from tests.store.world import Talk


@pytest.fixture
async def cable(postgres: Postgres) -> AsyncIterator[Cable]:
    async with Cable(postgres.app_url).laid() as cable:
        yield cable


@pytest.fixture
async def remote(make_doors: MakeDoors, calling: Any, cable: Cable) -> AsyncIterator[Caller]:
    behind = Database(cable.url)
    async with calling(create_app(make_doors(database=behind))) as caller:
        yield caller
    await behind.close()


async def settled(ask: Callable[[], Awaitable[int]]) -> int:
    """Ask again, as a client would, until the answer is not that it has to."""
    for _ in range(200):
        if (status := await ask()) != 503:
            return status
        await asyncio.sleep(0.05)
    raise AssertionError("still unavailable")


async def test_while_postgres_is_away_requests_are_put_off_and_not_lost(
    remote: Caller, cable: Cable, talk: Talk
) -> None:
    path, body = f"/conversations/{talk.id}/messages", {"client_message_id": "m1", "text": "Hello"}
    key = {"Idempotency-Key": "k"}
    assert (await remote.post(path, body, talk.customer)).status_code == 202
    cable.cut()
    for headers in ({}, key):
        answer = await remote.post(path, {**body, "client_message_id": "m2"}, talk.customer, headers=headers)
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (503, "unavailable")
        assert answer.headers["retry-after"]
    ready = await remote.get("/readyz")
    assert (ready.status_code, ready.json()["dependencies"]["postgres"]) == (503, "failing")
    assert (await remote.get("/healthz")).status_code == 200
    cable.mend()

    async def again() -> int:
        answer = await remote.post(path, {**body, "client_message_id": "m2"}, talk.customer, headers=key)
        return answer.status_code

    assert await settled(again) == 202
    assert (await remote.get("/readyz")).status_code == 200
    assert len(await talk.log()) == 2


async def test_a_connection_lost_in_the_middle_is_no_defect(remote: Caller, cable: Cable, talk: Talk) -> None:
    path = f"/conversations/{talk.id}/messages"

    async def post(n: int) -> int:
        answer = await remote.post(path, {"client_message_id": f"m{n}", "text": "x"}, talk.customer)
        return answer.status_code

    await post(0)
    posting = [asyncio.create_task(post(n)) for n in range(1, 16)]
    await asyncio.sleep(0.03)
    cable.cut()
    first = await asyncio.gather(*posting)
    assert set(first) <= {202, 503}
    cable.mend()
    for n in range(16):
        assert await settled(partial(post, n)) in (200, 202)
    log = await talk.log()
    assert [event.seq for event in log] == list(range(1, 17))
