"""Laws of the shop's connector, over a real wire: what an answer proves, where an id leads, when a write may leave."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pytest

from activities.executing import CLAIM_TO_WIRE_MAX_S
from connectors import shop as connector_of_the_shop
from connectors.shop import FIRST_BYTE_MAX_S, ShopConnector
from domain.account import Account
from domain.action import Action, ActionState, CancelSubscriptionPayload, Cause, Payload, RefundPayload
from domain.connector import SEND_MARGIN_S, LookupKind, OutcomeKind
from domain.fault import Unreachable
from tests.demo.conftest import READ, WRITE, ShopProcess

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
HTML = b"<html>404 Not Found: nginx</html>"
NASTY = (
    "c/1",
    "c?1",
    "c#1",
    "c%2F1",
    "../c",
    "a/../../b",
    "..%2f",
    "c;1",
    "c 1",
    "\x00",
    "kü\u2028",
    "c/account?x=",
    "\n",
)
IMPOSSIBLE = ("", ".", "..", "...", "\ud800", "x" * 513)


@dataclass
class Answers:
    """What the server says next, and what it was asked."""

    status: int = 200
    body: bytes = b"{}"
    asked: list[str] = field(default_factory=list)
    wait: Event = field(default_factory=Event)  # writes are answered once it is set

    def say(self, status: int, body: Any) -> None:
        self.status, self.body = status, body if isinstance(body, bytes) else json.dumps(body).encode()


@dataclass
class Served:
    url: str
    answers: Answers


@pytest.fixture
def served() -> Iterator[Served]:
    answers = Answers()
    answers.wait.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answers.asked.append(self.path)
            if self.command == "POST":
                answers.wait.wait(10)
            self.send_response(answers.status)
            self.send_header("Content-Length", str(len(answers.body)))
            self.end_headers()
            self.wfile.write(answers.body)

        do_GET = do_POST = answer  # noqa: N815  as the library calls them

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield Served(f"http://127.0.0.1:{server.server_address[1]}", answers)
    answers.wait.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def shop(served: Served) -> AsyncIterator[ShopConnector]:
    connector = ShopConnector(served.url, "read", "write", 2)
    yield connector
    await connector.close()


def action(payload: Payload | None = None, tenant_id: str = "t") -> Action:
    paid = payload or RefundPayload(
        customer_id="c", order_id="A-1", amount_minor=500, currency="EUR", resource_version=1
    )
    return Action(
        operation_id="op-1",
        tenant_id=tenant_id,
        conversation_id="k",
        customer_id="c",
        kind=paid.kind,
        state=ActionState.SUBMITTED,
        cause=Cause.RESERVED,
        payload=paid,
        payload_digest="d",
        required_approvals=(),
        owner_epoch=1,
        policy_digest="p",
        evidence_digest="e",
        created_at=AT,
        expires_at=AT,
    )


def cancellation(subscription_id: str) -> Action:
    return action(CancelSubscriptionPayload(customer_id="c", subscription_id=subscription_id, resource_version=1))


def customer(ident: str) -> dict[str, Any]:
    return {"customer": {"id": ident}, "orders": [], "subscriptions": [], "payments": []}


async def read(shop: ShopConnector, customer_id: str, tenant_id: str = "t") -> Account:
    return (await shop.read_account(tenant_id, customer_id, "ev", 2)).account


# ---------------------------------------------------------------- where an id may lead
@pytest.mark.parametrize("ident", NASTY)
async def test_an_id_stays_one_segment_whatever_it_holds(ident: str, shop: ShopConnector, served: Served) -> None:
    served.answers.say(200, customer(ident))
    await read(shop, ident)
    served.answers.say(404, {"error": "unknown_operation"})
    await shop.look_up(ident, ident)
    served.answers.say(200, {"effects": []})
    await shop.effects_since(ident, AT)
    served.answers.say(422, {"error": "declined"})
    await shop.execute(cancellation(ident))
    await shop.execute(action(tenant_id=ident))
    asked = [path.partition("?")[0].split("/")[1:] for path in served.answers.asked]
    assert [[unquote(s) for s in path] for path in asked] == [
        ["tenants", "t", "customers", ident, "account"],
        ["tenants", ident, "operations", ident],
        ["tenants", ident, "effects"],
        ["tenants", "t", "subscriptions", ident, "cancel"],
        ["tenants", ident, "refunds"],
    ]


@pytest.mark.parametrize("ident", IMPOSSIBLE)
async def test_an_id_that_cannot_be_a_segment_is_never_asked_for(
    ident: str, shop: ShopConnector, served: Served
) -> None:
    for asking in (read(shop, ident), read(shop, "c", ident), shop.look_up("t", ident), shop.effects_since(ident, AT)):
        with pytest.raises(Unreachable, match="shop_cannot_be_asked"):
            await asking
    outcome = await shop.execute(cancellation(ident))
    assert (outcome.kind, outcome.code) == (OutcomeKind.UNKNOWN, "shop_cannot_be_asked")
    assert served.answers.asked == []


@pytest.mark.parametrize("body", [customer("d"), customer("C"), {"orders": []}, {"customer": "c"}, {"customer": None}])
async def test_an_account_that_is_not_the_one_asked_for_is_nobodys(
    body: dict[str, Any], shop: ShopConnector, served: Served
) -> None:
    served.answers.say(200, body)
    with pytest.raises(Unreachable, match="shop_answered_for_another"):
        await read(shop, "c")


async def test_no_customer_id_reads_an_account_of_another_tenant(tmp_path: Path) -> None:
    real = ShopProcess(tmp_path)
    shop = ShopConnector(str(real.http.base_url), READ, WRITE, 2)
    try:
        (own, _), *_ = real.customers("marketplace")
        other, victim = next(iter(real.customers("saas")))
        assert (await read(shop, victim["id"], other)).subscriptions
        for way in (f"../../{other}/customers/{victim['id']}", f"x/../../../{other}/customers/{victim['id']}"):
            with pytest.raises(Unreachable):
                await read(shop, way, own)
    finally:
        await shop.close()
        real.end()


# ---------------------------------------------------------------- what an answer proves
ELSEWHERE = (
    HTML,
    b"",
    b"[]",
    {"error": "unknown_path"},
    {"error": None},
    {"detail": "Not Found"},
    {"error": ["unknown_operation"]},
)


async def test_only_the_shops_own_word_means_not_there(shop: ShopConnector, served: Served) -> None:
    served.answers.say(404, {"error": "unknown_operation"})
    assert (await shop.look_up("t", "op-1")).kind is LookupKind.NOT_FOUND
    with pytest.raises(Unreachable):
        await read(shop, "c")
    served.answers.say(404, {"error": "unknown_customer"})
    assert await read(shop, "c") == Account()
    with pytest.raises(Unreachable):
        await shop.look_up("t", "op-1")


@pytest.mark.parametrize("body", ELSEWHERE)
async def test_any_other_404_says_nothing(body: Any, shop: ShopConnector, served: Served) -> None:
    served.answers.say(404, body)
    for asking in (read(shop, "c"), shop.look_up("t", "op-1"), shop.effects_since("t", AT)):
        with pytest.raises(Unreachable, match="shop_404"):
            await asking


@pytest.mark.parametrize("error", ["unknown_operation", "unknown_customer"])
async def test_there_is_no_404_that_means_no_effects(error: str, shop: ShopConnector, served: Served) -> None:
    served.answers.say(404, {"error": error})
    with pytest.raises(Unreachable):
        await shop.effects_since("t", AT)


@pytest.mark.parametrize("body", [{}, {"effects": None}, {"effects": {}}, {"effects": ["x"]}, HTML])
async def test_effects_that_are_no_list_of_effects_are_not_understood(
    body: Any, shop: ShopConnector, served: Served
) -> None:
    served.answers.say(200, body)
    with pytest.raises(Unreachable, match="shop_answer_not_understood"):
        await shop.effects_since("t", AT)


async def test_effects_of_another_tenant_are_refused(shop: ShopConnector, served: Served) -> None:
    served.answers.say(200, {"effects": [{"tenant": "u"}]})
    with pytest.raises(Unreachable, match="shop_answered_for_another"):
        await shop.effects_since("t", AT)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"status": "committed", "operation_id": "op-2", "effect": {}}, "shop_answered_for_another"),
        ({"status": "committed", "operation_id": "op-1"}, "shop_answer_not_understood"),
        ({"status": "committed", "operation_id": "op-1", "effect": {"id": "re"}}, "shop_answer_not_understood"),
        ({"status": "committed", "operation_id": "op-1", "effect": []}, "shop_answer_not_understood"),
        ({"status": "perhaps", "operation_id": "op-1"}, "shop_answer_not_understood"),
        (HTML, "shop_answer_not_understood"),
    ],
)
async def test_a_look_up_that_is_not_understood_proves_nothing(
    body: Any, code: str, shop: ShopConnector, served: Served
) -> None:
    served.answers.say(200, body)
    with pytest.raises(Unreachable, match=code):
        await shop.look_up("t", "op-1")


async def test_an_account_that_is_not_understood_is_a_fault_that_repeats_none_of_it(
    shop: ShopConnector, served: Served
) -> None:
    served.answers.say(200, {**customer("c"), "orders": [{"id": "zebulon"}]})
    with pytest.raises(Unreachable, match="shop_answer_not_understood") as fault:
        await read(shop, "c")
    assert fault.value.__cause__ is None


# ---------------------------------------------------------------- when a write may leave
def test_the_bounds_from_claim_to_wire_stay_below_the_margin_that_absence_waits() -> None:
    assert CLAIM_TO_WIRE_MAX_S + FIRST_BYTE_MAX_S < SEND_MARGIN_S


async def test_a_write_that_finds_no_connection_in_time_is_unknown_and_was_never_sent(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector_of_the_shop, "_WRITES_MAX", 1)
    shop = ShopConnector(served.url, "read", "write", 8)
    served.answers.wait.clear()
    try:
        first = asyncio.create_task(shop.execute(action()))
        await until(lambda: len(served.answers.asked) == 1)
        began = time.monotonic()
        outcome = await shop.execute(action())
        assert (outcome.kind, outcome.code) == (OutcomeKind.UNKNOWN, "not_connected")
        assert time.monotonic() - began < FIRST_BYTE_MAX_S
        served.answers.say(201, {"operation_id": "op-1", "id": "re_1"})
        served.answers.wait.set()
        assert (await first).kind is OutcomeKind.SUCCESS
        assert len(served.answers.asked) == 1
    finally:
        await shop.close()


async def test_a_write_that_is_late_to_leave_does_not_leave(
    shop: ShopConnector, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.answers.say(201, {"operation_id": "op-1", "id": "re_1"})
    monkeypatch.setattr(connector_of_the_shop, "FIRST_BYTE_MAX_S", -1.0)
    outcome = await shop.execute(action())
    assert (outcome.kind, outcome.code) == (OutcomeKind.UNKNOWN, "not_connected")
    assert served.answers.asked == []
    monkeypatch.undo()
    assert (await shop.execute(action())).kind is OutcomeKind.SUCCESS


async def test_reads_that_hang_do_not_keep_a_write_waiting(shop: ShopConnector, served: Served) -> None:
    held = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    busy = ShopConnector(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "read", "write", 0.2)
    reads = [asyncio.create_task(busy.look_up("t", f"op-{n}")) for n in range(60)]
    try:
        await asyncio.sleep(0.1)
        assert (await busy.execute(action())).code == "response_lost"  # it was sent, and nothing came back
    finally:
        for task in reads:
            task.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
        held.set()
        await busy.close()
        server.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110  another thread makes it true
            await asyncio.sleep(0.01)
