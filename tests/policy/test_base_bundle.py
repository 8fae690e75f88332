"""The base bundle: its cases, and the laws that hold for every question there could be."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from domain.action import ApprovalRole, Payload
from domain.verdict import PolicyQuestion, VerdictKind
from policy.bundle import Bundle
from policy.cases import Case, load_cases
from policy.engine import PolicyEngine
from tests.policy import worlds as w

ENGINE = PolicyEngine(Bundle.load())
CASES = load_cases()
ROLES = st.sets(st.sampled_from(list(ApprovalRole))).map(tuple)
MONEY = st.one_of(st.integers(1, 60_000), st.sampled_from([1, 5000, 5001, 50_000, 50_001, 2**63 - 1, 2**63]))


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_case(case: Case) -> None:
    verdict = ENGINE.judge(case.question)
    assert (verdict.kind, verdict.rule_ids, verdict.required) == (case.verdict, case.rules, case.required)
    assert verdict.policy_digest == ENGINE.bundle.digest


def test_every_rule_is_met_by_a_case() -> None:
    met = {rule for case in CASES for rule in case.rules}
    assert ENGINE.bundle.rule_ids - met == {"refund-below-minimum"}  # a payload below one unit cannot be made


def mostly(good: object, *others: object) -> st.SearchStrategy[Any]:
    """`good` nine times in ten, so that most questions fail for one reason or none."""
    return st.sampled_from([good] * 9 * max(1, len(others)) + list(others))


@st.composite
def payloads(draw: st.DrawFn) -> Payload:
    version, customer = draw(mostly(1, 0, 2)), draw(mostly(w.CUSTOMER, "cus_2"))
    if draw(st.booleans()):
        ident = draw(mostly("sub_1", "sub_2"))
        return w.cancellation(ident, resource_version=version, customer_id=customer)
    resource = draw(st.sampled_from(["order:A-10001", "order:A-10001", "payment:pay_1", "order:A-2", "payment:pay_9"]))
    currency = draw(mostly("EUR", "USD", "JPY", ""))
    return w.refund(resource, draw(MONEY), currency=currency, resource_version=version, customer_id=customer)


@st.composite
def questions(draw: st.DrawFn) -> PolicyQuestion:
    payload = draw(payloads())
    paid = draw(st.one_of(MONEY, st.just(payload.amount_minor or 2900)))
    owned = w.account(
        w.order(status=draw(mostly("delivered", "shipped", "refunded", "")), captured=draw(mostly(90_000, paid, 1))),
        w.subscription("sub_1", draw(mostly("active", "cancelled", "past_due"))),
        w.payment("pay_1", paid, order_id="A-10001"),
        w.payment("pay_2", paid, hours_ago=draw(st.floats(0, 100)), order_id="A-10001"),
    )
    return w.question(
        payload,
        owned,
        customer_status=draw(mostly("active", "blocked", "?")),
        stage=draw(mostly("approval_required", "automatic", "off", "shadow")),
        evidence_observed_at=w.NOW - timedelta(seconds=draw(mostly(5, -20, 60, 60.5, 90))),
        granted=draw(ROLES),
    )


@pytest.mark.parametrize("kind", list(VerdictKind))
def test_the_questions_below_reach_every_verdict(kind: VerdictKind) -> None:
    find(questions(), lambda q: judged(q) is kind)


def judged(question: PolicyQuestion, **changes: object) -> VerdictKind:
    return ENGINE.judge(question.model_copy(update=changes)).kind


@given(questions())
def test_nothing_is_permitted_without_the_customers_consent(question: PolicyQuestion) -> None:
    verdict = ENGINE.judge(question)
    if verdict.kind is VerdictKind.PERMIT:
        assert ApprovalRole.CUSTOMER in question.granted
    if verdict.kind is VerdictKind.ASK:
        assert ApprovalRole.CUSTOMER in verdict.required


@given(questions(), ROLES)
def test_more_approvals_never_turn_a_permit_into_anything_else(
    question: PolicyQuestion, more: tuple[ApprovalRole, ...]
) -> None:
    if judged(question) is VerdictKind.PERMIT:
        assert judged(question, granted=tuple({*question.granted, *more})) is VerdictKind.PERMIT


@given(questions())
def test_what_is_asked_for_is_enough_and_no_smaller_set_is(question: PolicyQuestion) -> None:
    verdict = ENGINE.judge(question)
    if verdict.kind is VerdictKind.ASK:
        assert judged(question, granted=verdict.required) is VerdictKind.PERMIT
        assert set(verdict.required) == {*question.granted, *verdict.missing}
        assert not set(question.granted) & set(verdict.missing)
        for role in verdict.missing:
            fewer = tuple(r for r in verdict.required if r is not role)
            assert judged(question, granted=fewer) is not VerdictKind.PERMIT


@given(questions(), ROLES)
def test_a_forbid_is_a_forbid_under_any_approvals(question: PolicyQuestion, more: tuple[ApprovalRole, ...]) -> None:
    if judged(question) is VerdictKind.FORBID:
        assert judged(question, granted=tuple({*question.granted, *more})) is VerdictKind.FORBID


@given(questions())
def test_what_policy_lets_through_is_owned_fresh_current_and_within_what_was_captured(question: PolicyQuestion) -> None:
    if judged(question) is VerdictKind.FORBID:
        return
    found = question.account.resource(question.payload.resource)
    age = question.now - question.evidence_observed_at
    assert found is not None
    assert question.payload.customer_id == question.customer_id
    assert found.version == question.payload.resource_version
    assert age <= timedelta(seconds=question.evidence_max_age_s)
    if question.payload.amount_minor is not None:
        assert 1 <= question.payload.amount_minor <= min(50_000, getattr(found, "refundable_minor", 0))
        assert question.payload.currency == found.currency


@given(questions())
def test_the_same_question_has_the_same_verdict(question: PolicyQuestion) -> None:
    assert ENGINE.judge(question) == PolicyEngine(ENGINE.bundle).judge(question)


@given(questions())
def test_every_rule_id_is_known(question: PolicyQuestion) -> None:
    known = ENGINE.bundle.rule_ids | {"default-deny", "evaluation-error"}
    assert set(ENGINE.judge(question).rule_ids) <= known


def test_customers_of_odd_names_are_judged_like_others() -> None:
    for name in ('a"b', "a\nb", "Ünï", "", "\x00"):
        question = w.question(w.refund(customer_id=name), customer_id=name)
        assert judged(question) is VerdictKind.ASK


def test_amounts_beyond_what_cedar_counts_are_forbidden_as_errors() -> None:
    verdict = ENGINE.judge(w.question(w.refund(amount=2**63)))
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_a_lone_surrogate_is_forbidden_as_an_error() -> None:
    question = w.question(w.refund()).model_copy(update={"tenant_id": "\ud800"})
    assert ENGINE.judge(question).rule_ids == ("evaluation-error",)


def test_times_without_a_zone_are_forbidden_as_an_error() -> None:
    verdict = ENGINE.judge(w.question(now=w.NOW.replace(tzinfo=None)))
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))
