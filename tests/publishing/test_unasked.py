"""Laws of permits that ask nobody: each is shown with a request that it lets through, and no other is accused."""

import pytest

from policy.bundle import BASE, Bundle, read_folder
from policy.engine import PolicyEngine
from publishing.examining import Examined, examine
from tests.publishing.books import layer

BASE_FILES = read_folder(BASE)
ASKS_NOBODY = 'permit (principal, action == Action::"refund", resource) when { context.amount_minor <= 500 };'


def examined(*rules: str) -> Examined:
    named = "\n".join(f'@id("own-{n}") {rule}' for n, rule in enumerate(rules))
    return examine(layer("lumen", named, base="base"), BASE_FILES)


def test_a_permit_that_asks_nobody_is_shown_with_what_it_lets_through() -> None:
    found = examined(ASKS_NOBODY)
    (shown,) = found.unasked
    assert (shown.action, shown.permit) == ("refund", "own-0")
    own = Bundle.layered(Bundle.parse(BASE_FILES), layer("lumen", f'@id("own-0") {ASKS_NOBODY}', base="base"))
    verdict = PolicyEngine(own).judge_request(shown.request, ())
    assert (verdict.kind.value, verdict.rule_ids) == ("permit", ("own-0",))
    assert shown.request["context"]["stage"] == "automatic"
    assert "  asks nobody: refund: own-0 lets through, approved by nobody: " in str(found)


@pytest.mark.parametrize(
    "rule",
    [
        'permit (principal, action == Action::"refund", resource) when { context.approvals.contains("finance") };',
        'permit (principal, action == Action::"restore_account_access", resource);',
        'permit (principal, action == Action::"cancel_order", resource) when { context.stage == "automatic" };',
        'permit (principal, action == Action::"refund", resource) when { context.amount_minor > 50000 };',
        'permit (principal == Role::"agent", action == Action::"use_tool", resource == Tool::"stop_dispatch");',
    ],
)
def test_a_permit_that_asks_somebody_or_lets_nothing_through_or_is_about_a_tool_is_not_accused(rule: str) -> None:
    assert examined(rule).unasked == ()


def test_of_many_permits_those_that_ask_nobody_are_named_and_the_bases_never() -> None:
    everything = "permit (principal, action, resource);"
    found = examined(everything, ASKS_NOBODY)
    assert {(u.action, u.permit) for u in found.unasked} == {
        ("refund", "own-0"), ("refund", "own-1"), ("refund_duplicate_charge", "own-0"), ("store_credit", "own-0"),
    }  # fmt: skip
