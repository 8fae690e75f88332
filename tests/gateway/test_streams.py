"""Event streams: resumed where they broke off, live, bounded, and over when their bearer may no longer come."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import psycopg
import pytest

from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.reply import CheckedReply, Draft, Segment, Source
from gateway import stream as stream_module
from gateway.app import create_app
from store import turns
from store.database import Database
from tests.gateway.cable import Cable
from tests.gateway.conftest import MakeDoors, Serve
from tests.gateway.issuer import Issuer
from tests.postgres import Postgres
from tests.store.world import Talk

Frame = dict[str, str]


class Reader:
    """Reads one stream in the background, frame by frame."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer, self.frames, self.comments = answer, [], []  # type: ignore[var-annotated]
        self.over = asyncio.Event()
        self._more = asyncio.Condition()
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        frame: Frame = {}
        with contextlib.suppress(httpx.HTTPError):
            async for line in self.answer.aiter_lines():
                name, _, value = line.partition(": ")
                if line == "":
                    if "data" in frame:
                        self.frames.append(frame)
                    frame = {}
                elif line.startswith(":"):
                    self.comments.append(value)
                else:
                    frame[name] = value
                async with self._more:
                    self._more.notify_all()
        self.over.set()

    async def until(self, holds: Callable[[], Any], timeout_s: float = 10) -> None:
        async with asyncio.timeout(timeout_s), self._more:
            await self._more.wait_for(holds)

    async def frames_are(self, count: int) -> list[Frame]:
        await self.until(lambda: len(self.frames) >= count)
        return list(self.frames)

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


@contextlib.asynccontextmanager
async def following(
    url: str, talk: Talk, token: str, query: str = "", last: str | None = None
) -> AsyncIterator[Reader]:
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    if last is not None:
        headers["Last-Event-ID"] = last
    async with (
        httpx.AsyncClient(base_url=url, timeout=30) as http,
        http.stream("GET", f"/conversations/{talk.id}/events{query}", headers=headers) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["request-id"]
        reader = Reader(answer)
        try:
            yield reader
        finally:
            await reader.stop()


@pytest.fixture
async def url(make_doors: MakeDoors, serve: Serve) -> AsyncIterator[str]:
    async with serve(create_app(make_doors(sse_streams_per_principal_max=3))) as url:
        yield url


async def test_a_stream_tells_what_was_and_what_comes(url: str, talk: Talk, issuer: Issuer) -> None:
    await talk.say("One")
    async with following(url, talk, issuer.token(talk.customer)) as reader:
        (first,) = await reader.frames_are(1)
        assert (first["id"], first["event"], json.loads(first["data"])["text"]) == ("1", "customer_message", "One")
        began = time.perf_counter()
        await talk.say("Two")
        second = (await reader.frames_are(2))[1]
        assert time.perf_counter() - began < 1
        assert (second["id"], json.loads(second["data"])["text"]) == ("2", "Two")


async def test_a_stream_says_the_same_as_the_page(
    url: str, talk: Talk, issuer: Issuer, agent: VerifiedPrincipal
) -> None:
    await talk.proposed()
    await talk.take_over(agent)
    for who in (talk.customer, agent):
        token = issuer.token(who)
        async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
            page = (await http.get(f"/conversations/{talk.id}/events")).json()["events"]
        async with following(url, talk, token) as reader:
            assert [json.loads(f["data"]) for f in await reader.frames_are(len(page))] == page


async def test_a_stream_that_broke_off_goes_on_where_it_was(url: str, talk: Talk, issuer: Issuer) -> None:
    for n in range(5):
        await talk.say(f"m{n}")
    token = issuer.token(talk.customer)
    for query, last, expected in (("?after=3", None, ["4", "5"]), ("", "4", ["5"]), ("?after=1", "3", ["4", "5"])):
        async with following(url, talk, token, query, last) as reader:
            assert [f["id"] for f in await reader.frames_are(len(expected))] == expected
    async with following(url, talk, token, last="5") as reader:
        await talk.say("six")
        assert [f["id"] for f in await reader.frames_are(1)] == ["6"]


async def test_only_the_last_event_of_a_seq_has_its_id(
    url: str, talk: Talk, issuer: Issuer, agent: VerifiedPrincipal
) -> None:
    await talk.say()
    fence = await talk.fence()
    draft = Draft(language="en", segments=(Segment(text="Hello.", source=Source.TEMPLATE, rests_on="t"),))
    reply = CheckedReply(draft=draft, draft_digest=draft.digest)
    behind = [(EventKind.UNDERSTANDING, {"intent": "order_status"}), (EventKind.DRAFT, {"text": "Hello."})]
    await turns.publish_reply(talk.db, fence, reply, "en", talk.words, behind)
    async with following(url, talk, issuer.token(agent)) as reader:
        frames = await reader.frames_are(4)
        assert [(f["event"], f.get("id")) for f in frames] == [
            ("customer_message", "1"), ("understanding", None), ("draft", None), ("bot_reply", "2"),
        ]  # fmt: skip
    async with following(url, talk, issuer.token(talk.customer)) as reader:
        assert [f["event"] for f in await reader.frames_are(2)] == ["customer_message", "bot_reply"]


async def test_a_long_log_is_streamed_whole_and_in_order(url: str, talk: Talk, issuer: Issuer) -> None:
    for n in range(stream_module.PAGE_EVENTS + 30):
        await talk.say(f"m{n}")
    async with following(url, talk, issuer.token(talk.customer)) as reader:
        frames = await reader.frames_are(stream_module.PAGE_EVENTS + 30)
        assert [int(f["id"]) for f in frames] == list(range(1, stream_module.PAGE_EVENTS + 31))


async def test_nobody_hears_anothers_conversation(url: str, talk: Talk, issuer: Issuer) -> None:
    other = await talk.beside()
    async with following(url, talk, issuer.token(talk.customer)) as reader:
        await other.say("elsewhere")
        await talk.say("here")
        assert [json.loads(f["data"])["text"] for f in await reader.frames_are(1)] == ["here"]
    headers = {"Authorization": f"Bearer {issuer.token(talk.customer)}", "Accept": "text/event-stream"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        answer = await http.get("/conversations/no-such/events")
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_streams_of_one_principal_are_bounded_and_given_back(
    url: str, talk: Talk, issuer: Issuer, agent: VerifiedPrincipal
) -> None:
    token = issuer.token(talk.customer)
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    async with contextlib.AsyncExitStack() as open_streams:
        for _ in range(3):
            await open_streams.enter_async_context(following(url, talk, token))
        async with httpx.AsyncClient(base_url=url, headers=headers) as http:
            answer = await http.get(f"/conversations/{talk.id}/events")
            assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (429, "too-many-streams")
            assert answer.headers["retry-after"] == "5"
        async with following(url, talk, issuer.token(agent)):
            pass
    for _ in range(100):
        async with (
            httpx.AsyncClient(base_url=url, headers=headers) as http,
            http.stream("GET", f"/conversations/{talk.id}/events") as answer,
        ):
            if answer.status_code == 200:
                return
        await asyncio.sleep(0.05)
    raise AssertionError("streams are not given back")


async def test_a_quiet_stream_says_that_it_lives(
    url: str, talk: Talk, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "HEARTBEAT_S", 0.1)
    async with following(url, talk, issuer.token(talk.customer)) as reader:
        await reader.until(lambda: reader.comments.count("still here") >= 3)
        assert reader.frames == []


async def test_a_stream_ends_when_its_token_does(url: str, talk: Talk, issuer: Issuer) -> None:
    async with following(url, talk, issuer.token(talk.customer, exp=int(time.time()) - 28)) as reader:
        async with asyncio.timeout(10):
            await reader.over.wait()


async def test_a_stream_ends_when_its_bearer_is_revoked_or_blocked(
    url: str,
    talk: Talk,
    issuer: Issuer,
    agent: VerifiedPrincipal,
    owner: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_module, "STANDING_S", 0.2)
    staff, customer = issuer.token(agent), issuer.token(talk.customer)
    async with following(url, talk, staff) as one, following(url, talk, customer) as other:
        await asyncio.sleep(0.5)
        assert not one.over.is_set()
        owner.execute("UPDATE staff SET revoked_at = now() WHERE id = %s", (agent.id,))
        owner.execute("UPDATE customers SET status = 'blocked' WHERE id = %s", (talk.customer.id,))
        async with asyncio.timeout(10):
            await asyncio.gather(one.over.wait(), other.over.wait())


async def test_streams_end_with_the_process(make_doors: MakeDoors, serve: Serve, talk: Talk, issuer: Issuer) -> None:
    async with contextlib.AsyncExitStack() as reading:
        async with serve(create_app(make_doors())) as url:
            reader = await reading.enter_async_context(following(url, talk, issuer.token(talk.customer)))
            began = time.perf_counter()
        assert time.perf_counter() - began < 2
        async with asyncio.timeout(5):
            await reader.over.wait()


async def test_a_stream_outlives_the_database_and_misses_nothing(
    make_doors: MakeDoors, serve: Serve, talk: Talk, issuer: Issuer, postgres: Postgres
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        cable = await stack.enter_async_context(Cable(postgres.app_url).laid())
        behind = Database(cable.url)
        stack.push_async_callback(behind.close)
        url = await stack.enter_async_context(serve(create_app(make_doors(database=behind))))
        reader = await stack.enter_async_context(following(url, talk, issuer.token(talk.customer)))
        await talk.say("before")
        await reader.frames_are(1)
        cable.cut()
        await talk.say("meanwhile")
        await asyncio.sleep(0.5)
        assert not reader.over.is_set()
        cable.mend()
        await talk.say("after")
        frames = await reader.frames_are(3)
        assert [json.loads(f["data"])["text"] for f in frames] == ["before", "meanwhile", "after"]


async def test_a_reader_that_does_not_read_is_waited_for_and_holds_up_nobody(
    url: str, talk: Talk, issuer: Issuer
) -> None:
    for _ in range(60):
        await talk.say("x" * 8_000 + "ü" * 100)
    headers = f"Authorization: Bearer {issuer.token(talk.customer)}\r\nAccept: text/event-stream\r\nHost: x\r\n\r\n"
    _, _, port = url.rpartition(":")
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port), limit=1_024)
    writer.write(f"GET /conversations/{talk.id}/events HTTP/1.1\r\n{headers}".encode())
    await writer.drain()
    await asyncio.sleep(0.3)
    async with following(url, talk, issuer.token(talk.customer), "?after=60") as other:
        await talk.say("live")
        assert len(await other.frames_are(1)) == 1
    whole = b""
    async with asyncio.timeout(20):
        while b"live" not in whole:
            whole += await reader.read(65_536)
    assert whole.count(b"event: customer_message") == 61
    writer.close()
