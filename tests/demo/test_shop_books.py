"""Whatever is asked for in whatever order: a refusal changes nothing, and the books agree with each other."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demo.shop import views
from demo.shop.books import Books
from demo.shop.commands import BY_KIND
from demo.shop.database import open_database, replace_world, transaction
from demo.shop.problems import Refusal
from demo.shop.rules import carry_out
from demo.shop.world import make_world

if TYPE_CHECKING:
    from tests.demo.conftest import Json

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
WORLD = make_world(NOW)
MARKET = WORLD.tenants[0]
MONEY = ("refund", "return_items", "exchange_items", "cancel_order", "change_payment_method", "refund_duplicate_charge")
STEP = st.tuples(st.sampled_from(MONEY), *(st.integers(0, 50) for _ in range(4)))


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    opened = open_database(tmp_path_factory.mktemp("books") / "shop.db")
    yield opened
    opened.close()


def account(db: sqlite3.Connection, customer: str) -> Json:
    found: Json = json.loads(views.account(db, MARKET.id, customer, NOW) or "{}")
    return found


def asked(held: Json, kind: str, which: int, piece: int, other: int, share: int) -> Json:
    """A change of this kind that often fits, and sometimes does not."""
    order = held["orders"][which % len(held["orders"])]
    item = order["items"][piece % len(order["items"])]
    left = order["captured_minor"] - order["refunded_minor"]
    method = held["payment_methods"][other % len(held["payment_methods"])]
    paid = next(p for p in reversed(held["payments"]) if p["order_id"] == order["id"])
    common = {"order_id": order["id"], "expected_version": order["version"], "customer_id": held["customer"]["id"]}
    money = {"amount_minor": max(1, left * share // 40), "currency": order["currency"]}
    own = [v for v in held["variants"] if v["product_id"] == item["product_id"]]
    new = own[other % len(own)]
    fields: dict[str, Json] = {
        "refund": money,
        "return_items": {
            "item_ids": [item["item_id"]],
            "payment_method_id": method["id"] if share % 2 else None,
            **money,
            "amount_minor": max(1, min(item["price_minor"], left)),
        },
        "exchange_items": {
            "item_ids": [item["item_id"]],
            "new_item_ids": [new["item_id"]],
            "payment_method_id": method["id"],
            "difference_minor": new["price_minor"] - item["price_minor"],
            "difference_currency": order["currency"],
        },
        "cancel_order": {**money, "amount_minor": left or None, "reason": "no_longer_needed"},
        "change_payment_method": {"payment_method_id": method["id"], "label": method["label"]},
        "refund_duplicate_charge": {**money, "payment_id": paid["id"], "amount_minor": paid["amount_minor"]},
    }
    return {**common, **fields[kind]}


def outcome(db: sqlite3.Connection, kind: str, fields: Json) -> bool:
    """Whether it was done; INVARIANT: what was refused has changed nothing, since the refusal is committed."""
    customer = fields["customer_id"]
    before = account(db, customer)
    with transaction(db):
        try:
            carry_out(Books(db, MARKET.id, NOW), BY_KIND[kind].model_validate(fields))
        except Refusal:
            done = False
        else:
            done = True
    assert done or account(db, customer) == before
    return done


def check(held: Json) -> None:
    for order in held["orders"]:
        paid = [payment for payment in held["payments"] if payment["order_id"] == order["id"]]
        assert sum(payment["amount_minor"] for payment in paid) == order["captured_minor"]
        assert sum(payment["refunded_minor"] for payment in paid) == order["refunded_minor"] <= order["captured_minor"]
    assert all(method["balance_minor"] is None or method["balance_minor"] >= 0 for method in held["payment_methods"])


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=st.integers(0, len(MARKET.customers) - 1), steps=st.lists(STEP, min_size=1, max_size=12))
def test_the_books_agree_and_a_refusal_changes_nothing(db: sqlite3.Connection, who: int, steps: list[Any]) -> None:
    customer = MARKET.customers[who]
    only = MARKET.model_copy(update={"customers": [customer]})
    replace_world(db, WORLD.model_copy(update={"tenants": [only]}))
    for kind, *choices in steps:
        held = account(db, customer.id)
        fields = asked(held, kind, *choices)
        done = outcome(db, kind, fields)
        now = account(db, customer.id)
        check(now)
        versions = [
            order["version"] for order in (*held["orders"], *now["orders"]) if order["id"] == fields["order_id"]
        ]
        assert versions[1] - versions[0] == int(done)


@pytest.mark.parametrize("kind", MONEY)
def test_every_kind_of_money_that_is_tried_here_is_also_done(db: sqlite3.Connection, kind: str) -> None:
    replace_world(db, WORLD)
    tries = ((customer.id, n) for customer in MARKET.customers for n in range(30))
    assert any(outcome(db, kind, asked(account(db, customer), kind, n // 3, 0, n % 3, 1)) for customer, n in tries)
