"""Cedar's answer to one request under one set of approvals: asked of its action's slice, or of the whole bundle.

Pure; whatever goes wrong in evaluation is told as a failure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import cedarpy

from domain.action import ApprovalRole
from policy.examining.asking import larger_sets
from policy.question import with_approvals
from policy.rules import DEFAULT_DENY, EVALUATION_ERROR
from policy.slices import Slice


class Ruling(NamedTuple):
    """Cedar's answer for one set of approvals: the ids are those of the rules that decided it."""

    allowed: bool
    rule_ids: tuple[str, ...]
    failed: bool = False


FAILED = Ruling(False, (EVALUATION_ERROR,), failed=True)


class Asked(Protocol):
    """One request, ready to be ruled on under one set of approvals after another."""

    @property
    def blind(self) -> frozenset[str]:
        """The rules that never look at approvals: more of them change nothing for these."""
        ...

    def now(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Rule on it under the approvals granted."""
        ...

    def later(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Rule on it under a larger set, once no blind rule has objected."""
        ...

    def larger_sets(self, granted: Sequence[ApprovalRole]) -> Iterator[tuple[ApprovalRole, ...]]:
        """Yield the supersets of `granted` that may change the answer, the smallest first."""
        ...


class InSlice:
    """A request that is known to fit the schema, asked of its action's slice."""

    def __init__(
        self, part: Slice, request: Mapping[str, Any], facts: dict[str, Any], entities: cedarpy.Entities
    ) -> None:
        self._slice, self._facts, self._entities = part, facts, entities
        self._request = {name: request[name] for name in ("principal", "action", "resource")}

    @property
    def blind(self) -> frozenset[str]:
        """Those of the slice."""
        return self._slice.blind

    def now(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Ask every rule of the slice."""
        return self._rule(self._slice.whole, self._facts, approvals)

    def later(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Ask only the rules that may answer otherwise than they did."""
        return self._rule(self._slice.later, self._slice.reduce(self._facts), approvals)

    def larger_sets(self, granted: Sequence[ApprovalRole]) -> Iterator[tuple[ApprovalRole, ...]]:
        """Yield those that the rules' own tests tell apart."""
        return larger_sets(granted, self._slice.tests)

    def _rule(self, rules: cedarpy.PolicySet, facts: Mapping[str, Any], approvals: Collection[ApprovalRole]) -> Ruling:
        asked = {**self._request, "context": self._slice.context(facts, approvals)}
        return ruled(asked, rules, self._entities, None)


class AsWhole:
    """A request that Cedar itself holds against the schema, once, and that every rule of the bundle is asked about."""

    def __init__(
        self,
        rules: cedarpy.PolicySet,
        schema: cedarpy.Schema,
        request: Mapping[str, Any],
        entities: cedarpy.Entities,
        blind: frozenset[str],
    ) -> None:
        self._rules, self._schema, self._request, self._entities = rules, schema, dict(request), entities
        self.blind = blind

    def now(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Ask every rule, and whether the request fits."""
        return self._rule(approvals, self._schema)

    def later(self, approvals: Collection[ApprovalRole]) -> Ruling:
        """Ask every rule of a request that fits."""
        return self._rule(approvals, None)

    def larger_sets(self, granted: Sequence[ApprovalRole]) -> Iterator[tuple[ApprovalRole, ...]]:
        """Yield all of them."""
        return larger_sets(granted, None)

    def _rule(self, approvals: Collection[ApprovalRole], schema: cedarpy.Schema | None) -> Ruling:
        try:
            asked = with_approvals(self._request, approvals)
        except (TypeError, LookupError):
            return FAILED
        return ruled(asked, self._rules, self._entities, schema)


def ruled(
    request: dict[str, Any], rules: cedarpy.PolicySet, entities: cedarpy.Entities, schema: cedarpy.Schema | None
) -> Ruling:
    """Cedar's answer in our terms: rules by their own ids, and any error a failure."""
    try:
        result = cedarpy.is_authorized(request, rules, entities, schema)
    except (LookupError, TypeError, ValueError, RuntimeError):
        return FAILED
    told = result.diagnostics
    rule_ids = tuple(sorted(told.id_annotations_by_reason.get(reason, reason) for reason in told.reasons))
    if told.errors or result.decision is cedarpy.Decision.NoDecision:
        return Ruling(False, (*(() if result.allowed else rule_ids), EVALUATION_ERROR), failed=True)
    return Ruling(result.allowed, rule_ids or (DEFAULT_DENY,))
