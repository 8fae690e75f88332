"""The slice of a bundle that one action is judged by: the rules that can apply to it, and the facts that these look at.

Pure. INVARIANT: a slice judges as the whole bundle does, faster; what is not sure to fit is left to the whole.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cedarpy

from domain.action import ApprovalRole
from policy.bundle import Bundle, cedar_of
from policy.examining.asking import APPROVALS, ApprovalTest, tests_of
from policy.rules import Rule
from policy.schema import ActionShape, NotUnderstood, Record, shapes_of
from policy.taking import Misfit, Taker, Wanted, is_entity, reducer, taker, wanted_of


@dataclass(frozen=True)
class Slice:
    """What one action is judged by. `later` is what more approvals may change: all permits, and some forbids."""

    shape: ActionShape
    whole: cedarpy.PolicySet
    later: cedarpy.PolicySet
    blind: frozenset[str]  # the rules that never look at approvals
    tests: tuple[ApprovalTest, ...] | None
    take: Taker  # of a context, what `whole` looks at, approvals aside
    reduce: Taker  # of that, what `later` looks at

    def facts(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the rules look at in the context of `request`.

        Raises Misfit, LookupError or TypeError where the request is not certain to fit the schema.
        """
        shape = self.shape
        if not (is_entity(request["principal"], shape.principals) and is_entity(request["resource"], shape.resources)):
            raise Misfit
        taken: dict[str, Any] = self.take(request["context"])
        return taken

    def context(self, facts: Mapping[str, Any], approvals: Collection[ApprovalRole]) -> str:
        """Return `facts` and `approvals` as a context in JSON."""
        return json.dumps({**facts, "approvals": sorted(role.value for role in approvals)})


def slices_of(bundle: Bundle) -> dict[str, Slice]:
    """Return the slice of each action, by its id; none where the schema is more than is understood here."""
    try:
        shapes = shapes_of(bundle.schema)
    except NotUnderstood:
        return {}
    return {action: _slice(shape, bundle.rules) for action, shape in shapes.items()}


def applies(rule: Rule, shape: ActionShape) -> bool:
    """Whether the scope of `rule` can match a request of that shape."""
    tree = rule.tree
    return (
        _names(tree["action"], shape.groups)
        and _of_type(tree["principal"], shape.principals)
        and _of_type(tree["resource"], shape.resources)
    )


def _slice(shape: ActionShape, rules: Sequence[Rule]) -> Slice:
    mine = [rule for rule in rules if applies(rule, shape)]
    later = [rule for rule in mine if rule.permits or not rule.approval_blind]
    facts = Record({name: of for name, of in shape.context.fields.items() if name != "approvals"})
    return Slice(
        shape=shape,
        whole=cedar_of(mine),
        later=cedar_of(later),
        blind=frozenset(rule.id for rule in mine if rule.approval_blind),
        tests=tests_of(mine),
        take=taker(facts, _looked_at(mine)),
        reduce=reducer(_looked_at(later)),
    )


def _looked_at(rules: Sequence[Rule]) -> Wanted:
    return wanted_of({path for rule in rules for path in rule.paths if path != APPROVALS})


def _names(scope: Mapping[str, Any], groups: frozenset[str]) -> bool:
    if scope["op"] == "All":
        return True
    named = scope["entities"] if "entities" in scope else [scope["entity"]]
    return any(entity["type"] == "Action" and entity["id"] in groups for entity in named)


def _of_type(scope: Mapping[str, Any], types: frozenset[str]) -> bool:
    match scope["op"]:
        case "is":
            return scope["entity_type"] in types
        case "==":
            return scope["entity"]["type"] in types
        case _:
            return True
