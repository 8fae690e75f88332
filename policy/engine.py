"""The engine: asks Cedar one question and turns the answer into permit, ask or forbid (design §6).

Pure given its bundle; whatever goes wrong in evaluation is a forbid.
"""

from collections.abc import Collection, Mapping
from typing import Any

import cedarpy

from domain.action import ApprovalRole
from domain.verdict import PolicyQuestion, Verdict, VerdictKind
from policy.bundle import Bundle, cedar_of
from policy.examining.asking import in_order
from policy.question import request_of
from policy.rules import DEFAULT_DENY
from policy.ruling import FAILED, Asked, AsWhole, InSlice, Ruling
from policy.slices import slices_of
from policy.taking import Misfit


class PolicyEngine:
    """Judges questions under one bundle. INVARIANT: default deny, forbid trumps permit, an error is a forbid."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        # The groups of actions are entities; without them a rule for a group would apply to nothing.
        self._entities = cedarpy.Entities.from_json_str("[]", bundle.schema)
        self._slices = slices_of(bundle)
        self._whole = cedar_of(bundle.rules)
        self._blind = frozenset(rule.id for rule in bundle.rules if rule.approval_blind)

    def judge(self, question: PolicyQuestion) -> Verdict:
        """Return the verdict: permit as things stand, ask where more approvals would permit, else forbid."""
        try:
            request = request_of(question)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return self._verdict(VerdictKind.FORBID, FAILED)
        return self.judge_request(request, question.granted)

    def judge_request(self, request: Mapping[str, Any], granted: Collection[ApprovalRole]) -> Verdict:
        """Return the verdict on a Cedar request `{principal, action, resource, context}` without approvals in it.

        A forbid names what stands in the way whoever consents, and no rule that merely waits for consent.
        """
        roles = in_order(granted)
        asked = self._asked(request)
        ruling = asked.now(roles)
        if ruling.allowed:
            return self._verdict(VerdictKind.PERMIT, ruling, required=roles)
        if ruling.failed:
            return self._verdict(VerdictKind.FORBID, ruling)
        if blind := tuple(name for name in ruling.rule_ids if name in asked.blind):
            return self._verdict(VerdictKind.FORBID, ruling._replace(rule_ids=blind))
        return self._with_more(asked, roles) or self._verdict(VerdictKind.FORBID, _lasting(asked, ruling))

    def in_the_way(self, request: Mapping[str, Any], given: Collection[ApprovalRole]) -> tuple[str, ...]:
        """Return the rules that refuse a request under exactly the approvals `given`; none where it is allowed."""
        ruling = self._asked(request).now(in_order(given))
        return () if ruling.allowed else ruling.rule_ids

    def _asked(self, request: Mapping[str, Any]) -> Asked:
        """The request in its action's slice; as a whole, for Cedar's own check, where it is not sure to fit."""
        part = None
        try:
            action = request["action"]
            part = self._slices.get(action["id"]) if action["type"] == "Action" else None
            if part is not None:
                return InSlice(part, request, part.facts(request), self._entities)
        except (Misfit, TypeError, LookupError):
            pass
        return AsWhole(self._whole, self.bundle.schema, request, self._entities, self._blind)

    def _with_more(self, asked: Asked, granted: tuple[ApprovalRole, ...]) -> Verdict | None:
        """The verdict under the smallest larger set of approvals that settles it, or None where none does."""
        for approvals in asked.larger_sets(granted):
            ruling = asked.later(approvals)
            if ruling.failed:
                return self._verdict(VerdictKind.FORBID, ruling)
            if ruling.allowed:
                missing = tuple(role for role in approvals if role not in granted)
                return self._verdict(VerdictKind.ASK, ruling, required=approvals, missing=missing)
        return None

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


def _lasting(asked: Asked, ruling: Ruling) -> Ruling:
    """The ruling with those of its rules that every approval leaves in the way: none, where nothing permits it."""
    left = asked.later(tuple(ApprovalRole)).rule_ids
    return ruling._replace(rule_ids=tuple(name for name in ruling.rule_ids if name in left) or (DEFAULT_DENY,))
