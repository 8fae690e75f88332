"""Laws of the backtest: decisions on record, judged again under another bundle over the facts recorded with them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.action import ApprovalRole
from domain.verdict import Verdict, VerdictKind
from policy.bundle import Bundle
from policy.decision import Decision, Outcome
from policy.engine import PolicyEngine
from policy.examining.amounts import Band, amount_of, band_of, thresholds_of
from policy.examining.backtest import Backtest, thresholds_in
from policy.examining.tally import Direction, FlipKey, Tally

SCHEMA = """
entity Customer; entity Order;
type Facts = { amount_minor: Long, currency: String, approvals: Set<String>, age_s: Long, target: { status: String } };
action "refund" appliesTo { principal: [Customer], resource: [Order], context: Facts };
action "cancel" appliesTo { principal: [Customer], resource: [Order], context: { approvals: Set<String> } };
"""
RULES = """
@id("small") permit (principal, action == Action::"refund", resource)
when { context.amount_minor <= LIMIT && context.approvals.contains("customer") };
@id("large") permit (principal, action == Action::"refund", resource)
when { context.amount_minor > LIMIT && 900 >= context.amount_minor && context.approvals.containsAll(["customer", "manager"]) };
@id("cancel") permit (principal, action == Action::"cancel", resource) when { context.approvals.contains("customer") };
@id("old") forbid (principal, action == Action::"refund", resource) when { context.age_s > 60 };
"""  # noqa: E501 — a rule reads best in one line
CUSTOMER, BOTH = (ApprovalRole.CUSTOMER,), (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)


def bundle(limit: int = 500, more: str = "", schema: str = SCHEMA) -> Bundle:
    manifest = {
        "id": "t", "version": "1", "author": "a", "effective_from": "2026-01-01T00:00:00Z", "changed": "c"
    }  # fmt: skip
    rules = RULES.replace("LIMIT", str(limit)) + more
    return Bundle.parse({"manifest.json": json.dumps(manifest), "schema.cedarschema": schema, "rules.cedar": rules})


BEFORE, AFTER = bundle(500), bundle(300)
ENGINE = PolicyEngine(BEFORE)
THRESHOLDS = thresholds_in([BEFORE, AFTER])


def request(amount: int = 400, **other: Any) -> dict[str, Any]:
    context = {"amount_minor": amount, "currency": "EUR", "age_s": 1, "target": {"status": "delivered"}, **other}
    return {
        "principal": {"type": "Customer", "id": "c"},
        "action": {"type": "Action", "id": "refund"},
        "resource": {"type": "Order", "id": "A-1"},
        "context": {name: value for name, value in context.items() if value is not None},
    }


def body(asked: dict[str, Any], verdict: Verdict, granted: tuple[ApprovalRole, ...] = ()) -> str:
    told = {
        "use": "propose", "verdict": verdict.kind, "rules": verdict.rule_ids, "required": verdict.required,
        "missing": verdict.missing, "granted": granted, "policy_digest": "d", "request": asked, "evidence": {},
    }  # fmt: skip
    return json.dumps(told)


def decided(n: int, asked: dict[str, Any], granted: tuple[ApprovalRole, ...] = (), op: str = "") -> Decision:
    """A decision as it was come to under BEFORE and recorded."""
    said = body(asked, ENGINE.judge_request(asked, granted), granted)
    return Decision.read("lumen", n, "2026-01-01T00:00:00.000000Z", op or f"op-{n}", said)


def again(*decisions: Decision, under: Bundle = AFTER, against: Bundle | None = None) -> Tally:
    return Backtest(under, against, THRESHOLDS, 3).tally(decisions)


def flipped(tally: Tally) -> dict[tuple[str, str], int]:
    return {(str(key.then), str(key.now)): flips.decisions for key, flips in tally.flips.items()}


@given(amount=st.integers(0, 1_200), age=st.integers(0, 120), granted=st.sampled_from([(), CUSTOMER, BOTH]))
def test_nothing_flips_under_the_bundle_that_decided(amount: int, age: int, granted: tuple[ApprovalRole, ...]) -> None:
    tally = again(decided(1, request(amount, age_s=age), granted), under=BEFORE)
    assert (tally.decisions, tally.same, tally.other_rules, tally.flips) == (1, 1, 0, {})


def test_a_lower_threshold_flips_exactly_what_lies_between() -> None:
    amounts = [1, 300, 301, 500, 501, 900, 901]
    tally = again(*(decided(n, request(amount)) for n, amount in enumerate(amounts)))
    assert flipped(tally) == {("ask customer", "ask customer and manager"): 2}
    [(key, flips)] = tally.flips.items()
    assert (key.kind, key.currency, key.band, key.direction) == ("refund", "EUR", Band(301, 500), Direction.STRICTER)
    assert (flips.amount_minor, dict(flips.causes)) == (801, {(("small",), ("large",)): 2})
    assert [example.n for example in flips.examples] == [2, 3]


def test_the_consent_that_was_there_counts_as_it_did() -> None:
    tally = again(decided(1, request(400), CUSTOMER), decided(2, request(400), BOTH))
    assert flipped(tally) == {("permit", "ask customer and manager"): 1}
    assert (tally.same, tally.other_rules) == (1, 1)


def test_an_operation_judged_twice_counts_its_amount_once() -> None:
    tally = again(
        decided(1, request(400), op="op"), decided(2, request(400), CUSTOMER, op="op"), decided(3, request(400))
    )
    assert sorted(flips.amount_minor for flips in tally.flips.values()) == [400, 800]
    asked_twice = again(decided(1, request(400), op="op"), decided(2, request(400), op="op"))
    assert [(f.decisions, f.amount_minor) for f in asked_twice.flips.values()] == [(2, 400)]


def test_a_new_forbid_is_named_as_the_cause() -> None:
    never = '@id("never") forbid (principal, action == Action::"refund", resource) when { context.amount_minor > 800 };'
    tally = again(decided(1, request(850)), decided(2, request(850, age_s=61)), under=bundle(500, never))
    assert flipped(tally) == {("ask customer and manager", "forbid"): 1}
    assert [dict(flips.causes) for flips in tally.flips.values()] == [{(("large",), ("never",)): 1}]
    assert tally.other_rules == 1, "what was forbidden before is so for one more reason"


def test_a_forbid_that_asks_for_more_consent_is_named_as_the_cause() -> None:
    more = bundle(500, '@id("manager-from-3") forbid (principal, action == Action::"refund", resource)'
                  ' when { context.amount_minor > 300 } unless { context.approvals.contains("manager") };')  # fmt: skip
    for granted in ((), CUSTOMER):
        tally = again(decided(1, request(400), granted), under=more)
        ((key, flips),) = tally.flips.items()
        assert str(key.now) == "ask customer and manager"
        assert dict(flips.causes) == {(("small",), ("manager-from-3",)): 1}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request(age_s=None), "context.age_s was not recorded"),
        (request(target={}), "context.target.status was not recorded"),
        (request(target={"status": 3}), "context.target.status is no String"),
        (request(amount_minor=True), "context.amount_minor is no Long"),
        (request(amount_minor=2**63), "context.amount_minor is no Long"),
        (request(currency=["EUR"]), "context.currency is no String"),
        (request(colour="red"), "context.colour is not in the bundle's schema"),
        (request() | {"principal": {"type": "Order", "id": "A-1"}}, "principal is no Customer"),
        (request() | {"action": {"type": "Action", "id": "fly"}}, "the bundle has no action fly"),
        ({}, "no request was recorded"),
    ],
)
def test_what_cannot_be_judged_again_says_which_fact_is_missing(asked: dict[str, Any], why: str) -> None:
    tally = again(decided(1, asked))
    assert [reason for _, reason in tally.unjudged] == [why]
    assert (tally.decisions, tally.same, tally.flipped) == (1, 0, 0)


def test_a_fact_that_a_newer_schema_wants_was_not_recorded() -> None:
    newer = bundle(500, schema=SCHEMA.replace("age_s: Long,", "age_s: Long, weather: String,"))
    assert again(decided(1, request()), under=newer).unjudged == {("refund", "context.weather was not recorded"): 1}


def test_a_diff_compares_two_bundles_without_regard_to_the_verdict_then() -> None:
    forged = body(request(400), Verdict(kind=VerdictKind.FORBID, rule_ids=("gone",), policy_digest="d"))
    decision = Decision.read("lumen", 1, "2026-01-01T00:00:00.000000Z", "op", forged)
    assert flipped(again(decision)) == {("forbid", "ask customer and manager"): 1}
    assert flipped(again(decision, against=BEFORE)) == {("ask customer", "ask customer and manager"): 1}
    assert again(decision, under=AFTER, against=AFTER).flips == {}


@given(
    amounts=st.lists(st.integers(1, 1_200), max_size=12),
    cut=st.integers(0, 12),
    granted=st.sampled_from([(), CUSTOMER]),
)
def test_parts_add_up_to_the_whole(amounts: list[int], cut: int, granted: tuple[ApprovalRole, ...]) -> None:
    decisions = [decided(n, request(amount), granted, op=f"op-{n // 2}") for n, amount in enumerate(amounts)]
    sum_of_parts = Tally(3)
    for part in (decisions[:cut], decisions[cut:]):
        sum_of_parts.add(again(*part))
    assert sum_of_parts == again(*decisions)


@given(amount=st.integers(-50, 1_000), ends=st.lists(st.integers(-20, 900), unique=True).map(sorted).map(tuple))
def test_every_amount_lies_in_one_band_and_its_band_between_two_thresholds(amount: int, ends: tuple[int, ...]) -> None:
    low, high = band_of(amount, ends)
    assert low is None or low <= amount
    assert high is None or amount <= high
    assert [end for end in ends if (low is None or end >= low) and (high is None or end < high)] == []


def test_the_bands_are_those_of_the_rules() -> None:
    assert thresholds_of(BEFORE.rules, "refund") == (500, 900)
    assert thresholds_of(BEFORE.rules, "cancel") == ()
    when = "context.amount_minor >= 70 || 40 > context.amount_minor"
    strict = f'@id("x") forbid (principal, action, resource) when {{ {when} }};'
    schema = SCHEMA.replace("context: { approvals: Set<String> }", "context: Facts")
    assert thresholds_of(bundle(500, strict, schema).rules, "cancel") == (39, 69)
    base = Bundle.load()
    assert {5_000, 50_000} <= set(thresholds_of(base.rules, "refund"))


def test_an_amount_is_that_of_the_action_or_what_an_exchange_costs() -> None:
    assert amount_of({"amount_minor": 5, "currency": "EUR"}) == (5, "EUR")
    assert amount_of({"difference_minor": -5, "target": {"currency": "SEK"}}) == (-5, "SEK")
    assert amount_of({"plan": {"price_minor": 5}}) == (None, "")


@pytest.mark.parametrize(
    ("then", "now", "direction"),
    [
        (Outcome(VerdictKind.PERMIT), Outcome(VerdictKind.ASK, CUSTOMER), Direction.STRICTER),
        (Outcome(VerdictKind.FORBID), Outcome(VerdictKind.ASK, BOTH), Direction.LOOSER),
        (Outcome(VerdictKind.ASK, BOTH), Outcome(VerdictKind.ASK, CUSTOMER), Direction.LOOSER),
        (Outcome(VerdictKind.ASK, CUSTOMER), Outcome(VerdictKind.ASK, BOTH), Direction.STRICTER),
        (Outcome(VerdictKind.ASK, CUSTOMER), Outcome(VerdictKind.ASK, (ApprovalRole.MANAGER,)), Direction.OTHER),
    ],
)
def test_a_flip_is_looser_where_less_is_asked_for(then: Outcome, now: Outcome, direction: Direction) -> None:
    assert FlipKey("refund", "EUR", Band(), then, now).direction is direction


@pytest.mark.parametrize("text", ["", "{}", '{"verdict": "permit"}', "[]", '{"use": "x"}'])
def test_a_record_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        Decision.read("lumen", 1, "", "op", text)
