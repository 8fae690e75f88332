"""A policy question in Cedar's form: one request whose context holds every fact that a rule may look at.

Pure: what the account does not hold has no owner, exactly as if it belonged to somebody else.
"""

import math
from collections.abc import Collection
from typing import Any

from domain.action import ApprovalRole
from domain.verdict import PolicyQuestion

TYPES = {"order": "Order", "payment": "Payment", "subscription": "Subscription", "account": "Account"}


def request_of(question: PolicyQuestion) -> dict[str, Any]:
    """Return the Cedar request for `question`, without approvals. Raises TypeError for times without a zone."""
    kind, _, ident = question.payload.resource.partition(":")
    return {
        "principal": {"type": "Customer", "id": question.customer_id},
        "action": {"type": "Action", "id": question.payload.kind.value},
        "resource": {"type": TYPES[kind], "id": ident},
        "context": {**_circumstances(question), **_particulars(question)},
    }


def recorded(question: PolicyQuestion) -> dict[str, Any]:
    """Return the request as it goes on record; empty where the question cannot be put, which is a forbid."""
    try:
        return request_of(question)
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return {}


def with_approvals(request: dict[str, Any], approvals: Collection[ApprovalRole]) -> dict[str, Any]:
    """Return `request` as if exactly `approvals` had been granted."""
    return {**request, "context": {**request["context"], "approvals": sorted(role.value for role in approvals)}}


def _circumstances(question: PolicyQuestion) -> dict[str, Any]:
    """What every kind of action is judged on."""
    age_s = math.ceil((question.now - question.evidence_observed_at).total_seconds())
    return {
        "kind": question.payload.kind.value,
        "actor": {"kind": question.actor.kind, "role": question.actor.role},
        "tenant": {
            "id": question.tenant_id,
            "kind": question.tenant_kind,
            "refunds_24h_minor": question.tenant_refunds_24h_minor,
        },
        "stage": question.stage,
        "stopped": question.stopped,
        "customer": {
            "status": question.customer_status,
            "refunds_30d_minor": question.refunds_30d_minor,
            "refunds_30d_count": question.refunds_30d_count,
        },
        "conversation": {"actions": question.actions_in_conversation},
        "open_money_actions": question.open_money_actions,
        "evidence": {"age_s": age_s, "max_age_s": _max_age_s(question)},
        "requested_for": _customer(question.payload.customer_id),
        "based_on_version": question.payload.resource_version,
    }


def _max_age_s(question: PolicyQuestion) -> int:
    """The stricter of what the source and the kind of action allow."""
    return min(question.evidence_max_age_s, question.payload.evidence_max_age_s)


def _particulars(question: PolicyQuestion) -> dict[str, Any]:
    """What this kind of action is judged on besides; `target` has an owner where the account holds it."""
    facts = question.payload.facts(question.account, question.now)
    owned = question.account.resource(question.payload.resource) is not None
    owner = {"owner": _customer(question.customer_id)} if owned else {}
    return {**facts, "target": {**owner, **facts["target"]}}


def _customer(customer_id: str) -> dict[str, Any]:
    return {"__entity": {"type": "Customer", "id": customer_id}}
