"""The events of a log as they are documented: the fields that each kind has, beside those that all have.

A reader keeps what it knows and passes over the rest: kinds gain fields, and staff see kinds that customers do not.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.action import ActionKind, ActionState, ApprovalDecision, ApprovalRole
from domain.conversation import EventKind, Owner
from domain.handoff import QueueStatus


class _Event(BaseModel):
    model_config = ConfigDict(extra="allow")

    seq: int = Field(examples=[3])
    event_id: str
    actor: str = Field(
        description="`kind:id`; to customers, whoever of the staff it was is `staff`.", examples=["bot:interlock"]
    )
    at: datetime


class CustomerMessage(_Event):
    """What the customer wrote."""

    kind: Literal[EventKind.CUSTOMER_MESSAGE]
    text: str


class BotReply(_Event):
    """What the assistant answered, and what each sentence rests on."""

    kind: Literal[EventKind.BOT_REPLY]
    text: str
    citations: list[str]
    automated: bool
    reviewed: bool = Field(default=False, description="A person of the staff has looked at it before it was sent.")
    reviewed_by: str | None = Field(default=None, description="To staff, as are `draft_id` and `edited`: who.")
    draft_id: str | None = None
    edited: bool | None = Field(default=None, description="Whether they have changed the words.")


class StaffReply(_Event):
    """What a person answered."""

    kind: Literal[EventKind.STAFF_REPLY]
    text: str


class Notice(_Event):
    """What the customer is told about the conversation itself."""

    kind: Literal[EventKind.NOTICE]
    notice: str
    text: str
    opens_at: datetime | None = None  # of `out_of_hours`: when people are back


class ProposalMade(_Event):
    """An action that waits for consent to exactly `payload_digest`."""

    kind: Literal[EventKind.PROPOSAL]
    operation_id: str
    action_kind: ActionKind
    summary: str
    payload_digest: str


class ApprovalGiven(_Event):
    """Somebody's decision about an action."""

    kind: Literal[EventKind.APPROVAL]
    operation_id: str
    role: ApprovalRole
    decision: ApprovalDecision


class ActionMoved(_Event):
    """How an action stands from here on, in the ledger's words."""

    kind: Literal[EventKind.ACTION_STATE]
    operation_id: str
    state: ActionState
    text: str


class OwnerChanged(_Event):
    """Who has the conversation from here on."""

    kind: Literal[EventKind.OWNER_CHANGED]
    owner: Owner
    owner_epoch: int


class HandoffMoved(_Event):
    """How the handoff stands."""

    kind: Literal[EventKind.HANDOFF]
    handoff_id: str
    queue_status: QueueStatus


class BehindTheScenes(_Event):
    """What staff see behind an event: it has the seq of that event, and stands before it."""

    kind: Literal[EventKind.EVIDENCE, EventKind.DRAFT, EventKind.VERDICT, EventKind.UNDERSTANDING, EventKind.SUMMARY]


AnyEvent = Annotated[
    CustomerMessage
    | BotReply
    | StaffReply
    | Notice
    | ProposalMade
    | ApprovalGiven
    | ActionMoved
    | OwnerChanged
    | HandoffMoved
    | BehindTheScenes,
    Field(discriminator="kind"),
]


class EventPage(BaseModel):
    """Events in order, and the version of the conversation; where the last seq is less than it, there are more."""

    events: list[AnyEvent]
    version: int = Field(examples=[3])
