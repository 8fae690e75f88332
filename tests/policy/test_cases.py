"""Cases beside a bundle: what they say, how a wrong verdict is told, and which line of their file cannot be read."""

import json
from typing import Any

import pytest

from domain.action import ApprovalRole
from domain.verdict import VerdictKind
from policy.bundle import Bundle, BundleInvalid
from policy.engine import PolicyEngine
from policy.examining.cases import failures, load_cases, parse_cases
from tests.policy.rulebooks import bundle, customer

REQUEST: dict[str, Any] = {
    "principal": {"type": "Customer", "id": "a"},
    "action": {"type": "Action", "id": "refund"},
    "resource": {"type": "Order", "id": "o"},
    "context": {
        "status": "active", "amount_minor": 100, "urgent": False, "asked_for": customer("a"), "tags": ["x"],
        "target": {"status": "delivered", "amount_minor": 100}, "lines": [{"sku": "a", "count": 1}],
    },
}  # fmt: skip
GIVEN = json.dumps({"given": "refund", "request": REQUEST})
BOOK = bundle(
    [
        'permit (principal, action, resource) when { context.approvals.contains("customer") };',
        "forbid (principal, action, resource) when { context.amount_minor > 100 };",
    ]
)


def case(**more: Any) -> str:
    return json.dumps(
        {"case": "one", "of": "refund", "verdict": "ask", "rules": ["r0"], "required": ["customer"]} | more
    )


def parsed(*lines: str) -> Any:
    return parse_cases("\n".join([GIVEN, "", *lines]))


def test_cases_that_hold_are_no_failures() -> None:
    cases = parsed(
        case(),
        case(case="two", **{"with": {"granted": ["customer"]}}, verdict="permit"),
        case(case="three", **{"with": {"context.amount_minor": 101}}, verdict="forbid", rules=["r1"], required=[]),
        case(case="four", **{"with": {"context.lines.0.count": "1"}}, verdict="forbid", rules=["evaluation-error"],
             required=[]),
    )  # fmt: skip
    assert [c.line for c in cases] == [3, 4, 5, 6]
    assert cases[1].granted == (ApprovalRole.CUSTOMER,)
    assert failures(PolicyEngine(BOOK), cases) == ()


@pytest.mark.parametrize("change", [{"verdict": "permit"}, {"rules": ["r0", "r1"]}, {"required": ["manager"]}])
def test_a_case_that_does_not_hold_is_told_with_both_verdicts(change: dict[str, Any]) -> None:
    [failure] = failures(PolicyEngine(BOOK), parsed(case(**change)))
    assert failure.verdict.kind is VerdictKind.ASK
    assert str(failure).startswith("cases.jsonl:3: one: the verdict is ask by r0, with customer; the case says ")


def test_a_rule_that_the_bundle_does_not_have_is_told() -> None:
    [failure] = failures(PolicyEngine(BOOK), parsed(case(rules=["r0", "refnd", "default-deny"])))
    assert str(failure).endswith("the case says ask by default-deny, r0, refnd, with customer; there is no rule refnd")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"given": "x", "request": {"n": NaN}}', "none that JSON has"),
        ('{"given": "x", "request": {"n": ' + "9" * 5_000 + "}}", "none that JSON has"),
        ("{}", "case: Field required"),
        (case(vredict="ask"), "vredict: Extra inputs"),
        (case(verdict="maybe"), "verdict: "),
        (case(required=["boss"]), "required.0: "),
        (case(of="refunds"), "nothing is given as 'refunds'"),
        (case(**{"with": {"context.targte.status": "x"}}), "there is no such place in 'refund': 'targte'"),
        (case(**{"with": {"context.lines.3.sku": "x"}}), "there is no such place"),
        (case(**{"with": {"granted": ["boss"]}}), "granted.0: "),
        ('{"given": "x"}', "both a question and a request, or neither"),
        ('{"given": "x", "quesiton": {}}', "quesiton: Extra inputs"),
        (case() + "\n" + case(), "stands in line 3 already"),
        ('{"given": "q", "question": {}}\n' + case(of="q"), "question.tenant_id: Field required"),
    ],
)
def test_a_line_that_is_wrong_is_told(line: str, wrong: str) -> None:
    with pytest.raises(BundleInvalid) as caught:
        parsed(line)
    assert str(caught.value).startswith(f"cases.jsonl:{3 + line.count(chr(10))}: ")
    assert wrong in caught.value.wrong
    assert caught.value.right


def test_the_cases_that_ship_hold() -> None:
    assert failures(PolicyEngine(Bundle.load()), load_cases()) == ()
    assert len(load_cases()) > 30
