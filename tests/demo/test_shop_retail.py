"""A retail world that this shop did not make: its writes are accepted where that world's own rules accept them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demo.shop import views
from demo.shop.books import Books
from demo.shop.commands import BY_WRITE
from demo.shop.database import open_database, replace_world, transaction
from demo.shop.problems import Refusal
from demo.shop.retail_file import as_world
from demo.shop.retail_shapes import RetailWorld
from demo.shop.rules import carry_out
from demo.shop.world_file import WorldFileError, read_world
from tests.demo.retail_reference import Reference, address, cents, small_world

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SMALL = small_world()
REAL = os.environ.get("INTERLOCK_TEST_RETAIL")
PEOPLE = st.sampled_from([*SMALL["users"]])
METHODS = st.sampled_from([method for user in SMALL["users"].values() for method in user["payment_methods"]])
PIECES = st.lists(st.sampled_from(["p1v0", "p1v0", "p2v0", "p1v1", "p2v1"]), min_size=1, max_size=3)
NEW = st.lists(st.sampled_from(["p1v0", "p1v1", "p1v2", "p2v0", "p2v1", "nothing"]), min_size=1, max_size=3)
ORDERS = st.sampled_from([*SMALL["orders"], "#W99"])
ANYWHERE = st.integers(0, 5).map(address)
SWAP = {"order_id": ORDERS, "item_ids": PIECES, "new_item_ids": NEW, "payment_method_id": METHODS}
ARGUMENTS: dict[str, st.SearchStrategy[Json]] = {
    "cancel_pending_order": st.fixed_dictionaries(
        {"order_id": ORDERS, "reason": st.sampled_from(["no longer needed", "ordered by mistake", "too dear"])}
    ),
    "modify_pending_order_items": st.fixed_dictionaries(SWAP),
    "exchange_delivered_order_items": st.fixed_dictionaries(SWAP),
    "return_delivered_order_items": st.fixed_dictionaries({k: v for k, v in SWAP.items() if k != "new_item_ids"}),
    "modify_pending_order_payment": st.fixed_dictionaries({"order_id": ORDERS, "payment_method_id": METHODS}),
    "modify_pending_order_address": st.tuples(ORDERS, ANYWHERE).map(lambda t: {"order_id": t[0], **t[1]}),
    "modify_user_address": st.tuples(PEOPLE, ANYWHERE).map(lambda t: {"user_id": t[0], **t[1]}),
}
WRITES = st.sampled_from([*ARGUMENTS]).flatmap(
    lambda write: st.tuples(st.just(write), ARGUMENTS[write], st.booleans(), PEOPLE)
)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    opened = open_database(tmp_path_factory.mktemp("retail") / "shop.db")
    yield opened
    opened.close()


def load(db: sqlite3.Connection, world: Json) -> None:
    replace_world(db, as_world(RetailWorld.model_validate_json(json.dumps(world)), "retail", NOW))


def owner(world: Json, args: Json) -> str | None:
    found = args.get("user_id") or world["orders"].get(args["order_id"], {}).get("user_id")
    return str(found) if found else None


def outcome(db: sqlite3.Connection, customer: str, write: str, args: Json) -> bool:
    before = views.account(db, "retail", customer, NOW)
    with transaction(db):
        try:
            carry_out(Books(db, "retail", NOW), BY_WRITE[write].model_validate({**args, "customer_id": customer}))
        except Refusal:
            assert views.account(db, "retail", customer, NOW) == before
            return False
    return True


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=st.lists(WRITES, min_size=1, max_size=8))
def test_the_shop_accepts_what_the_worlds_own_rules_accept_in_any_order(
    db: sqlite3.Connection, writes: list[tuple[str, Json, bool, str]]
) -> None:
    load(db, SMALL)
    reference = Reference(SMALL)
    for write, args, by_owner, somebody in writes:
        customer = (owner(SMALL, args) or somebody) if by_owner else somebody
        assert outcome(db, customer, write, args) == reference.accepts(customer, write, args), (customer, write, args)
        agree(db, reference)


def agree(db: sqlite3.Connection, reference: Reference) -> None:
    """Statuses and gift cards are as the reference has them, and no order gives back more than it took."""
    for customer in reference.world["users"]:
        held = json.loads(views.account(db, "retail", customer, NOW) or "{}")
        for order in held["orders"]:
            assert order["status"] == reference.world["orders"][order["id"]]["status"]
            paid = [p for p in held["payments"] if p["order_id"] == order["id"]]
            assert sum(p["amount_minor"] for p in paid) == order["captured_minor"]
            assert sum(p["refunded_minor"] for p in paid) == order["refunded_minor"]
        for method in held["payment_methods"]:
            assert method["balance_minor"] == reference.balance(customer, method["id"])


def test_a_piece_that_was_changed_is_the_new_variant_at_its_price(db: sqlite3.Connection) -> None:
    load(db, SMALL)
    args = {"item_ids": ["p1v0", "p2v0"], "new_item_ids": ["p1v1", "p2v1"], "payment_method_id": "paypal_1"}
    assert outcome(db, "ann_bee_1", "modify_pending_order_items", {"order_id": "#W0", **args})
    order = json.loads(views.account(db, "retail", "ann_bee_1", NOW) or "{}")["orders"][0]
    lines = {line["item_id"]: (line["quantity"], line["price_minor"], line["product_id"]) for line in order["items"]}
    assert lines == {"p1v0": (1, 2000, "p1"), "p1v1": (1, 2550, "p1"), "p2v1": (1, 9025, "p2")}
    kept = order["captured_minor"] - order["refunded_minor"]
    assert kept == sum(quantity * price for quantity, price, _ in lines.values())


def test_its_writes_go_over_the_wire_under_keys_like_all_others(
    own_shop: Callable[..., ShopProcess], tmp_path: Path
) -> None:
    (tmp_path / "world.json").write_text(json.dumps(SMALL))
    shop = own_shop("--world", str(tmp_path / "world.json"), "--retail-tenant", "corner")
    path = "/tenants/corner/retail/cancel_pending_order"
    args = {"order_id": "#W0", "reason": "no longer needed"}
    body = {"operation_id": "op-1", "customer_id": "ann_bee_1", "arguments": args}
    shop.arm("drop_response_after_commit", operation="cancel_pending_order")
    with pytest.raises(httpx.RemoteProtocolError):
        shop.write(path, body)
    answer = shop.write(path, body)
    assert (answer.status_code, answer.headers["idempotent-replayed"]) == (201, "true")
    told = answer.json()
    assert (told["kind"], told["resource"], told["amount_minor"]) == ("cancel_pending_order", "#W0", 14_000)
    assert shop.write(path, {**body, "arguments": {**args, "reason": "x"}}).json()["error"] == "key_reuse"
    late = shop.write(path, {**body, "operation_id": "op-2"})
    assert (late.status_code, late.json()["error"]) == (422, "wrong_status")
    wrong: Any
    for wrong in ({}, {"order_id": "#W0"}, {**args, "more": 1}, {**args, "customer_id": "ann_bee_2"}, [], None):
        told = shop.write(path, {**body, "operation_id": "op-3", "arguments": wrong}).json()
        assert told["error"] == "invalid_request"
    assert shop.lookup("corner", "op-3").status_code == 404
    listed = shop.http.get("/_world")
    (tmp_path / "again.json").write_bytes(listed.content)
    (tmp_path / "second").mkdir()
    second_shop = own_shop("--world", str(tmp_path / "again.json"), home=tmp_path / "second")
    assert second_shop.http.get("/_world").json() == listed.json()
    refund = {"order_id": "#W4", "amount_minor": 100, "currency": "USD", "expected_version": 1}
    answer = shop.refund("corner", {"operation_id": "op-4", "customer_id": "ann_bee_1", **refund})
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"orders": {"#W0": {**SMALL["orders"]["#W0"], "user_id": "nobody"}}}, "there is no user nobody"),
        ({"users": {"u": {"user_id": "u"}}}, "at users.u.name"),
        ({"orders": {"#W0": {**SMALL["orders"]["#W0"], "items": [{"price": 1.005}]}}}, "at orders.#W0.items.0"),
        ({"orders": None}, "at orders"),
    ],
)
def test_a_retail_file_that_is_wrong_is_refused_in_one_line(tmp_path: Path, broken: Json, words: str) -> None:
    (tmp_path / "world.json").write_text(json.dumps({**SMALL, **broken}))
    with pytest.raises(WorldFileError) as refused:
        read_world(tmp_path / "world.json", NOW)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


# ---------------------------------------------------------------- the real one, where it is at hand
@pytest.fixture(scope="module")
def real() -> tuple[Json, list[Json]]:
    if not REAL:
        pytest.skip("INTERLOCK_TEST_RETAIL names no folder")
    folder = Path(REAL)
    return json.loads((folder / "db.json").read_text()), json.loads((folder / "tasks.json").read_text())


def test_all_of_the_real_world_is_there(db: sqlite3.Connection, real: tuple[Json, list[Any]]) -> None:
    world, _ = real
    load(db, world)
    listed = json.loads(views.world(db))["tenants"][0]
    assert {c["id"] for c in listed["customers"]} == set(world["users"])
    orders = {order["id"]: order for customer in listed["customers"] for order in customer["orders"]}
    assert set(orders) == set(world["orders"])
    for ident, order in world["orders"].items():
        pieces = sum(line["quantity"] * line["price_minor"] for line in orders[ident]["items"])
        assert pieces == sum(cents(item["price"]) for item in order["items"])
    cards = {m["id"]: m["balance_minor"] for c in listed["customers"] for m in c["payment_methods"]}
    for user in world["users"].values():
        for ident, method in user["payment_methods"].items():
            assert cards[ident] == (cents(method["balance"]) if "balance" in method else None)
    variants = {v["item_id"]: v["price_minor"] for p in listed["products"] for v in p["variants"]}
    told = {i: v["price"] for p in world["products"].values() for i, v in p["variants"].items()}
    assert variants == {ident: cents(price) for ident, price in told.items()}


def test_the_writes_of_the_real_tasks_end_as_that_world_has_them(
    db: sqlite3.Connection, real: tuple[Json, list[Json]]
) -> None:
    world, tasks = real
    played = accepted = 0
    for task in tasks:
        actions = [a for a in task["evaluation_criteria"]["actions"] if a["name"] in BY_WRITE]
        people = {owner(world, action["arguments"]) for action in actions}
        orders = {i: o for i, o in world["orders"].items() if o["user_id"] in people}
        part = {**world, "users": {u: world["users"][u] for u in people if u}, "orders": orders}
        load(db, part)
        reference = Reference(part)
        for action in actions:
            customer = owner(world, action["arguments"]) or ""
            right = reference.accepts(customer, action["name"], action["arguments"])
            assert outcome(db, customer, action["name"], action["arguments"]) == right, (task["id"], action)
            agree(db, reference)
            played, accepted = played + 1, accepted + right
    assert played
    assert 0 < accepted <= played
