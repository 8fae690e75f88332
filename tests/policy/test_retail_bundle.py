"""The retail bundle by itself: its cases, and that each rule is met by one and is needed."""

import pytest

from domain.action import ApprovalRole
from policy.bundle import BUNDLES, Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import Case, failures, load_cases
from policy.retail.question import ANOTHER_TOOL
from policy.retail.tools import Tool

FOLDER = BUNDLES / "retail"
BUNDLE = Bundle.load(FOLDER)
CASES = load_cases(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case) -> None:
    assert not failures(PolicyEngine(BUNDLE), [case])


def test_every_rule_is_met_by_a_case() -> None:
    assert BUNDLE.rule_ids - {rule for case in CASES for rule in case.rules} == set()


def test_every_tool_has_cases_of_every_verdict() -> None:
    met = {(case.asked()["action"]["id"], case.verdict.value) for case in CASES}
    every = {(tool.value, verdict) for tool in Tool for verdict in ("permit", "ask", "forbid")}
    assert met == every | {(ANOTHER_TOOL, "forbid")}


@pytest.mark.parametrize("name", sorted(BUNDLE.rule_ids))
def test_without_any_one_rule_a_case_comes_out_otherwise(name: str) -> None:
    [rule] = [rule for rule in BUNDLE.rules if rule.id == name]
    assert BUNDLE.files["policies.cedar"].count(rule.text) == 1
    less = {**BUNDLE.files, "policies.cedar": BUNDLE.files["policies.cedar"].replace(rule.text, "")}
    assert failures(PolicyEngine(Bundle.parse(less)), CASES)


@pytest.mark.parametrize("role", [role for role in ApprovalRole if role is not ApprovalRole.CUSTOMER])
def test_nobody_elses_yes_stands_for_the_customers(role: ApprovalRole) -> None:
    engine = PolicyEngine(BUNDLE)
    for case in CASES:
        assert engine.judge_request(case.asked(), [role]).kind is not case.verdict.PERMIT
