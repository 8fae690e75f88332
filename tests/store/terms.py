"""The terms on which the laws are tried: a shop's contract, its answers, one rule of policy, and what time it is."""

from datetime import UTC, datetime, timedelta

from domain.account import Account, Order
from domain.action import ApprovalRole
from domain.connector import ConnectorContract, OutcomeKind, WriteOutcome
from domain.verdict import Judgement, PolicyQuestion, Verdict, VerdictKind

SHOP = ConnectorContract(
    name="shop", key_window_s=86_400, refusals_kept=True, lookup_lag_s=2, late_commit_bound_s=30, evidence_max_age_s=60
)
FORGETFUL = SHOP.model_copy(update={"refusals_kept": False})
UNBOUNDED = SHOP.model_copy(update={"late_commit_bound_s": None})
BUNDLE = "test-bundle"
CLAIM_TTL_S, STAFF_TTL_S, SENDS_MAX = 20, 86_400, 3
SUCCESS = WriteOutcome(kind=OutcomeKind.SUCCESS, code="created", external_id="re_1")
REFUSAL = WriteOutcome(kind=OutcomeKind.REFUSAL, code="already_refunded")
LOST = WriteOutcome(kind=OutcomeKind.UNKNOWN, code="timeout")
SMALL, LARGE, ABSURD = 2_000, 20_000, 90_000  # the customer's consent; a manager's too; never


def now() -> datetime:
    return datetime.now(UTC)


def later(seconds: float) -> datetime:
    return now() + timedelta(seconds=seconds)


def rule(digest: str, question: PolicyQuestion) -> Judgement:
    """Up to 50.00 with the customer's consent, up to 500.00 with a manager's too, never more, and only while active.

    Nothing is done for somebody whose role was taken away, or while it is stopped.
    """
    amount = question.payload.amount_minor or 0
    required = (ApprovalRole.CUSTOMER,) if amount <= 5_000 else (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)
    missing = tuple(r for r in required if r not in question.granted)
    kind = VerdictKind.ASK if missing else VerdictKind.PERMIT
    if amount > 50_000 or question.customer_status != "active" or question.actor.role == "revoked" or question.stopped:
        kind = VerdictKind.FORBID
    verdict = Verdict(kind=kind, rule_ids=("rule",), required=required, missing=missing, policy_digest=digest)
    return Judgement(verdict=verdict, request={}, granted=question.granted)


def order(order_id: str = "A-1", version: int = 1, refunded: int = 0) -> Account:
    """The customer's account, with this order first: accounts are read whole."""
    others = [_order(other) for other in ("A-1", "A-2") if other != order_id]
    return Account(orders=(_order(order_id, version, refunded), *others))


def _order(order_id: str, version: int = 1, refunded: int = 0) -> Order:
    return Order(
        id=order_id, status="delivered", currency="EUR", captured_minor=90_000, refunded_minor=refunded, version=version
    )
