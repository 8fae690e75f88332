"""The engine under bundles of all sorts: three values, and errors."""

import pytest

from bench.policy_plain import PlainEngine
from domain.action import ApprovalRole
from domain.verdict import VerdictKind
from policy.bundle import BASE, BUNDLES, Bundle, read_folder
from policy.engine import PolicyEngine
from policy.examining.cases import asked_by, load_cases
from policy.question import request_of
from policy.ruling import InSlice
from tests.policy import worlds as w

BASE_FILES = {name: text for name, text in read_folder(BASE).items() if not name.endswith(".cedar")}
PERMIT = '@id("yes") permit (principal, action, resource);'
C, M, F = ApprovalRole


def engine(policies: str) -> PolicyEngine:
    return PolicyEngine(Bundle.parse({**BASE_FILES, "policies.cedar": policies}))


def needs(*roles: ApprovalRole, name: str = "needs") -> str:
    wanted = ", ".join(f'"{r.value}"' for r in roles)
    return f'@id("{name}") permit (principal, action, resource) when {{ context.approvals.containsAll([{wanted}]) }};'


@pytest.mark.parametrize(
    ("policies", "granted", "kind", "rules", "required", "missing"),
    [
        (PERMIT, (), "permit", ("yes",), (), ()),
        (PERMIT, (M,), "permit", ("yes",), (M,), ()),
        (needs(F), (), "ask", ("needs",), (F,), (F,)),
        (needs(F), (C,), "ask", ("needs",), (C, F), (F,)),
        (needs(C, M, F), (M,), "ask", ("needs",), (C, M, F), (C, F)),
        (needs(M, F) + needs(C, name="less"), (), "ask", ("less",), (C,), (C,)),
        (needs(M, name="a") + needs(C, name="b"), (), "ask", ("b",), (C,), (C,)),
        ('@id("no") forbid (principal, action, resource);', (), "forbid", ("no",), (), ()),
        ('@id("no") forbid (principal, action, resource);' + PERMIT, (C, M, F), "forbid", ("no",), (), ()),
        ('@id("other") permit (principal, action == Action::"cancel_subscription", resource);', (C, M, F), "forbid",
         ("default-deny",), (), ()),
        ('@id("until") forbid (principal, action, resource) unless { context.approvals.contains("manager") };' + PERMIT,
         (), "ask", ("yes",), (M,), (M,)),
        (needs(C)
         + '@id("never") forbid (principal, action, resource) when { context.approvals.contains("customer") };', (),
         "forbid", ("default-deny",), (), ()),
    ],
)  # fmt: skip
def test_verdicts_have_three_values(
    policies: str,
    granted: tuple[ApprovalRole, ...],
    kind: str,
    rules: tuple[str, ...],
    required: tuple[ApprovalRole, ...],
    missing: tuple[ApprovalRole, ...],
) -> None:
    verdict = engine(policies).judge(w.question(granted=granted))
    assert (verdict.kind, verdict.rule_ids, verdict.required, verdict.missing) == (kind, rules, required, missing)


OVERFLOW = "context.amount_minor * 9223372036854775807 * 2 > 0"
REFUND_ONLY = '(principal, action == Action::"refund", resource)'


def test_an_error_in_a_forbid_forbids() -> None:
    verdict = engine(PERMIT + f'@id("broken") forbid {REFUND_ONLY} when {{ {OVERFLOW} }};').judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_an_error_in_one_permit_forbids_what_another_allows() -> None:
    verdict = engine(PERMIT + f'@id("broken") permit {REFUND_ONLY} when {{ {OVERFLOW} }};').judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_an_error_beside_a_forbid_names_both() -> None:
    broken = f'@id("broken") permit {REFUND_ONLY} when {{ {OVERFLOW} }};'
    verdict = engine('@id("no") forbid (principal, action, resource);' + broken).judge(w.question())
    assert verdict.rule_ids == ("no", "evaluation-error")


def test_an_error_that_only_more_approvals_bring_out_forbids() -> None:
    rule = f'@id("later") permit {REFUND_ONLY} when {{ context.approvals.contains("customer") && {OVERFLOW} }};'
    verdict = engine(rule + needs(C, M)).judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_repeated_approvals_count_once() -> None:
    assert engine(needs(C)).judge(w.question(granted=(C, C))).required == (C,)


def test_rules_that_read_the_approvals_in_any_way_are_tried_with_more() -> None:
    lonely = '@id("none") forbid (principal, action, resource) when { context.approvals.isEmpty() };'
    verdict = engine(PERMIT + lonely).judge(w.question())
    assert (verdict.kind, verdict.required) == (VerdictKind.ASK, (C,))


def test_a_request_is_judged_like_the_question_that_it_is_made_from() -> None:
    judge = engine(needs(C, M))
    question = w.question(granted=(C,))
    assert judge.judge_request(request_of(question), (C,)) == judge.judge(question)


@pytest.mark.parametrize("request_", [{}, {"action": 1}, {"action": {"type": "Action", "id": []}}, {"context": None}])
def test_what_is_no_request_is_forbidden_as_an_error(request_: dict[str, object]) -> None:
    assert engine(PERMIT).judge_request(request_, (C,)).rule_ids == ("evaluation-error",)


@pytest.mark.parametrize("name", ["base", "retail"])
def test_the_bundles_that_ship_are_judged_in_slices_and_as_plainly_asked(name: str) -> None:
    folder = BUNDLES / name
    bundle = Bundle.load(folder)
    fast, plain, asked = PolicyEngine(bundle), PlainEngine(bundle), asked_by(load_cases(folder))
    sliced = [case for case, request in asked if isinstance(fast._asked(request), InSlice)]
    assert len(sliced) > len(asked) * 0.9, "policy.schema or policy.taking does not read what this bundle uses"
    for case, request in asked:
        for granted in ((), (C,), (M,), (C, M), (C, M, F)):
            verdict, expected = fast.judge_request(request, granted), plain.judge_request(request, granted)
            assert (verdict.kind, verdict.required) == (expected.kind, expected.required), case
            assert verdict.rule_ids == expected.rule_ids, case
