"""The plain way to judge: every rule of the bundle, held against the schema, under one set of approvals after another.

What the engine is measured against here, and held equal to by the tests; nothing is sliced, skipped or remembered.
"""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import cedarpy

from domain.action import ApprovalRole
from domain.verdict import VerdictKind
from policy.bundle import Bundle


class Plain(NamedTuple):
    """A verdict; `rule_ids` are those of the answer that decided it."""

    kind: VerdictKind
    rule_ids: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()


class PlainEngine:
    """Judges by asking Cedar everything."""

    def __init__(self, bundle: Bundle) -> None:
        self._policies = cedarpy.PolicySet.from_str("\n".join(rule.text for rule in bundle.rules))
        self._blind = {rule.id for rule in bundle.rules if rule.approval_blind}
        self._schema = bundle.schema
        self._entities = cedarpy.Entities.from_json_str("[]", bundle.schema)

    def judge_request(self, request: Mapping[str, Any], granted: Collection[ApprovalRole]) -> Plain:
        """Return the verdict on `request`, whose context is a mapping without approvals."""
        result = self._ask(request, granted)
        if result is None or result.diagnostics.errors:
            return Plain(VerdictKind.FORBID, (*_ids(result), "evaluation-error"))
        if result.allowed:
            return Plain(VerdictKind.PERMIT, _ids(result), _in_order(granted))
        others = [role for role in ApprovalRole if role not in granted]
        for more in (more for size in range(1, len(others) + 1) for more in combinations(others, size)):
            larger = self._ask(request, {*granted, *more})
            if larger is None or larger.diagnostics.errors:
                return Plain(VerdictKind.FORBID, (*_ids(larger), "evaluation-error"))
            if larger.allowed:
                return Plain(VerdictKind.ASK, _ids(larger), _in_order({*granted, *more}))
        return Plain(VerdictKind.FORBID, self._lasting(request, _ids(result)) or ("default-deny",))

    def _lasting(self, request: Mapping[str, Any], rule_ids: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the rules that object whatever is approved; what never looks at approvals goes first."""
        blind = tuple(name for name in rule_ids if name in self._blind)
        left = _ids(self._ask(request, tuple(ApprovalRole)))
        return blind or tuple(name for name in rule_ids if name in left)

    def _ask(self, request: Mapping[str, Any], approvals: Collection[ApprovalRole]) -> cedarpy.AuthzResult | None:
        try:
            context = {**request["context"], "approvals": [role.value for role in approvals]}
            asked = {**request, "context": context}
            result = cedarpy.is_authorized(asked, self._policies, self._entities, self._schema)
        except (LookupError, TypeError, ValueError, RuntimeError):
            return None
        return None if result.decision is cedarpy.Decision.NoDecision else result


def _ids(result: cedarpy.AuthzResult | None) -> tuple[str, ...]:
    if result is None or (result.allowed and result.diagnostics.errors):
        return ()
    return tuple(sorted(result.diagnostics.id_annotations_by_reason.values()))


def _in_order(roles: Collection[ApprovalRole]) -> tuple[ApprovalRole, ...]:
    return tuple(role for role in ApprovalRole if role in roles)
