"""The laws of the engine, over rulebooks and requests made up at random."""

from itertools import chain, combinations
from typing import Any

import cedarpy
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from bench.policy_plain import PlainEngine
from domain.action import ApprovalRole
from domain.verdict import Verdict, VerdictKind
from policy.bundle import Bundle, cedar_of
from policy.engine import PolicyEngine
from policy.rules import Rule
from tests.policy.rulebooks import ROLES, broken_requests, bundle, layer, requests, rulebooks, rules

EVERY_SET = list(chain.from_iterable(combinations(ApprovalRole, n) for n in range(len(ApprovalRole) + 1)))


def judged(book: Bundle, request: dict[str, Any], granted: set[ApprovalRole] | tuple[ApprovalRole, ...]) -> Verdict:
    return PolicyEngine(book).judge_request(request, granted)


def alone(book: Bundle, rule: Rule, request: dict[str, Any], granted: set[ApprovalRole]) -> str:
    """What Cedar says of one rule by itself: that it fails, that it matches, or nothing."""
    context = {**request["context"], "approvals": [role.value for role in granted]}
    entities = cedarpy.Entities.from_json_str("[]", book.schema)
    told = cedarpy.is_authorized({**request, "context": context}, cedar_of([rule]), entities).diagnostics
    return "fails" if told.errors else "matches" if told.reasons else ""


def permitted_under(book: Bundle, request: dict[str, Any]) -> set[tuple[ApprovalRole, ...]]:
    engine = PolicyEngine(book)
    return {s for s in EVERY_SET if engine.judge_request(request, s).kind is VerdictKind.PERMIT}


@pytest.mark.parametrize("kind", list(VerdictKind))
def test_what_is_made_up_reaches_every_verdict(kind: VerdictKind) -> None:
    made_up = st.tuples(rulebooks(), requests(), ROLES)
    unshrunk = settings(phases=[Phase.generate], database=None)
    find(made_up, lambda made: judged(bundle(made[0]), made[1], made[2]).kind is kind, settings=unshrunk)


@given(rulebooks(), requests(), ROLES)
def test_forbid_trumps_permit(texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole]) -> None:
    book = bundle([*texts, "permit (principal, action, resource);"])
    verdict = judged(book, request_, granted)
    objects = {r.id for r in book.rules if not r.permits and alone(book, r, request_, granted) == "matches"}
    fails = any(alone(book, r, request_, granted) == "fails" for r in book.rules)
    assert (verdict.kind is VerdictKind.PERMIT) == (not objects and not fails)
    if verdict.kind is VerdictKind.FORBID and not fails and verdict.rule_ids[-1] != "evaluation-error":
        named, blind = set(verdict.rule_ids), {rule.id for rule in book.rules if rule.approval_blind}
        lasting = {r.id for r in book.rules if alone(book, r, request_, set(ApprovalRole)) == "matches"}
        assert named == (objects & blind or objects & lasting or {"default-deny"})


@given(st.lists(rules(("forbid",)), min_size=1, max_size=4), requests(), ROLES)
def test_default_deny(texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole]) -> None:
    assert judged(bundle(texts), request_, granted).kind is VerdictKind.FORBID
    never = bundle(['permit (principal, action == Action::"refund", resource) when { context.amount_minor == 7 };'])
    verdict = judged(never, request_, granted)
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("default-deny",))


@given(rulebooks(), requests(), ROLES)
def test_an_error_forbids(texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole]) -> None:
    book = bundle([*texts, "permit (principal, action, resource);"])
    if any(alone(book, rule, request_, granted) == "fails" for rule in book.rules):
        verdict = judged(book, request_, granted)
        assert verdict.kind is VerdictKind.FORBID
        assert verdict.rule_ids[-1] == "evaluation-error"


@given(broken_requests(), ROLES)
def test_an_error_forbids_when_a_fact_is_missing_or_of_another_type(
    request_: dict[str, Any], granted: set[ApprovalRole]
) -> None:
    book = bundle(["permit (principal, action, resource);"])  # it looks at no fact at all
    plain = PlainEngine(book).judge_request(request_, granted)
    verdict = judged(book, request_, granted)
    assert (verdict.kind, verdict.rule_ids) == (plain.kind, plain.rule_ids)
    assert verdict.rule_ids in (("r0",), ("evaluation-error",))


@given(rulebooks(), rules(("forbid",)), requests())
def test_adding_a_forbid_never_loosens(texts: list[str], more: str, request_: dict[str, Any]) -> None:
    assert permitted_under(bundle([*texts, more]), request_) <= permitted_under(bundle(texts), request_)


@given(rulebooks(min_size=2), requests(), ROLES, st.randoms())
def test_order_of_rules_does_not_matter(
    texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole], random: Any
) -> None:
    book = bundle(texts)
    shuffled = list(book.rules)
    random.shuffle(shuffled)
    other = Bundle.parse({**book.files, "r.cedar": "\n".join(rule.text for rule in shuffled)})
    one, two = judged(book, request_, granted), judged(other, request_, granted)
    assert one.model_copy(update={"policy_digest": two.policy_digest}) == two


@given(rulebooks(), requests(), ROLES)
def test_the_smallest_approval_set_is_asked(
    texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole]
) -> None:
    book = bundle(texts)
    verdict = judged(book, request_, granted)
    enough = [s for s in permitted_under(book, request_) if set(s) >= granted]
    if verdict.kind is VerdictKind.ASK:
        assert verdict.required in enough
        assert len(verdict.required) == min(map(len, enough))
        assert set(verdict.missing) == set(verdict.required) - granted
    if verdict.kind is VerdictKind.FORBID and verdict.rule_ids[-1] != "evaluation-error":
        assert enough == []


@given(rulebooks(), rulebooks(0, 3), requests(), ROLES, st.data())
def test_a_layer_never_permits_what_its_base_forbids(
    texts: list[str], own: list[str], request_: dict[str, Any], granted: set[ApprovalRole], data: st.DataObject
) -> None:
    base = bundle(texts)
    permits = [rule.id for rule in base.rules if rule.permits]
    given_up = data.draw(st.lists(st.sampled_from(permits), unique=True)) if permits else []
    over = layer(base, own, given_up)
    if any(alone(base, r, request_, granted) == "matches" for r in base.rules if not r.permits):
        assert judged(over, request_, granted).kind is not VerdictKind.PERMIT
    assert {r.id for r in base.rules if not r.permits} <= over.rule_ids
    assert over.rule_ids.isdisjoint(given_up)


@given(rulebooks(max_size=8), st.one_of(requests(), broken_requests()), ROLES)
def test_a_slice_judges_as_the_whole(texts: list[str], request_: dict[str, Any], granted: set[ApprovalRole]) -> None:
    book = bundle(texts)
    plain, verdict = PlainEngine(book).judge_request(request_, granted), judged(book, request_, granted)
    assert (verdict.kind, verdict.required) == (plain.kind, plain.required)
    if plain.rule_ids[-1] != "evaluation-error":
        assert verdict.rule_ids == plain.rule_ids


def test_a_rule_for_a_group_of_actions_holds_for_each_of_them() -> None:
    book = bundle(["permit (principal, action, resource);", 'forbid (principal, action in Action::"money", resource);'])
    engine = PolicyEngine(book)
    fits = find(requests(), lambda r: r["action"]["id"] == "refund")
    for action, kind in (("refund", VerdictKind.FORBID), ("cancel", VerdictKind.PERMIT)):
        for name in ("a", "a\n"):  # in the action's slice, and as a whole
            asked = {**fits, "action": {"type": "Action", "id": action}, "principal": {"type": "Customer", "id": name}}
            assert engine.judge_request(asked, ()).kind is kind
