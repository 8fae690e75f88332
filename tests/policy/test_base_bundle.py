"""The base bundle: its cases, and the laws that hold for every question there could be."""

import copy
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from domain.action import MONEY_KINDS, ActionKind, ApprovalRole, Payload
from domain.verdict import Actor, PolicyQuestion, VerdictKind
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import Case, load_cases
from policy.question import request_of
from tests.policy import worlds as w

ENGINE = PolicyEngine(Bundle.load())
CASES = load_cases()
ROLES = st.sets(st.sampled_from(list(ApprovalRole))).map(tuple)
MONEY = st.one_of(st.integers(1, 60_000), st.sampled_from([1, 5000, 5001, 50_000, 50_001, 2**63 - 1, 2**63]))


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_case(case: Case) -> None:
    verdict = case.judged(ENGINE)
    assert (verdict.kind, verdict.rule_ids, verdict.required) == (case.verdict, case.rules, case.required)
    assert verdict.policy_digest == ENGINE.bundle.digest


PERMITTED = {
    case.question.payload.kind: case.question
    for case in reversed(CASES)
    if case.question is not None and case.verdict is VerdictKind.PERMIT
}
NOT_MADE: list[tuple[str, ActionKind, Mapping[str, Any]]] = [  # a payload that would ask for these cannot be made
    ("refund-below-minimum", ActionKind.REFUND, {"amount_minor": 0}),
    ("refund-below-minimum", ActionKind.REFUND_DUPLICATE_CHARGE, {"amount_minor": 0}),
    ("credit-below-minimum", ActionKind.STORE_CREDIT, {"amount_minor": 0}),
    ("return-below-minimum", ActionKind.RETURN_ITEMS, {"amount_minor": 0}),
    ("access-by-another-channel", ActionKind.RESTORE_ACCOUNT_ACCESS, {"channel": "chat"}),
]
WAITED_FOR = {  # approvals do away with these, so that none decides: an `ask` asks for what they wait for
    "not-without-the-customer",
    "money-without-any-approval",
    "many-refunds-need-a-manager",
    "customer-total-needs-finance",
    "tenant-total-needs-finance",
}


def test_every_kind_of_action_is_permitted_in_some_case() -> None:
    assert set(PERMITTED) == set(ActionKind)


def test_every_rule_is_met_by_a_case() -> None:
    met = {rule for case in CASES for rule in case.rules}
    assert ENGINE.bundle.rule_ids - met == {rule for rule, _, _ in NOT_MADE} | WAITED_FOR


@pytest.mark.parametrize(("rule", "kind", "told"), NOT_MADE)
def test_what_no_payload_can_ask_for_is_forbidden_all_the_same(
    rule: str, kind: ActionKind, told: Mapping[str, Any]
) -> None:
    request = copy.deepcopy(request_of(PERMITTED[kind]))
    request["context"].update(told)
    verdict = ENGINE.judge_request(request, list(ApprovalRole))
    assert verdict.kind is VerdictKind.FORBID
    assert rule in verdict.rule_ids


Change = Callable[[PolicyQuestion], dict[str, Any]]
ALWAYS: dict[str, Change] = {  # by the rule that forbids it, whatever the action
    "not-your-resource": lambda q: {"customer_id": "cus_other"},
    "customer-not-in-good-standing": lambda q: {"customer_status": "blocked"},
    "role-may-not-ask-for-this": lambda q: {"actor": Actor(kind="staff", role="admin", id="x")},
    "stage-allows-no-action": lambda q: {"stage": "off"},
    "stopped-by-a-switch": lambda q: {"stopped": True},
    "evidence-too-old": lambda q: {"now": q.now + timedelta(seconds=90)},
    "evidence-from-the-future": lambda q: {"evidence_observed_at": q.now + timedelta(seconds=6)},
    "resource-has-changed": lambda q: {"payload": q.payload.model_copy(update={"resource_version": 99})},
    "too-many-actions-in-conversation": lambda q: {"actions_in_conversation": 20},
}


@pytest.mark.parametrize("kind", list(ActionKind))
@pytest.mark.parametrize("rule", ALWAYS)
def test_what_is_never_allowed_is_forbidden_for_every_kind(rule: str, kind: ActionKind) -> None:
    question = PERMITTED[kind]
    verdict = ENGINE.judge(question.model_copy(update={**ALWAYS[rule](question), "granted": tuple(ApprovalRole)}))
    assert verdict.kind is VerdictKind.FORBID
    assert rule in verdict.rule_ids


@pytest.mark.parametrize("kind", sorted(MONEY_KINDS))
def test_another_open_money_action_forbids_every_kind_that_moves_money(kind: ActionKind) -> None:
    verdict = ENGINE.judge(PERMITTED[kind].model_copy(update={"open_money_actions": 1}))
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("another-money-action-is-open",))


GIVES_BACK: dict[ActionKind, PolicyQuestion] = {
    case.question.payload.kind: case.question
    for case in reversed(CASES)
    if case.question is not None and case.verdict is VerdictKind.PERMIT and case.question.payload.amount_minor
}


@pytest.mark.parametrize("kind", sorted(MONEY_KINDS))
@pytest.mark.parametrize(
    ("past", "missing"),
    [
        ({"refunds_30d_count": 10}, {ApprovalRole.MANAGER}),
        ({"refunds_30d_minor": 200_000}, {ApprovalRole.FINANCE}),
        ({"tenant_refunds_24h_minor": 5_000_000}, {ApprovalRole.FINANCE}),
        ({"refunds_30d_minor": 500_000}, None),
    ],
)
def test_what_was_given_back_before_counts_for_every_kind_that_gives_back(
    kind: ActionKind, past: dict[str, int], missing: set[ApprovalRole] | None
) -> None:
    question = GIVES_BACK[kind]
    verdict = ENGINE.judge(question.model_copy(update={**past, "granted": (ApprovalRole.CUSTOMER,)}))
    assert verdict.kind is (VerdictKind.FORBID if missing is None else VerdictKind.ASK)
    assert missing is None or missing <= set(verdict.missing)


DECIMALS = ["AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "NOK", "NZD", "PLN", "SEK", "USD"]


@pytest.mark.parametrize(("currency", "may"), [*((c, True) for c in DECIMALS), ("JPY", False), ("KWD", False)])
@pytest.mark.parametrize("kind", sorted(MONEY_KINDS))
def test_limits_hold_for_the_currencies_that_they_are_written_for(kind: ActionKind, currency: str, may: bool) -> None:
    request = copy.deepcopy(request_of(PERMITTED[kind]))
    request["context"].update({"currency": currency} if kind is not ActionKind.EXCHANGE_ITEMS else {})
    request["context"]["target"]["currency"] = currency
    assert (ENGINE.judge_request(request, list(ApprovalRole)).kind is VerdictKind.PERMIT) is may


MONEY_OF_FINANCE = {"refund", "refund_duplicate_charge", "store_credit", "cancel_order", "return_items"}
PROTECTING = {"restore_account_access", "change_delivery_address", "change_payment_method", "cancel_order"}
ASKED_FOR_BY = {
    ("bot", "bot"): set(ActionKind) - {"store_credit"},
    ("bot", "agent"): set(),
    ("staff", "agent"): set(ActionKind),
    ("staff", "manager"): set(ActionKind),
    ("staff", "finance"): MONEY_OF_FINANCE,
    ("staff", "trust_and_safety"): PROTECTING,
    ("staff", "admin"): set(),
    ("staff", "revoked"): set(),
    ("staff", "bot"): set(),
}


@pytest.mark.parametrize(("kind_of_actor", "role"), ASKED_FOR_BY)
def test_each_role_may_ask_for_its_kinds_and_for_no_other(kind_of_actor: Any, role: str) -> None:
    actor = Actor(kind=kind_of_actor, role=role, id="x")
    may = {kind for kind, q in PERMITTED.items() if judged(q, actor=actor) is not VerdictKind.FORBID}
    assert may == ASKED_FOR_BY[kind_of_actor, role]


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


def questions() -> st.SearchStrategy[PolicyQuestion]:
    return st.one_of(refunds_and_cancellations(), of_every_kind())


@st.composite
def of_every_kind(draw: st.DrawFn) -> PolicyQuestion:
    """A case that is permitted, in circumstances of all sorts."""
    question = PERMITTED[draw(st.sampled_from(list(ActionKind)))]
    return question.model_copy(
        update={
            "stage": draw(mostly(question.stage, "off", "shadow", "automatic")),
            "actor": draw(mostly(question.actor, Actor(kind="staff", role="finance", id="x"))),
            "refunds_30d_count": draw(mostly(0, 9, 10)),
            "refunds_30d_minor": draw(mostly(0, 199_000, 600_000, 2**63 - 1)),
            "tenant_refunds_24h_minor": draw(mostly(0, 4_999_999, 2**63)),
            "actions_in_conversation": draw(mostly(0, 19, 20)),
            "open_money_actions": draw(mostly(0, 1)),
            "stopped": draw(mostly(False, True)),
            "granted": draw(ROLES),
        }
    )


@st.composite
def refunds_and_cancellations(draw: st.DrawFn) -> PolicyQuestion:
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


LIMITS = {
    ActionKind.REFUND: 50_000,
    ActionKind.REFUND_DUPLICATE_CHARGE: 200_000,
    ActionKind.STORE_CREDIT: 10_000,
    ActionKind.CANCEL_ORDER: 500_000,
    ActionKind.RETURN_ITEMS: 200_000,
    ActionKind.EXCHANGE_ITEMS: 50_000,
}


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
    assert not question.stopped
    if question.payload.kind in MONEY_KINDS:
        assert question.open_money_actions == 0
    if question.payload.amount_minor is not None:
        left = getattr(found, "refundable_minor", 200_000)  # store credit takes nothing that was captured
        assert 1 <= question.payload.amount_minor <= min(LIMITS[question.payload.kind], left)
        assert question.payload.currency == getattr(found, "currency", None)


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
