"""What policy says, and on what it was asked: design §6 in types.

A verdict is recorded with the facts it was judged on, so that it can be judged again.
"""

from datetime import datetime
from enum import StrEnum

from domain.account import Account
from domain.action import ApprovalRole, Payload
from domain.base import Noun


class VerdictKind(StrEnum):
    """permit: may run now; ask: would run with more approvals; forbid: never."""

    PERMIT = "permit"
    ASK = "ask"
    FORBID = "forbid"


class Verdict(Noun):
    """The engine's answer. `required` is the smallest set of approvals, in all, under which it would permit."""

    kind: VerdictKind
    rule_ids: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()
    missing: tuple[ApprovalRole, ...] = ()
    policy_digest: str


class PolicyQuestion(Noun):
    """May the bot, for this customer, do `payload` now? Every fact policy may look at; `now` included."""

    tenant_id: str
    tenant_kind: str
    customer_id: str
    customer_status: str
    payload: Payload
    account: Account
    evidence_observed_at: datetime
    evidence_max_age_s: int
    now: datetime
    granted: tuple[ApprovalRole, ...] = ()
    stage: str = "approval_required"
    refunds_30d_minor: int = 0
    refunds_30d_count: int = 0
