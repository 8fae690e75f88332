"""What policy says, and on what it was asked: design §6 in types.

A verdict is recorded with the facts it was judged on, so that it can be judged again.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

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


class Judgement(Noun):
    """A verdict with what it was judged on, so that it can be judged again: the request, and the approvals of then."""

    verdict: Verdict
    request: dict[str, Any]
    granted: tuple[ApprovalRole, ...] = ()


class Actor(Noun):
    """Who acts: the bot, or a person of the staff in a role."""

    kind: Literal["bot", "staff"] = "bot"
    role: str = "bot"
    id: str = "interlock"


BOT = Actor()


class PolicyQuestion(Noun):
    """May `actor`, for this customer, do `payload` now? Every fact policy may look at; `now` included.

    Amounts of the past count what was or may have been moved, in the payload's currency; a window's length is in its
    name.
    """

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
    actor: Actor = BOT
    stage: str = "approval_required"
    refunds_30d_minor: int = 0
    refunds_30d_count: int = 0
    tenant_refunds_24h_minor: int = 0
    actions_in_conversation: int = 0  # besides this one
    open_money_actions: int = 0  # on the same order or payment, besides this one
    stopped: bool = False  # a kill switch holds for the tenant or for this kind
