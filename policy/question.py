"""A policy question in Cedar's form: one request whose context holds every fact that a rule may look at.

Pure: what the account does not hold has no owner, exactly as if it belonged to somebody else.
"""

import math
from collections.abc import Collection
from typing import Any, assert_never

from domain.account import Order, Payment, Subscription
from domain.action import ApprovalRole, CancelSubscriptionPayload, RefundPayload
from domain.verdict import PolicyQuestion
from policy.duplicates import charged_twice

TYPES = {"order": "Order", "payment": "Payment", "subscription": "Subscription"}


def request_of(question: PolicyQuestion) -> dict[str, Any]:
    """Return the Cedar request for `question`, without approvals. Raises TypeError for times without a zone."""
    kind, _, ident = question.payload.resource.partition(":")
    return {
        "principal": {"type": "Customer", "id": question.customer_id},
        "action": {"type": "Action", "id": question.payload.kind.value},
        "resource": {"type": TYPES[kind], "id": ident},
        "context": {**_circumstances(question), **_particulars(question)},
    }


def with_approvals(request: dict[str, Any], approvals: Collection[ApprovalRole]) -> dict[str, Any]:
    """Return `request` as if exactly `approvals` had been granted."""
    return {**request, "context": {**request["context"], "approvals": sorted(role.value for role in approvals)}}


def _circumstances(question: PolicyQuestion) -> dict[str, Any]:
    """What every kind of action is judged on."""
    age_s = math.ceil((question.now - question.evidence_observed_at).total_seconds())
    return {
        "kind": question.payload.kind.value,
        "tenant": {"id": question.tenant_id, "kind": question.tenant_kind},
        "stage": question.stage,
        "customer": {
            "status": question.customer_status,
            "refunds_30d_minor": question.refunds_30d_minor,
            "refunds_30d_count": question.refunds_30d_count,
        },
        "evidence": {"age_s": age_s, "max_age_s": question.evidence_max_age_s},
        "requested_for": _customer(question.payload.customer_id),
        "based_on_version": question.payload.resource_version,
    }


def _particulars(question: PolicyQuestion) -> dict[str, Any]:
    """What this kind of action is judged on besides."""
    found = question.account.resource(question.payload.resource)
    owner = {"owner": _customer(question.customer_id)} if found else {}
    match question.payload:
        case RefundPayload() as payload:
            twice = charged_twice(question.account, payload.resource, payload.amount_minor)
            return {
                "amount_minor": payload.amount_minor,
                "currency": payload.currency,
                "target": {**owner, **_refundable(found), "charged_twice": twice},
            }
        case CancelSubscriptionPayload():
            return {"target": {**owner, **_cancellable(found)}}
        case _ as never:
            assert_never(never)


def _refundable(found: Order | Payment | Subscription | None) -> dict[str, Any]:
    """The money of an order or a payment; nothing at all where there is none."""
    if found is None or isinstance(found, Subscription):
        amounts = dict.fromkeys(("captured_minor", "refunded_minor", "refundable_minor", "version"), 0)
        return {"status": "", "currency": "", **amounts}
    return {
        "status": found.status,
        "currency": found.currency,
        "captured_minor": found.captured_minor if isinstance(found, Order) else found.amount_minor,
        "refunded_minor": found.refunded_minor,
        "refundable_minor": found.refundable_minor,
        "version": found.version,
    }


def _cancellable(found: Order | Payment | Subscription | None) -> dict[str, Any]:
    if not isinstance(found, Subscription):
        return {"status": "", "currency": "", "price_minor": 0, "version": 0}
    return {
        "status": found.status,
        "currency": found.currency,
        "price_minor": found.price_minor,
        "version": found.version,
    }


def _customer(customer_id: str) -> dict[str, Any]:
    return {"__entity": {"type": "Customer", "id": customer_id}}
