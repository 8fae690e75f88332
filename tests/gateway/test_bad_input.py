"""No input whatever gives a 500, none is stored in part, and each gets a problem that says what would be right."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.principal import VerifiedPrincipal
from gateway import body as body_module
from gateway.app import create_app
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Serve
from tests.store.world import Talk

GOOD = {"client_message_id": "a", "text": "x"}
DEEP = "[" * 20_000 + "]" * 20_000


def slug(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).rpartition("/")[2]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "x"},
        {"client_message_id": "a"},
        {**GOOD, "text": ""},
        {**GOOD, "text": " \n\t "},
        {**GOOD, "text": "x" * 8_001},
        {**GOOD, "text": "nul \x00 byte"},
        {**GOOD, "text": "half \ud83d pair"},
        {**GOOD, "client_message_id": "\ud83d"},
        {**GOOD, "client_message_id": "a\x00"},
        {**GOOD, "client_message_id": ""},
        {**GOOD, "client_message_id": "x" * 129},
        {**GOOD, "tenant": "evil"},
        {**GOOD, "half \ud83d of a name": 1},
        {**GOOD, "": 1},
        {**GOOD, "text": 7},
        {**GOOD, "text": None},
        {**GOOD, "text": ["x"]},
        {**GOOD, "text": {"x": 1}},
        {**GOOD, "text": True},
        {**GOOD, "expected_conversation_version": "1"},
        {**GOOD, "expected_conversation_version": -1},
        {**GOOD, "expected_conversation_version": 1.0},
        {**GOOD, "expected_conversation_version": True},
        {**GOOD, "expected_conversation_version": float("nan")},
        {**GOOD, "expected_conversation_version": float("inf")},
        {**GOOD, "expected_conversation_version": 2**31},
        {**GOOD, "expected_conversation_version": 10**400},
        [],
        [GOOD],
        "x",
        7,
        None,
        True,
        float("nan"),
    ],
    ids=lambda body: json.dumps(body)[:40],
)
async def test_a_body_that_is_wrong_is_refused_with_what_would_be_right(caller: Caller, talk: Talk, body: Any) -> None:
    raw = json.dumps(body).encode()
    answer = await caller.post(f"/conversations/{talk.id}/messages", raw, talk.customer, content=raw, headers=JSON)
    assert (answer.status_code, slug(answer)) == (422, "invalid-request")
    assert answer.json()["errors"][0]["field"].startswith("body")
    assert await talk.log() == []


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "raw",
    [b"{", b"nope", b"\xff\xfe\x00", b'{"text": "\xc3"}', b"{'a': 1}", DEEP.encode(), b'{"a": ' + b"9" * 5_000 + b"}"],
    ids=["open", "word", "bytes", "utf-8", "quotes", "deep", "long int"],
)
async def test_what_is_no_json_is_said_to_be_none(caller: Caller, talk: Talk, raw: bytes) -> None:
    answer = await caller.post(f"/conversations/{talk.id}/messages", raw, talk.customer, content=raw, headers=JSON)
    assert (answer.status_code, slug(answer)) == (400, "malformed-json")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "json",
     "", "a/b;charset=\xff", "application/json; charset=utf-16"],
)  # fmt: skip
async def test_what_is_sent_as_something_else_is_not_taken(caller: Caller, talk: Talk, kind: str) -> None:
    raw = json.dumps(GOOD).encode()
    headers = {"Content-Type": kind}
    answer = await caller.post(f"/conversations/{talk.id}/messages", raw, talk.customer, content=raw, headers=headers)
    assert (answer.status_code, slug(answer)) == (415, "unsupported-media-type")
    assert await talk.log() == []


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", 'APPLICATION/JSON;charset="UTF-8"', "application/json"]
)
async def test_json_in_utf8_is_taken_however_it_is_named(caller: Caller, talk: Talk, kind: str) -> None:
    raw = json.dumps(GOOD).encode()
    path = f"/conversations/{talk.id}/messages"
    answer = await caller.post(path, raw, talk.customer, content=raw, headers={"Content-Type": kind})
    assert answer.status_code == 202


async def test_a_problem_repeats_nothing_of_what_was_sent(caller: Caller, talk: Talk) -> None:
    for body in ({**GOOD, "text": ["my secret"]}, {**GOOD, "my secret!": 1}, {**GOOD, "text": "my secret" * 2_000}):
        answer = await caller.post(f"/conversations/{talk.id}/messages", body, talk.customer)
        assert answer.status_code == 422
        assert "secret" not in answer.text


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "after=1.5", "after=" + "9" * 400, "limit=0", "limit=501", "after="]
)
async def test_a_query_that_is_wrong_is_refused(caller: Caller, talk: Talk, query: str) -> None:
    answer = await caller.get(f"/conversations/{talk.id}/events?{query}", talk.customer)
    assert (answer.status_code, slug(answer)) == (422, "invalid-request")


@pytest.mark.parametrize("ident", ["x", "-1", "9" * 400, "1.5", "٣"])
async def test_a_last_event_id_that_is_none_is_refused(caller: Caller, talk: Talk, ident: str) -> None:
    headers = {"Accept": "text/event-stream", "Last-Event-ID": ident.encode().decode("latin-1")}
    answer = await caller.get(f"/conversations/{talk.id}/events", talk.customer, headers=headers)
    assert (answer.status_code, slug(answer)) == (422, "invalid-request")


@pytest.mark.parametrize("cursor", ["x", "AAAA", "é", "bm93IHg", "x" * 401, "MjAyNi0wMS0wMVQwMDowMDowMCB4"])
async def test_a_cursor_that_is_none_is_refused(caller: Caller, talk: Talk, cursor: str) -> None:
    answer = await caller.post("/conversations/search", {"cursor": cursor}, talk.customer)
    assert (answer.status_code, slug(answer)) == (422, "invalid-request")


async def test_paths_and_methods_that_are_not_there(caller: Caller, talk: Talk) -> None:
    for path in ("/", "/nope", f"/conversations/{talk.id}/", "/docs", "/redoc", "/conversations//events", "/%00"):
        answer = await caller.get(path, talk.customer)
        assert (answer.status_code, slug(answer)) == (404, "not-found"), path
    for method in ("PUT", "DELETE", "PATCH", "POST", "OPTIONS", "BREW"):
        answer = await caller.ask(method, f"/conversations/{talk.id}", talk.customer)
        assert (answer.status_code, slug(answer), answer.headers["allow"]) == (405, "method-not-allowed", "GET")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(
    ["client_message_id", "text", "expected_conversation_version", "request_id", "reason", "payload_digest", "decision",
     "note", "seen_version", "owner_epoch", "channel", "owner", "phase", "principal_id", "limit", "cursor", "tenant"]
)  # fmt: skip
header_names = st.sampled_from(["Idempotency-Key", "Request-Id", "Last-Event-ID", "Authorization", "Content-Type"])
header_values = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40)
bodies = json_values | st.dictionaries(names, json_values | st.text(max_size=20), max_size=5)
PATHS = ("", "/{id}/messages", "/{id}/replies", "/{id}/handoff", "/{id}/takeover", "/{id}/release", "/search")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=bodies, path=st.sampled_from(PATHS), staff=st.booleans(), ascii_only=st.booleans())
async def test_no_json_whatever_gives_a_500(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, body: Any, path: str, staff: bool, ascii_only: bool
) -> None:
    raw = json.dumps(body, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    who = agent if staff else talk.customer
    answer = await caller.post("/conversations" + path.format(id=talk.id), raw, who, content=raw, headers=JSON)
    assert answer.status_code < 500, answer.text


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60), head=st.sampled_from([b"", b'{"client_message_id":"a","text":"']))
async def test_no_bytes_whatever_give_a_500(caller: Caller, talk: Talk, raw: bytes, head: bytes) -> None:
    path = f"/conversations/{talk.id}/messages"
    answer = await caller.post(path, raw, talk.customer, content=head + raw, headers=JSON)
    assert answer.status_code < 500


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=header_names, value=header_values)
async def test_no_header_whatever_gives_a_500(caller: Caller, talk: Talk, name: str, value: str) -> None:
    headers = {**JSON, "Authorization": f"Bearer {caller.issuer.token(talk.customer)}", name: value}
    answer = await caller.post(f"/conversations/{talk.id}/messages", content=b"{}", headers=headers)
    assert answer.status_code < 500


async def test_a_body_that_is_too_large_is_read_no_further(make_doors: MakeDoors, serve: Serve, talk: Talk) -> None:
    app = create_app(make_doors(body_bytes_max=2_000))
    issuer_token = {"Authorization": "Bearer x", **JSON}

    async def pieces() -> Any:
        for _ in range(3_000):
            yield b" " * 1_000

    async with serve(app) as url, httpx.AsyncClient(base_url=url) as http:
        for content in (b"x" * 2_001, b"x" * 200_000, b"x" * 3_000_000, pieces()):
            answer = await http.post(f"/conversations/{talk.id}/messages", content=content, headers=issuer_token)
            assert (answer.status_code, slug(answer)) == (413, "body-too-large")
            assert answer.json()["limit_bytes"] == 2_000
        answer = await http.post(f"/conversations/{talk.id}/messages", content=b"x" * 2_000, headers=issuer_token)
        assert answer.status_code == 401


async def test_a_body_that_does_not_come_is_not_waited_for(
    make_doors: MakeDoors, serve: Serve, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_module, "BODY_S_MAX", 0.2)
    async with serve(create_app(make_doors())) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(f"POST /conversations/{talk.id}/messages HTTP/1.1\r\nHost: x\r\n".encode())
        writer.write(b"Content-Length: 50\r\n\r\n{")
        told = await reader.read()
        assert told.startswith(b"HTTP/1.1 408")
        assert b"/problems/request-timeout" in told
        writer.close()


async def test_a_client_that_goes_away_in_the_middle_is_no_fault(
    make_doors: MakeDoors, serve: Serve, talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(create_app(make_doors())) as url:
        _, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(f"POST /conversations/{talk.id}/messages HTTP/1.1\r\nHost: x\r\n".encode())
        writer.write(b"Content-Length: 50\r\n\r\n{")
        await writer.drain()
        writer.transport.abort()
        await asyncio.sleep(0.2)
    assert "request.failed" not in capsys.readouterr().out


async def test_a_request_id_is_kept_where_it_is_sane(caller: Caller, talk: Talk) -> None:
    async def told(given: str) -> str:
        answer = await caller.get("/healthz", headers={"Request-Id": given})
        return str(answer.headers["request-id"])

    assert await told("4f1d2c8e-9b0a") == "4f1d2c8e-9b0a"
    for odd in ("", "a b", "x" * 65, "<script>", "a;b", "-a"):
        minted = await told(odd)
        assert minted != odd
        assert len(minted) == 32
