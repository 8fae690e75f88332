"""The retail bundle against the shop's own rules, stated apart from it: what the shop accepts, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from domain.verdict import VerdictKind
from policy.bundle import BASE, Bundle
from policy.engine import PolicyEngine
from policy.retail.judging import Judged, judge, judge_line
from policy.retail.request import RetailRequest
from policy.retail.world import World
from tests.policy.retail_shop import TAKES, Json, Shop
from tests.policy.retail_worlds import requests, worlds

ENGINE = PolicyEngine(Bundle.load(BASE.parent / "retail"))
PERMIT, ASK, FORBID = VerdictKind
Asked = tuple[str, str, Any]


def judged(world: Json | World, asked: Asked, **more: Any) -> tuple[VerdictKind, tuple[str, ...]]:
    principal, tool, arguments = asked
    known = world if isinstance(world, World) else World.model_validate(world)
    request = RetailRequest(id="r", principal=principal, action=tool, arguments=arguments, **more)
    told = judge(ENGINE, known, request)
    return told.verdict, told.rules


def worlds_and_requests(count: int = 1) -> st.SearchStrategy[tuple[Json, list[Asked]]]:
    return worlds().flatmap(
        lambda world: st.tuples(st.just(world), st.lists(requests(world), min_size=count, max_size=count))
    )


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("tool", TAKES)
def test_the_requests_below_reach_every_tool(tool: str, accepted: bool) -> None:
    def reached(drawn: tuple[Json, list[Asked]]) -> bool:
        world, (asked,) = drawn
        return asked[1] == tool and Shop(world).plays(*asked) is accepted

    find(worlds_and_requests(), reached, settings=settings(phases=[Phase.generate], max_examples=2000))


@settings(max_examples=300)
@given(worlds_and_requests())
def test_what_was_approved_is_permitted_where_the_shop_accepts_it_and_forbidden_elsewhere(
    drawn: tuple[Json, list[Asked]],
) -> None:
    world, (asked,) = drawn
    accepted = Shop(world).plays(*asked)
    verdict, rules = judged(world, asked, approved=asked[2])
    assert verdict is (PERMIT if accepted else FORBID), rules


@given(worlds_and_requests())
def test_without_the_customers_yes_the_most_there_is_is_a_question(drawn: tuple[Json, list[Asked]]) -> None:
    world, (asked,) = drawn
    accepted = Shop(world).plays(*asked)
    verdict, rules = judged(world, asked)
    assert verdict is (ASK if accepted else FORBID), rules


@given(worlds_and_requests(2))
def test_a_yes_to_anything_else_is_no_yes(drawn: tuple[Json, list[Asked]]) -> None:
    world, (asked, other) = drawn
    if other[2] is not None and json.dumps(other[2], sort_keys=True) != json.dumps(asked[2], sort_keys=True):
        verdict, rules = judged(world, asked, approved=other[2])
        assert verdict is FORBID
        assert "confirmation-was-for-other-details" in rules


@given(worlds_and_requests(6))
def test_writes_played_in_order_are_judged_in_the_world_that_they_have_made(drawn: tuple[Json, list[Asked]]) -> None:
    world, writes = drawn
    before, shop = World.model_validate(world), Shop(world)
    for asked in writes:
        verdict, rules = judged(before, asked, approved=asked[2], orders=shop.orders, users=shop.users)
        assert verdict is (PERMIT if shop.plays(*asked) else FORBID), rules


WORLD: Json = {
    "users": {
        "ann": {
            "payment_methods": {"card_1": {"source": "credit_card"}, "gift_1": {"source": "gift_card", "balance": 5}}
        }
    },
    "products": {"mug": {"variants": {"m1": {"available": True, "price": 5}, "m2": {"available": True, "price": 5.3}}}},
    "orders": {
        ident: {
            "user_id": "ann",
            "status": "pending",
            "items": [{"item_id": "m1", "product_id": "mug", "price": 5}],
            "payment_history": [{"transaction_type": "payment", "amount": 5, "payment_method_id": "card_1"}],
        }
        for ident in ("#1", "#2")
    },
}
CANCEL = {"order_id": "#1", "reason": "no longer needed"}


def cancels(**arguments: Any) -> Asked:
    return "ann", "cancel_pending_order", {**CANCEL, **arguments}


def test_the_wrong_order_of_the_same_customer_fails_on_the_approval() -> None:
    assert judged(WORLD, cancels(), approved=CANCEL)[0] is PERMIT
    assert judged(WORLD, cancels(order_id="#2"))[0] is ASK
    wrong = judged(WORLD, cancels(order_id="#2"), approved=CANCEL)
    assert wrong == (FORBID, ("confirmation-was-for-other-details",))


@pytest.mark.parametrize(
    "approved",
    [
        {**CANCEL, "order_id": "#1 "},
        {**CANCEL, "reason": "no longer needed\u200b"},
        {**CANCEL, "note": ""},
        {"order_id": "#1"},
        {},
        [],
        [CANCEL],
        "yes",
        True,
        False,
        0,
    ],
)
def test_an_approval_with_anything_changed_is_no_approval(approved: Any) -> None:
    assert judged(WORLD, cancels(), approved=approved) == (FORBID, ("confirmation-was-for-other-details",))


def test_the_order_of_names_in_an_approval_is_no_change() -> None:
    assert judged(WORLD, cancels(), approved=dict(reversed(CANCEL.items())))[0] is PERMIT


# 16.1 - 5 is 11.100000000000001 in the shop's arithmetic; for an exchange, and only there, the shop rounds it
@pytest.mark.parametrize(
    ("tool", "status", "balance", "expected"),
    [
        ("modify_pending_order_items", "pending", 11.11, PERMIT),
        ("modify_pending_order_items", "pending", 16.1 - 5, PERMIT),
        ("modify_pending_order_items", "pending", 11.1, FORBID),
        ("exchange_delivered_order_items", "delivered", 11.1, PERMIT),
        ("exchange_delivered_order_items", "delivered", 11.09, FORBID),
    ],
)
def test_a_gift_card_must_cover_the_shops_own_sum(
    tool: str, status: str, balance: float, expected: VerdictKind
) -> None:
    products = {"mug": {"variants": {"m2": {"available": True, "price": 16.1}}}}
    methods = {"gift_1": {"source": "gift_card", "balance": balance}}
    world = {**WORLD, "products": products, "users": {"ann": {"payment_methods": methods}}}
    arguments = {"order_id": "#1", "item_ids": ["m1"], "new_item_ids": ["m2"], "payment_method_id": "gift_1"}
    orders = {"#1": {"status": status}}
    verdict, rules = judged(world, ("ann", tool, arguments), approved=arguments, orders=orders)
    assert verdict is expected
    assert verdict is PERMIT or rules == ("gift-card-must-cover-the-price-difference",)


def line(**changes: Any) -> bytes:
    fields = {"id": "r1", "principal": "ann", "action": "cancel_pending_order", "arguments": CANCEL, **changes}
    return json.dumps({name: value for name, value in fields.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON in UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no JSON object"),
        (b'{"id": NaN}', "NaN is no number"),
        (b'{"id": 1, "id": 2}', "'id' stands twice"),
        (line(id=...), "'id' is missing; it should be a text or a whole number"),
        (line(id=1.5), "'id' is of another kind"),
        (line(id=None), "'id' is of another kind"),
        (line(id="\ud800"), "'id' is of another kind"),
        (line(principal=...), "'principal' is missing; it should be the id of the user"),
        (line(principal=7), "'principal' is of another kind"),
        (line(action=...), "'action' is missing; it should be the name of a tool"),
        (line(arguments=...), "'arguments' is missing; it should be an object"),
        (line(orders=[]), "'orders' is of another kind; it should be an object"),
        (line(orders={"#1": "pending"}), "orders.#1 is not an object"),
        (line(orders={"#1": {"status": 1}}), "orders.#1: status: input should be a valid string"),
        (line(orders={"#7": {"status": "pending"}}), "orders.#7: user_id: field required (and 2 more)"),
        (line(users={"ann": {"payment_methods": {"x": {"source": "gift_card", "balance": "5"}}}}), "balance"),
    ],
)
def test_a_line_that_is_no_request_is_told_what_is_wrong_and_what_would_be_right(text: bytes, told: str) -> None:
    outcome = judge_line(ENGINE, World.model_validate(WORLD), text)
    assert outcome.judged in (None, Judged(id="r1", verdict=FORBID, rules=("not-a-request",)))
    assert told in (outcome.wrong or "")


def test_an_unknown_principal_is_told_and_forbidden() -> None:
    outcome = judge_line(ENGINE, World.model_validate(WORLD), line(principal="eve", approved=CANCEL))
    assert outcome.judged is not None
    assert outcome.judged.verdict is FORBID
    assert "user-must-be-located-first" in outcome.judged.rules
    assert "'eve' is nobody in this world" in (outcome.wrong or "")


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"action": "drop_tables"}, ("default-deny",)),
        ({"action": "\u0000"}, ("default-deny",)),
        ({"arguments": None}, "tool-call-must-be-complete-and-exact"),
        ({"arguments": [[[["deep"]]]]}, "tool-call-must-be-complete-and-exact"),
        ({"arguments": {**CANCEL, "order_id": "\ud800"}}, "tool-call-must-be-complete-and-exact"),
        ({"arguments": {**CANCEL, "order_id": "\u0000"}}, "only-this-user-never-any-other"),
        ({"arguments": {**CANCEL, "order_id": "x" * 1_000_000}}, "tool-call-must-be-complete-and-exact"),
        ({"arguments": {**CANCEL, "reason": "__entity"}}, ("cancel-only-for-an-accepted-reason",)),
    ],
)
def test_an_odd_request_is_forbidden_and_never_a_crash(changes: Json, rules: str | tuple[str, ...]) -> None:
    arguments = changes.get("arguments", CANCEL)
    outcome = judge_line(ENGINE, World.model_validate(WORLD), line(**changes, approved=arguments))
    assert outcome.wrong is None
    assert outcome.judged is not None
    assert outcome.judged.verdict is FORBID
    assert rules in (outcome.judged.rules, *outcome.judged.rules)


def test_what_a_line_overrides_counts_for_that_line_alone() -> None:
    world = World.model_validate(WORLD)
    shipped = line(orders={"#1": {"status": "delivered"}})
    verdicts = [judge_line(ENGINE, world, text).judged for text in (line(), shipped, line())]
    assert [told.verdict for told in verdicts if told] == [ASK, FORBID, ASK]


def test_names_that_are_not_read_are_told() -> None:
    assert judge_line(ENGINE, World.model_validate(WORLD), line(aproved=CANCEL)).unread == ("aproved",)
