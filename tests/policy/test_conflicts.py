"""Rules that pull in opposite directions, found with a request that both match; permits that nothing gets through."""

from typing import Any

import cedarpy
from hypothesis import given, settings

from policy.bundle import Bundle, cedar_of
from policy.examining.cases import asked_by, load_cases
from policy.examining.conflicts import Conflict, Conflicts, conflicts_of
from tests.policy.rulebooks import bundle, layer, rulebooks

SMALL = 'permit (principal, action == Action::"refund", resource) when { context.amount_minor <= 100 };'


def pairs(found: Conflicts) -> set[tuple[str, str, str]]:
    return {conflict.pair for conflict in found.found}


def matching(book: Bundle, request: dict[str, Any]) -> set[str]:
    """The rules of `book` that match `request`, each asked alone."""
    entities = cedarpy.Entities.from_json_str("[]", book.schema)
    alone = {rule.id: cedarpy.is_authorized(request, cedar_of([rule]), entities, book.schema) for rule in book.rules}
    return {name for name, result in alone.items() if result.diagnostics.reasons}


def only(texts: list[str]) -> Conflict:
    [found] = [conflict for conflict in conflicts_of(bundle(texts)).found if conflict.action == "refund"]
    return found


def test_a_pair_is_shown_at_the_edge_that_the_rules_themselves_name() -> None:
    found = only([SMALL, "forbid (principal, action, resource) when { context.amount_minor >= 100 };"])
    assert found.request["context"]["amount_minor"] == 100
    assert str(found) == ("refund: r0 allows and r1 forbids: made from the schema, with context.amount_minor = 100")


def test_rules_that_never_match_together_are_no_pair() -> None:
    apart = conflicts_of(bundle([SMALL, "forbid (principal, action, resource) when { context.amount_minor > 100 };"]))
    assert pairs(apart) == set()
    assert apart.unreached == ()
    assert apart.tried > 1


def test_a_request_is_preferred_in_which_that_forbid_alone_objects() -> None:
    found = conflicts_of(bundle([
        'permit (principal, action == Action::"refund", resource) when { context.approvals.contains("customer") };',
        'forbid (principal, action, resource) unless { context.target.status == "delivered" };',
        "forbid (principal, action, resource) unless { context has note && context.asked_for == principal };",
        'forbid (principal, action, resource) when { context.amount_minor + context.target.amount_minor > 5 };',
        'forbid (principal, action, resource) unless { ["a", "b"].contains(context.status) && !context.urgent };',
        'forbid (principal, action, resource) unless { context.approvals.contains("manager") };',
    ]))  # fmt: skip
    refunds = [conflict for conflict in found.found if conflict.action == "refund"]
    assert {conflict.forbid for conflict in refunds} == {"r1", "r2", "r3", "r4", "r5"}
    assert all(conflict.also == () for conflict in refunds)
    assert found.unreached == ()


def test_a_permit_that_nothing_gets_through_is_told() -> None:
    shadowed = conflicts_of(
        bundle([SMALL, "forbid (principal, action, resource) when { context.amount_minor < 1000 };"])
    )
    assert [str(permit) for permit in shadowed.unreached] == [
        "refund: whatever r0 allows is forbidden, by r1 at least"
    ]  # fmt: skip
    never = conflicts_of(bundle([SMALL.replace("<= 100", "== 1 && context.amount_minor == 2")]))
    assert [str(permit) for permit in never.unreached] == ["refund: no request tried is one that r0 allows"]


def test_a_layers_own_conflicts_are_those_that_its_base_has_not() -> None:
    base = bundle([SMALL, 'forbid (principal, action, resource) when { context.status == "blocked" };'])
    over = layer(base, ["forbid (principal, action, resource) when { context.urgent };"])
    new = conflicts_of(over).new_since(conflicts_of(base))
    assert [conflict.pair for conflict in new] == [("refund", "r0", "own0")]


def test_a_case_about_what_is_no_request_starts_nothing() -> None:
    book = bundle([SMALL])
    nonsense: list[dict[str, Any]] = [{}, {"action": 1}, {"action": {"type": "Action", "id": "refund"}, "context": {}}]
    assert conflicts_of(book, [("odd", request) for request in nonsense]) == conflicts_of(book)


def test_what_is_found_starts_from_the_cases_where_there_are_any() -> None:
    base, cases = Bundle.load(), load_cases()
    found = conflicts_of(base, asked_by(cases))
    names = {case.name for case in cases}
    assert any(conflict.start in names for conflict in found.found)
    assert ("refund", "refund-small-with-confirmation", "customer-not-in-good-standing") in pairs(found)
    assert ("refund", "refund-small-with-confirmation", "refund-above-limit") not in pairs(found)
    assert found.tried < 10_000


@settings(max_examples=40)
@given(rulebooks(min_size=2))
def test_a_request_that_is_shown_is_matched_by_both(texts: list[str]) -> None:
    book = bundle(texts)
    for conflict in conflicts_of(book).found:
        matched = matching(book, conflict.request)
        forbids = {rule.id for rule in book.rules if not rule.permits}
        assert conflict.permit in matched
        assert matched & forbids == {conflict.forbid, *conflict.also}
