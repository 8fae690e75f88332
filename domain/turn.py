"""What a turn reads and how its effects can end: named outcomes, recorded in histories.

A turn begins with an epoch and a seq through which it answers; every effect is fenced by both (design §3, §4).
"""

from datetime import datetime
from enum import StrEnum

from domain.action import Action
from domain.base import Noun
from domain.conversation import Owner
from domain.summary import Said, Summary, TurnNote
from domain.tenant import TenantStanding
from domain.understanding import TurnContext


class TurnRow(Noun):
    """What one read of the log and the row tells an activity; it holds text and never leaves the activity."""

    tenant_id: str
    tenant: TenantStanding
    conversation_id: str
    customer_id: str | None  # None: an anonymous visitor
    language: str
    owner: Owner
    owner_epoch: int
    version: int
    answered_seq: int
    consumed_seq: int
    customer_seq: int
    texts: tuple[str, ...]
    asked_at: datetime | None = None  # when the last of them was taken
    context: TurnContext
    summary: Summary = Summary()  # the last that was kept
    notes: tuple[TurnNote, ...] = ()  # of the turns since, oldest first
    recent: tuple[Said, ...] = ()  # the latest things said before this turn, oldest first
    actions: tuple[Action, ...]
    cases: tuple[str, ...]  # operation ids of unknowns that a person has
    confirmed: tuple[str, ...] = ()  # operation ids that the customer has confirmed
    updated_at: datetime
    handoff_reason: str | None = None  # why a person has it
    draft_waits: bool = False  # for a person, and answers all that is unanswered


class TurnFence(Noun):
    """What a turn began with: it may take effect only while all of this still holds."""

    tenant_id: str
    conversation_id: str
    owner_epoch: int
    answered_seq: int
    through_seq: int
    step_id: str
    last_round: bool = False  # a newer message no longer drops the reply


class Effect(StrEnum):
    """How an attempted effect of a turn ended."""

    DONE = "done"
    NEWER_MESSAGE = "newer_message"  # dropped: the customer wrote again
    OVERTAKEN = "overtaken"  # somebody has answered that far
    FENCED = "fenced"  # the owner has changed
    IN_FLIGHT = "in_flight"  # a submitted action stands in the way
    HANDED_OFF = "handed_off"
    KEPT = "kept"  # as a draft, for a person to let out


class ReserveResult(StrEnum):
    """How an attempt to reserve ended."""

    RESERVED = "reserved"
    MOVED = "moved"  # no longer awaiting approval
    FENCED = "fenced"
    ASK_AGAIN = "ask_again"  # approvals are missing, void, or asked for anew
    UNCONSIDERED = "unconsidered"  # a customer message has not been dealt with yet
    BUSY = "busy"  # another action is in flight on the resource
    STALE_EVIDENCE = "stale_evidence"  # read again
    UNJUDGED = "unjudged"  # the bundle in force does not open
    REJECTED = "rejected"  # denied, expired, or dispatch is halted


class ClaimResult(StrEnum):
    """How an attempt to claim the right to send ended."""

    CLAIMED = "claimed"
    ALREADY_SENT = "already_sent"
    NOT_SENT = "not_sent"  # and never will be: rejected
    MOVED = "moved"
    REFUSED = "refused"  # a re-send that the fence or the contract does not allow


class ActionProgress(Noun):
    """What an action's workflow and a conversation's card may know of an action: labels and times, no text."""

    operation_id: str
    kind: str
    state: str
    cause: str
    owner_epoch: int
    missing: tuple[str, ...] = ()
    expires_at: datetime
    reserved_at: datetime | None = None
    sent_at: datetime | None = None
    last_sent_at: datetime | None = None
    send_count: int = 0
    created_at: datetime
    person_has_it: bool = False
    overtaken: bool = False  # what consent was asked for has changed: to be judged, and asked about, again
    remind_at: datetime | None = None  # when the staff is to be reminded of it next
    refresh: tuple[str, ...] = ()  # orders whose tracking is too old to carry it out, or was too old to propose it
