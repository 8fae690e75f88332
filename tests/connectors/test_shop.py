"""Laws of the shop's connector, over a real wire: what an answer proves, where an id leads, when a write may leave."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pytest

from activities.executing import CLAIM_TO_WIRE_MAX_S
from connectors import shop as connector_of_the_shop
from connectors.shop import FIRST_BYTE_MAX_S, ShopConnector
from domain.account import Account, Order
from domain.action import (
    Action,
    ActionKind,
    ActionState,
    CancelSubscriptionPayload,
    Cause,
    Payload,
    RefundPayload,
    payload_of,
)
from domain.catalogue.wish import Wish
from domain.connector import SEND_MARGIN_S, LookupKind, OutcomeKind
from domain.duplicates import twins
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


# ---------------------------------------------------------------- the whole catalogue, at the real shop
@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShopProcess]:
    process = ShopProcess(tmp_path_factory.mktemp("shop"))
    yield process
    process.end()


@pytest.fixture
async def at_the_shop(real: ShopProcess) -> AsyncIterator[ShopConnector]:
    real.http.post("/_reset").raise_for_status()
    connector = ShopConnector(str(real.http.base_url), READ, WRITE, 5)
    yield connector
    await connector.close()


def wishes(account: Account) -> Iterator[Wish]:
    """What this customer could wish for, of every kind that their account has something for."""
    if account.profile and account.profile.access == "locked" and account.profile.email_verified:
        yield Wish(kind=ActionKind.RESTORE_ACCOUNT_ACCESS, resource=f"account:{account.profile.id}")
    elif account.profile:
        money = {"amount_minor": 300, "currency": account.profile.currency}
        credit = Wish(kind=ActionKind.STORE_CREDIT, resource=f"account:{account.profile.id}", reason="goodwill")
        yield credit.model_copy(update=money)
    for held in account.subscriptions:
        resource = f"subscription:{held.id}"
        others = (plan.name for plan in account.plans if plan.name != held.plan)
        yield Wish(kind=ActionKind.CHANGE_PLAN, resource=resource, plan=next(others))
        yield Wish(kind=ActionKind.CANCEL_SUBSCRIPTION, resource=resource)
    for payment in twins(account):
        yield Wish(kind=ActionKind.REFUND_DUPLICATE_CHARGE, resource=f"payment:{payment.id}")
    for order in account.orders:
        yield from _of_order(account, order)


def _of_order(account: Account, order: Order) -> Iterator[Wish]:
    resource, item = f"order:{order.id}", order.items[0]
    if order.status == "processing":
        for address in [a for a in account.addresses if a.verified and a.id != order.address_id]:
            yield Wish(kind=ActionKind.CHANGE_DELIVERY_ADDRESS, resource=resource, address_id=address.id)
        for method in [m for m in account.payment_methods if m.id != order.payment_method_id]:
            yield Wish(kind=ActionKind.CHANGE_PAYMENT_METHOD, resource=resource, payment_method_id=method.id)
        yield Wish(kind=ActionKind.CANCEL_ORDER, resource=resource, reason="ordered_by_mistake")
    elif order.status == "delivered" and item.returnable and not order.refunded_minor:
        money = {"amount_minor": 200, "currency": order.currency}
        yield Wish(kind=ActionKind.REFUND, resource=resource).model_copy(update=money)
        yield Wish(kind=ActionKind.RETURN_ITEMS, resource=resource, item_ids=(item.item_id,))
        for new in [v for v in account.variants if v.product_id == item.product_id and v.available]:
            if new.item_id != item.item_id:
                exchange = Wish(kind=ActionKind.EXCHANGE_ITEMS, resource=resource, item_ids=(item.item_id,))
                paid = {"new_item_ids": (new.item_id,), "payment_method_id": account.payment_methods[0].id}
                yield exchange.model_copy(update=paid)


async def test_every_kind_is_carried_out_as_approved_and_its_effect_is_its_row(
    real: ShopProcess, at_the_shop: ShopConnector
) -> None:
    done: set[ActionKind] = set()
    people = [(tenant, c["id"]) for kind in ("saas", "marketplace") for tenant, c in real.customers(kind)]
    for tenant, person in people:
        for n, wish in enumerate(wishes(await read(at_the_shop, person, tenant))):
            if wish.kind in done:
                continue
            account = await read(at_the_shop, person, tenant)  # as the wishes before have left it
            payload = payload_of(wish, account, person)
            sent = action(payload, tenant).model_copy(update={"operation_id": f"{person}-{n}", "customer_id": person})
            outcome = await at_the_shop.execute(sent)
            assert outcome.kind is not OutcomeKind.UNKNOWN, (wish, outcome)
            if outcome.kind is OutcomeKind.SUCCESS:
                done.add(wish.kind)
                await check_effect(at_the_shop, sent)
    assert done == set(ActionKind)


async def test_one_payment_of_an_order_is_given_back_as_that_payment(
    real: ShopProcess, at_the_shop: ShopConnector
) -> None:
    tenant, person, payment = next(
        (t, c["id"], p) for t, c in real.customers("marketplace") for p in reversed(c["payments"]) if _intact(p, c)
    )
    account = await read(at_the_shop, person, tenant)
    money = {"amount_minor": 200, "currency": account.payments[0].currency}
    wish = Wish(kind=ActionKind.REFUND, resource=f"payment:{payment['id']}").model_copy(update=money)
    payload = payload_of(wish, account, person)
    assert payload.resource == f"order:{payment['order_id']}"
    sent = action(payload, tenant).model_copy(update={"operation_id": "one-payment", "customer_id": person})
    assert (await at_the_shop.execute(sent)).kind is OutcomeKind.SUCCESS
    await check_effect(at_the_shop, sent)
    after = await read(at_the_shop, person, tenant)
    found, order = after.payment(payment["id"]), after.order(payment["order_id"])
    assert found
    assert order
    assert (found.refunded_minor, order.refunded_minor) == (200, 200)
    late = sent.model_copy(update={"operation_id": "one-payment-late"})
    outcome = await at_the_shop.execute(late)  # the payment has another version by now
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSAL, "version_conflict")


def _intact(payment: dict[str, Any], customer: dict[str, Any]) -> bool:
    """Whether nothing of it, or of its order, was given back yet."""
    orders = {o["id"]: o for o in customer["orders"]}
    return payment["order_id"] in orders and not (
        payment["refunded_minor"] or orders[payment["order_id"]]["refunded_minor"]
    )


async def test_an_exchange_gives_back_what_its_row_says(real: ShopProcess, at_the_shop: ShopConnector) -> None:
    for tenant, customer in real.customers("marketplace"):
        account = await read(at_the_shop, customer["id"], tenant)
        wanted = (w for o in account.orders for w in _of_order(account, o) if w.kind is ActionKind.EXCHANGE_ITEMS)
        payloads = (payload_of(w, account, customer["id"]) for w in wanted)
        if payload := next((p for p in payloads if p.amount_minor), None):
            break
    else:
        pytest.fail("nobody in this world can exchange anything for something cheaper")
    own = {"operation_id": "cheaper", "customer_id": customer["id"]}
    sent = action(payload, tenant).model_copy(update=own)
    assert (await at_the_shop.execute(sent)).kind is OutcomeKind.SUCCESS
    await check_effect(at_the_shop, sent)


async def check_effect(shop: ShopConnector, sent: Action) -> None:
    """What the shop has done is what the ledger's row says: kind, resource, amount."""
    lately = datetime.now(UTC) - timedelta(hours=1)
    effects = [e for e in await shop.effects_since(sent.tenant_id, lately) if e["operation_id"] == sent.operation_id]
    found = await shop.look_up(sent.tenant_id, sent.operation_id)
    (effect,) = effects
    assert (effect["kind"], f"{effect['resource_kind']}:{effect['resource']}") == (sent.kind, sent.payload.effect_on)
    assert (found.kind, found.external_id) == (LookupKind.COMMITTED, effect["id"])
    if sent.payload.amount_minor is not None:
        assert (effect["amount_minor"], effect["currency"]) == (sent.payload.amount_minor, sent.payload.currency)


async def test_what_is_refused_is_what_the_shop_documents(real: ShopProcess) -> None:
    assert set(real.http.get("/contract").json()["refusals"]) == connector_of_the_shop._REFUSALS


async def test_a_carrier_is_asked_anew_and_not_before_the_shop_says_so(
    real: ShopProcess, at_the_shop: ShopConnector
) -> None:
    tenant, person, order = next(
        (t, c["id"], o["id"]) for t, c in real.customers("marketplace") for o in c["orders"] if o["shipment"]
    )
    began = datetime.now(UTC)
    assert await at_the_shop.refresh_tracking(tenant, order) is None
    known = (await read(at_the_shop, person, tenant)).order(order)
    assert known
    assert known.shipment
    assert known.shipment.known_at
    assert known.shipment.known_at >= began
    not_before = await at_the_shop.refresh_tracking(tenant, order)
    assert not_before
    assert 50 <= (not_before - began).total_seconds() <= 70
    with pytest.raises(Unreachable, match="shop_404"):
        await at_the_shop.refresh_tracking(tenant, "A-0")


@pytest.mark.parametrize(("status", "code"), [(200, "shop_200"), (500, "shop_500"), (403, "shop_403")])
async def test_a_refresh_that_is_not_understood_is_no_refresh(
    status: int, code: str, shop: ShopConnector, served: Served
) -> None:
    served.answers.say(status, HTML)
    with pytest.raises(Unreachable, match=code):
        await shop.refresh_tracking("t", "A-1")
    served.answers.say(429, HTML)
    not_before = await shop.refresh_tracking("t", "A-1")
    assert not_before
    assert not_before > datetime.now(UTC)


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
