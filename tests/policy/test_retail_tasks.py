"""The retail bundle on a world and tasks that we did not write; skipped where they are not at hand.

`INTERLOCK_TEST_RETAIL` names the folder of `db.json` and `tasks.json`.
"""

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from domain.verdict import VerdictKind
from policy.bundle import BUNDLES, Bundle
from policy.engine import PolicyEngine
from policy.retail.judging import judge
from policy.retail.request import RetailRequest
from policy.retail.world import World
from tests.policy.retail_shop import TAKES, Json, Shop

FOLDER = os.environ.get("INTERLOCK_TEST_RETAIL", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="INTERLOCK_TEST_RETAIL names no folder")
ENGINE = PolicyEngine(Bundle.load(BUNDLES / "retail"))
PERMIT, ASK, FORBID = VerdictKind


class Write(NamedTuple):
    """A write of a task: the shop as it stands before, and whether its rules accept it."""

    shop: Shop
    principal: str
    tool: str
    arguments: Json
    accepted: bool


@cache
def told(name: str) -> Any:
    return json.loads((Path(FOLDER) / name).read_text("utf-8"))


@cache
def world() -> World:
    return World.model_validate(told("db.json"))


@cache
def writes() -> tuple[Write, ...]:
    """Every write of every task, each task from a fresh world and in order."""
    made = []
    for task in told("tasks.json"):
        actions = [a for a in task["evaluation_criteria"]["actions"] or () if a["name"] in TAKES]
        shop = Shop(_world_of({_owner(a["arguments"]) for a in actions}))
        for action in actions:
            owner, tool, arguments = _owner(action["arguments"]), action["name"], action["arguments"]
            before = shop.copy()
            made.append(Write(before, owner, tool, arguments, shop.plays(owner, tool, arguments)))
    return tuple(made)


def _owner(arguments: Json) -> str:
    owner: str = arguments.get("user_id") or told("db.json")["orders"][arguments["order_id"]]["user_id"]
    return owner


def _world_of(owners: set[str]) -> Json:
    """The world as far as these users go."""
    base = told("db.json")
    return {
        "users": {ident: base["users"][ident] for ident in owners},
        "orders": {ident: order for ident, order in base["orders"].items() if order["user_id"] in owners},
        "products": base["products"],
    }


def judged(write: Write, **changes: Any) -> tuple[VerdictKind, tuple[str, ...]]:
    """The verdict on a write, or on it with something changed, in the shop as it stands before."""
    fields = {"principal": write.principal, "action": write.tool, "arguments": write.arguments, **changes}
    stands = {name: {**getattr(write.shop, name), **fields.pop(name, {})} for name in ("orders", "users")}
    told_of = judge(ENGINE, world(), RetailRequest(id=1, **fields, **stands))
    return told_of.verdict, told_of.rules


def test_every_write_of_the_tasks_is_permitted_exactly_where_the_shop_accepts_it() -> None:
    assert len(writes()) > 0
    for write in writes():
        verdict, rules = judged(write, approved=write.arguments)
        assert verdict is (PERMIT if write.accepted else FORBID), (write[1:], rules)
        verdict, rules = judged(write)
        assert verdict is (ASK if write.accepted else FORBID), (write[1:], rules)


def perturbed(write: Write) -> Iterator[tuple[str, Json]]:
    """What is wrong with it, and what is changed so that just this is wrong."""
    users, arguments = told("db.json")["users"], write.arguments
    other = next(ident for ident in users if ident != write.principal)
    yield "another principal", {"principal": other}
    yield "nobody", {"principal": "nobody_0000"}
    yield "no such tool", {"action": "delete_order"}
    yield "one argument more", {"arguments": {**arguments, "note": "x"}}
    yield "no arguments", {"arguments": None}
    for name in arguments:
        yield f"without {name}", {"arguments": {k: v for k, v in arguments.items() if k != name}}
        for odd in (7, None, True, {"x": 1}, [1]):
            yield f"{name} of another type", {"arguments": {**arguments, name: odd}}
    if "reason" in arguments:
        yield "another reason", {"arguments": {**arguments, "reason": "found it cheaper"}}
    if "order_id" in arguments:
        yield from _other_orders(write)
    if "payment_method_id" in arguments:
        for method in (next(iter(users[other]["payment_methods"])), "credit_card_0"):
            yield "a method of somebody else, or of nobody", {"arguments": {**arguments, "payment_method_id": method}}
    if write.tool == "return_delivered_order_items":
        yield "another card", _paying_by(write, {"source": "credit_card"})
    if "item_ids" in arguments:
        yield from _other_items(write)
    if "new_item_ids" in arguments:
        yield "a gift card too low", _paying_by(write, {"source": "gift_card", "balance": -1e6})
        yield from _other_new_items(write)


def _paying_by(write: Write, method: Json) -> Json:
    """Changed so that a further method of the user's own pays or receives."""
    user = write.shop.users[write.principal]
    methods = {**user["payment_methods"], "method_0": method}
    arguments = {**write.arguments, "payment_method_id": "method_0"}
    return {"arguments": arguments, "users": {write.principal: {**user, "payment_methods": methods}}}


def _other_orders(write: Write) -> Iterator[tuple[str, Json]]:
    ident = write.arguments["order_id"]
    order, orders = write.shop.orders[ident], told("db.json")["orders"]
    theirs = next(i for i, o in orders.items() if o["user_id"] != write.principal and o["status"] == order["status"])
    yield "another user's order", {"arguments": {**write.arguments, "order_id": theirs}}
    yield "no such order", {"arguments": {**write.arguments, "order_id": "#W0"}}
    for status in ("pending", "processed", "delivered", "cancelled", "return requested", "exchange requested"):
        if status != order["status"]:
            yield f"a {status} order", {"orders": {ident: {**order, "status": status}}}


def _other_items(write: Write) -> Iterator[tuple[str, Json]]:
    arguments = write.arguments
    held = [item["item_id"] for item in write.shop.orders[arguments["order_id"]]["items"]]
    named, new = held + held[:1], arguments.get("new_item_ids")
    also = {} if new is None else {"new_item_ids": [*new, *new[:1] * len(named)][: len(named)]}
    yield "an item too often", {"arguments": {**arguments, "item_ids": named, **also}}
    yield "an item of no order", {"arguments": {**arguments, "item_ids": ["1", *arguments["item_ids"][1:]]}}


def _other_new_items(write: Write) -> Iterator[tuple[str, Json]]:
    arguments, products = write.arguments, write.shop.products
    items = write.shop.orders[arguments["order_id"]]["items"]
    product = next(item["product_id"] for item in items if item["item_id"] == arguments["item_ids"][0])
    elsewhere = next(p for p in products if p != product)
    variants = products[product]["variants"].items()
    wanted = [next(iter(products[elsewhere]["variants"])), "1", *(i for i, v in variants if not v["available"])]
    for item in wanted:
        changed = {**arguments, "new_item_ids": [item, *arguments["new_item_ids"][1:]]}
        yield "a variant sold out, of another product or of none", {"arguments": changed}
    more = [*arguments["new_item_ids"], arguments["new_item_ids"][0]]
    yield "a new item too many", {"arguments": {**arguments, "new_item_ids": more}}


def test_a_request_with_one_thing_wrong_is_forbidden_whatever_was_approved() -> None:
    for write in writes():
        for wrong, changes in perturbed(write) if write.accepted else ():
            approved = changes.get("arguments", write.arguments)
            verdict, rules = judged(write, approved=approved, **changes)
            assert verdict is FORBID, (wrong, write[1:])
            assert "evaluation-error" not in rules, (wrong, write[1:])


def test_another_order_of_the_same_user_in_the_same_status_fails_on_the_approval() -> None:
    by_approval_alone = 0
    for write in writes():
        if not write.accepted or "order_id" not in write.arguments:
            continue
        mine = write.shop.orders[write.arguments["order_id"]]
        for ident, order in write.shop.orders.items():
            if order is not mine and (order["user_id"], order["status"]) == (write.principal, mine["status"]):
                changed = {**write.arguments, "order_id": ident}
                verdict, rules = judged(write, arguments=changed, approved=write.arguments)
                assert verdict is FORBID
                assert "confirmation-was-for-other-details" in rules
                by_approval_alone += len(rules) == 1
    assert by_approval_alone, "in some cases nothing but the approval stands between a customer and the wrong order"
