"""Responsibility passing to a person: why, how it stands in the queue, and the bundle that tells all.

The reasons of an asked-for person and of a failed classification stay apart (design §7).
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.base import Noun


class HandoffReason(StrEnum):
    """Why the bot stopped, or who stopped it."""

    CUSTOMER_REQUESTED = "customer_requested"  # through the endpoint or the visible control
    HANDOFF_REQUESTED = "handoff_requested"  # understood from the customer's words
    OUT_OF_SCOPE = "out_of_scope"
    UNDERSTANDING_FAILED = "understanding_failed"
    SUSPICIOUS = "suspicious"
    POLICY_FORBIDS = "policy_forbids"
    ACCOUNT_UNREADABLE = "account_unreadable"
    POLICY_UNREADABLE = "policy_unreadable"  # the bundle in force does not open
    HIGH_RISK = "high_risk"  # what was said needs a person's judgement: somebody hurt, a lawyer, an account misused
    BUDGET_SPENT = "budget_spent"  # the models have taken what they may take of this conversation
    GENERATION_FAILED = "handoff_generation_failed"
    CHECKS_FAILED = "handoff_checks_failed"
    UNKNOWN_OUTCOME = "unknown_outcome"
    TOO_MANY_MESSAGES = "too_many_messages"  # more than one turn can weigh: some would go unread
    STAFF_TAKEOVER = "staff_takeover"
    DISPATCH_STOPPED = "dispatch_stopped"
    DRAFT_REJECTED = "draft_rejected"  # by whoever has it from then on


class QueueStatus(StrEnum):
    """Where a handoff stands."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"


class HandoffBundle(Noun):
    """All that the person who takes over needs, so that nothing has to be asked twice (design §8)."""

    handoff_id: str
    conversation_id: str
    goal: str
    open_questions: tuple[str, ...]
    evidence: tuple[dict[str, Any], ...]
    confirmed_actions: tuple[dict[str, Any], ...]
    pending_actions: tuple[dict[str, Any], ...]
    reason: str
    note: str | None = None  # what the customer gave as the reason, where they asked for a person
    owner: str
    next_step: str
    transcript_url: str
    queue_status: QueueStatus
    opened_at: datetime
