"""The engine: asks Cedar one question and turns the answer into permit, ask or forbid (design §6).

Pure given its bundle; whatever goes wrong in evaluation is a forbid.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import cedarpy

from domain.action import ApprovalRole
from domain.verdict import PolicyQuestion, Verdict, VerdictKind
from policy.bundle import DEFAULT_DENY, EVALUATION_ERROR, Bundle
from policy.question import request_of, with_approvals

NO_ENTITIES = cedarpy.Entities.from_json_str("[]")


class Ruling(NamedTuple):
    """Cedar's answer for one set of approvals: the ids are those of the rules that decided it."""

    allowed: bool
    rule_ids: tuple[str, ...]
    failed: bool = False


FAILED = Ruling(False, (EVALUATION_ERROR,), failed=True)


class PolicyEngine:
    """Judges questions under one bundle. INVARIANT: default deny, forbid trumps permit, an error is a forbid."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    def judge(self, question: PolicyQuestion) -> Verdict:
        """Return the verdict: permit as things stand, ask where more approvals would permit, else forbid."""
        granted = _in_order(question.granted)
        try:
            request = request_of(question)
        except (TypeError, ValueError, OverflowError):
            return self._verdict(VerdictKind.FORBID, FAILED)
        ruling = self._rule(request, granted, checked=True)
        if ruling.allowed:
            return self._verdict(VerdictKind.PERMIT, ruling, required=granted)
        if ruling.failed or not self.bundle.approval_blind.isdisjoint(ruling.rule_ids):
            return self._verdict(VerdictKind.FORBID, ruling)
        return self._with_more(request, granted) or self._verdict(VerdictKind.FORBID, ruling)

    def _with_more(self, request: dict[str, Any], granted: tuple[ApprovalRole, ...]) -> Verdict | None:
        """The verdict under the smallest larger set of approvals that settles it, or None where none does."""
        for approvals in _larger_sets(granted, self.bundle.roles):
            ruling = self._rule(request, approvals, checked=False)
            if ruling.failed:
                return self._verdict(VerdictKind.FORBID, ruling)
            if ruling.allowed:
                missing = tuple(role for role in approvals if role not in granted)
                return self._verdict(VerdictKind.ASK, ruling, required=approvals, missing=missing)
        return None

    def _rule(self, request: dict[str, Any], approvals: Sequence[ApprovalRole], *, checked: bool) -> Ruling:
        """Ask Cedar once; `checked` also holds the request against the schema, which one call per question needs."""
        schema = self.bundle.schema if checked else None
        try:
            asked = with_approvals(request, approvals)
            return _ruling(cedarpy.is_authorized(asked, self.bundle.policies, NO_ENTITIES, schema))
        except (TypeError, ValueError, RuntimeError):
            return FAILED

    def _verdict(
        self,
        kind: VerdictKind,
        ruling: Ruling,
        required: tuple[ApprovalRole, ...] = (),
        missing: tuple[ApprovalRole, ...] = (),
    ) -> Verdict:
        return Verdict(
            kind=kind,
            rule_ids=ruling.rule_ids,
            required=required,
            missing=missing,
            policy_digest=self.bundle.digest,
        )


def _ruling(result: cedarpy.AuthzResult) -> Ruling:
    """Cedar's answer in our terms: rules by their own ids, and any error a failure."""
    told = result.diagnostics
    rule_ids = tuple(sorted(told.id_annotations_by_reason.get(reason, reason) for reason in told.reasons))
    if told.errors or result.decision is cedarpy.Decision.NoDecision:
        return Ruling(False, (*(() if result.allowed else rule_ids), EVALUATION_ERROR), failed=True)
    return Ruling(result.allowed, rule_ids or (DEFAULT_DENY,))


def _in_order(roles: Sequence[ApprovalRole]) -> tuple[ApprovalRole, ...]:
    """The roles, each once, in the order in which they are declared."""
    return tuple(role for role in ApprovalRole if role in roles)


def _larger_sets(
    granted: Sequence[ApprovalRole], named: Collection[ApprovalRole]
) -> Iterator[tuple[ApprovalRole, ...]]:
    """Every proper superset of `granted` by roles that rules name: the smallest first, the customer before staff."""
    others = [role for role in ApprovalRole if role in named and role not in granted]
    for size in range(1, len(others) + 1):
        for more in combinations(others, size):
            yield _in_order((*granted, *more))
