"""The staff's stream: every change of the tenant as ids, soon, not too often, and only while its reader may look."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import psycopg
import pytest

from domain.principal import VerifiedPrincipal
from domain.teamwork import PresenceState
from gateway import crier as crier_module
from gateway import staff_stream
from gateway.app import create_app
from gateway.bells import EVERYTHING, FRAMES_HELD_MAX, TenantBell
from gateway.crier import CHANGES_HELD_MAX, Change, Crier
from store import presence, tags
from store.listening import Heard
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.conftest import MakeDoors, Serve
from tests.gateway.issuer import Issuer
from tests.gateway.test_streams import Reader, following
from tests.store.world import Talk

Who = VerifiedPrincipal


@pytest.fixture
async def url(make_doors: MakeDoors, serve: Serve) -> AsyncIterator[str]:
    async with serve(create_app(make_doors(sse_streams_per_principal_max=2))) as url:
        yield url


@contextlib.asynccontextmanager
async def watching(url: str, token: str, **headers: str) -> AsyncIterator[Reader]:
    given = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx.AsyncClient(base_url=url, timeout=30) as http,
        http.stream("GET", "/events/staff", headers={**given, **headers}) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        reader = Reader(answer)
        await reader.until(lambda: reader.comments)
        try:
            yield reader
        finally:
            await reader.stop()


def told(reader: Reader) -> list[dict[str, Any]]:
    assert {frame["event"] for frame in reader.frames} <= {"changed"}
    return [json.loads(frame["data"]) for frame in reader.frames]


async def test_staff_hear_of_every_change_of_their_tenant_and_of_no_other(
    url: str, talk: Talk, agent: Who, issuer: Issuer, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    stranger = make_staff(make_tenant())
    async with watching(url, issuer.token(agent)) as reader, watching(url, issuer.token(stranger)) as other:
        began = time.perf_counter()
        await talk.say("Secret words")
        await reader.frames_are(1)
        assert time.perf_counter() - began < 0.3 * 5  # 300 ms on a machine that does nothing else
        assert told(reader) == [{"conversation_id": talk.id, "seq": 1, "kind": "log"}]
        await tags.add_tag(talk.db, agent, talk.id, "vip")
        await reader.frames_are(2)
        assert told(reader)[1] == {"conversation_id": talk.id, "seq": 0, "kind": "tags"}
        assert other.frames == []
    assert "Secret" not in json.dumps(reader.frames)


async def test_a_session_cookie_is_enough_to_listen_and_a_customer_may_not(
    url: str, agent: Who, customer: Who, issuer: Issuer
) -> None:
    async with watching(url, "", Cookie=f"interlock_session={issuer.token(agent)}"):
        pass
    async with httpx.AsyncClient(base_url=url) as http:
        for token, status in ((issuer.token(customer), 403), ("x", 401)):
            answer = await http.get("/events/staff", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status


async def test_many_changes_of_one_conversation_are_told_together_and_the_last_is_never_lost(
    url: str, talk: Talk, agent: Who, issuer: Issuer
) -> None:
    beside = await talk.beside()
    async with watching(url, issuer.token(agent)) as reader:
        began = time.perf_counter()
        for _ in range(40):
            await talk.say()
        await beside.say()
        last = (await talk.row()).version
        await reader.until(lambda: {"conversation_id": talk.id, "seq": last, "kind": "log"} in told(reader))
        took_s = time.perf_counter() - began
        mine = [t["seq"] for t in told(reader) if t["conversation_id"] == talk.id]
        assert mine == sorted(mine)
        assert len(mine) <= took_s / crier_module.APART_S + 2
        await reader.until(lambda: any(t["conversation_id"] == beside.id for t in told(reader)))


async def test_a_stream_that_broke_off_begins_with_everything(url: str, agent: Who, issuer: Issuer) -> None:
    async with watching(url, issuer.token(agent), **{"Last-Event-ID": "7"}) as reader:
        await reader.frames_are(1)
        assert told(reader) == [{"conversation_id": None, "seq": 0, "kind": None}]


async def test_staff_streams_count_with_the_others_of_their_principal(url: str, agent: Who, issuer: Issuer) -> None:
    token = issuer.token(agent)
    async with watching(url, token), watching(url, token), httpx.AsyncClient(base_url=url) as http:
        refused = await http.get("/events/staff", headers={"Authorization": f"Bearer {token}"})
        assert (refused.status_code, refused.json()["type"].rpartition("/")[2]) == (429, "too-many-streams")
    async with watching(url, token):
        pass


async def test_a_staff_stream_ends_with_its_token(url: str, agent: Who, issuer: Issuer) -> None:
    async with watching(url, issuer.token(agent, exp=int(time.time()) - 28)) as reader:
        async with asyncio.timeout(10):
            await reader.over.wait()


async def test_who_works_here_no_more_hears_nothing_more(
    url: str,
    talk: Talk,
    agent: Who,
    issuer: Issuer,
    owner: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staff_stream, "STANDING_ON_CHANGE_S", 0.0)
    async with watching(url, issuer.token(agent)) as reader:
        owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s", (talk.tenant,))
        await talk.say()
        async with asyncio.timeout(10):
            await reader.over.wait()
        assert reader.frames == []


async def test_a_quiet_stream_says_that_it_lives(
    url: str, agent: Who, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staff_stream, "HEARTBEAT_S", 0.1)
    async with watching(url, issuer.token(agent)) as reader:
        await reader.until(lambda: reader.comments.count("still here") >= 2)


async def test_the_customer_is_here_while_a_stream_of_theirs_is_open(
    url: str, talk: Talk, agent: Who, issuer: Issuer
) -> None:
    async def here() -> bool:
        return (await presence.present(talk.db, agent, talk.id, talk.clock())).customer.here

    async with watching(url, issuer.token(agent)) as staff:
        assert not await here()
        async with following(url, talk, issuer.token(talk.customer)):
            await staff.frames_are(1)
            assert await here()
            async with following(url, talk, issuer.token(talk.customer)):
                pass
            await asyncio.sleep(0.3)
            assert await here()  # the other tab is open still
        await staff.frames_are(2)
        assert not await here()
        assert [t["kind"] for t in told(staff)] == ["presence", "presence"]  # what only goes on is not told


async def test_presence_alone_wakes_no_reader_of_the_log(url: str, talk: Talk, agent: Who, issuer: Issuer) -> None:
    async with following(url, talk, issuer.token(talk.customer)) as reader, watching(url, issuer.token(agent)) as staff:
        await presence.attend(talk.db, agent, talk.id, PresenceState.TYPING, talk.clock())
        await staff.until(lambda: any(t["kind"] == "presence" for t in told(staff)))
        assert reader.frames == []


# ------------------------------------------------------------ the crier and its bells
def heard(conversation_id: str, seq: int, topic: str) -> Heard:
    return Heard(tenant_id="t", conversation_id=conversation_id, seq=seq, topic=topic)


@pytest.fixture
def crier() -> Iterator[Crier]:
    crier = Crier()
    yield crier
    crier.stop()


def hung(crier: Crier) -> TenantBell:
    bell = TenantBell("staff:ann")
    crier.bells.add(bell)
    return bell


async def test_each_conversation_is_told_once_with_its_last_event_and_to_everybody_the_same(crier: Crier) -> None:
    bell, other = hung(crier), hung(crier)
    for one in (heard("a", 3, "log"), heard("b", 0, "tags"), heard("a", 5, "log"), heard("b", 0, "notes")):
        crier.hear(one)
    assert await bell.wait(1)
    frames = bell.take()
    assert frames == Change("a", 5, "log").frame() + Change("b", 0, None).frame()
    assert (bell.take(), other.take()) == (b"", frames)


async def test_what_waits_for_its_turn_keeps_nothing_else_waiting(crier: Crier) -> None:
    bell, told = hung(crier), []
    for one in (heard("a", 1, "log"), heard("a", 2, "log"), heard("b", 1, "log")):
        crier.hear(one)
        await bell.wait(0.05)
        told.append(bell.take())
    assert await bell.wait(5)
    told.append(bell.take())
    a, later, b = (Change(*one, "log").frame() for one in (("a", 1), ("a", 2), ("b", 1)))
    assert told == [a, b"", b, later]


async def test_a_burst_of_changes_is_told_as_everything(crier: Crier) -> None:
    bell = hung(crier)
    for n in range(CHANGES_HELD_MAX + 1):
        crier.hear(heard(f"c{n}", 1, "log"))
    assert await bell.wait(1)
    assert bell.take() == EVERYTHING


def test_a_bell_that_nobody_listens_to_stays_small_and_then_speaks_of_everything() -> None:
    bell = TenantBell("staff:ann")
    for _ in range(FRAMES_HELD_MAX):
        bell.tell(b"x")
    bell.tell(b"x")
    assert bell.take() == EVERYTHING
    assert bell.take() == b""
