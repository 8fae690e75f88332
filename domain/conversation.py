"""A conversation: one ordered log of events with one owner, and what may be seen of it.

The words are those of design §1; the row itself lives in the store.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.action import ActionKind, ActionState
from domain.base import Noun


class Owner(StrEnum):
    """Who may speak. Every change of owner raises the epoch by one."""

    BOT = "bot"
    HUMAN = "human"
    CLOSED = "closed"


class Phase(StrEnum):
    """What the conversation is doing right now, for people to see (design §8)."""

    IDLE = "idle"
    UNDERSTANDING = "understanding"
    GATHERING = "gathering"
    DECIDING = "deciding"
    DRAFTING = "drafting"
    AWAITING_CONFIRMATION = "awaiting_confirmation"
    AWAITING_APPROVAL = "awaiting_approval"
    DISPATCHING = "dispatching"
    RECONCILING = "reconciling"
    HANDING_OFF = "handing_off"
    HUMAN_OWNED = "human_owned"
    CLOSED = "closed"


class EventKind(StrEnum):
    """Every kind of fact in a log. The last five are for staff alone."""

    CUSTOMER_MESSAGE = "customer_message"
    BOT_REPLY = "bot_reply"
    STAFF_REPLY = "staff_reply"
    NOTICE = "notice"
    PROPOSAL = "proposal"
    APPROVAL = "approval"
    ACTION_STATE = "action_state"
    OWNER_CHANGED = "owner_changed"
    HANDOFF = "handoff"
    EVIDENCE = "evidence"
    DRAFT = "draft"
    VERDICT = "verdict"
    UNDERSTANDING = "understanding"
    SUMMARY = "summary"

    @property
    def staff_only(self) -> bool:
        """Whether a customer never sees events of this kind."""
        return self in _STAFF_ONLY


_STAFF_ONLY = frozenset(
    {EventKind.EVIDENCE, EventKind.DRAFT, EventKind.VERDICT, EventKind.UNDERSTANDING, EventKind.SUMMARY}
)


class Event(Noun):
    """One durable fact. `body` holds the fields of its kind; `actor` is `kind:id` (`bot:interlock` for the bot)."""

    seq: int
    event_id: str
    kind: EventKind
    actor: str
    at: datetime
    body: dict[str, Any]


class ActionGlimpse(Noun):
    """What a conversation's view tells of one of its actions."""

    operation_id: str
    kind: ActionKind
    state: ActionState


class HandoffGlimpse(Noun):
    """The open handoff of a conversation, as the customer may see it."""

    id: str
    queue_status: str


class ConversationView(Noun):
    """`GET /conversations/{id}`."""

    id: str
    owner: Owner
    owner_epoch: int
    version: int
    phase: Phase
    actions: tuple[ActionGlimpse, ...] = ()
    handoff: HandoffGlimpse | None = None
