"""What the routes answer, as design §8 says it; a test holds every answer against the model declared for it.

Models of what is read; what is sent stands in `bodies`.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.action import ActionKind, ActionState, ApprovalDecision, ApprovalRole, Cause
from domain.conversation import Owner, Phase
from domain.handoff import QueueStatus
from store.conversations import Found
from store.queue import ApprovalItem, QueueItem


class Answer(BaseModel):
    """A frozen answer."""

    model_config = ConfigDict(frozen=True)


class ConversationOpened(Answer):
    """A conversation as it stands; `version` is the seq of its last event."""

    id: str = Field(examples=["0b8f7c1e-6d0d-4c58-9d0c-3f0f3a1c2b77"])
    owner: Owner
    owner_epoch: int = Field(description="Rises by one at every change of owner.", examples=[1])
    version: int = Field(examples=[0])
    phase: Phase


class MessageAccepted(Answer):
    """Where a message stands in the log. `duplicate`: it was there already, and nothing was added."""

    seq: int = Field(examples=[1])
    version: int = Field(examples=[1])
    duplicate: bool = Field(examples=[False])


class HandoffRequested(Answer):
    """A person has the conversation, or will; repeated, the first answer."""

    handoff_id: str
    owner: Owner
    owner_epoch: int
    queue_status: QueueStatus


class TakenOver(Answer):
    """The conversation is yours. What is `in_flight` may already have happened; its outcome appears in the log."""

    owner: Owner
    owner_epoch: int
    in_flight: list[str] = Field(description="Operation ids of actions that may have reached the business system.")
    handoff_id: str


class Released(Answer):
    """The assistant has the conversation again."""

    owner: Owner
    owner_epoch: int


class HistoryEntry(Answer):
    """One move of an action."""

    from_state: ActionState | None
    to_state: ActionState
    cause: Cause
    actor: str
    at: datetime


class ActionAnswer(Answer):
    """One action of the ledger with its whole history. `external_id` is there once the business system gave one."""

    operation_id: str
    kind: ActionKind
    state: ActionState
    payload: dict[str, Any] = Field(
        examples=[{"kind": "refund", "order_id": "A-10482", "amount_minor": 2590, "currency": "EUR"}]
    )
    payload_digest: str = Field(description="What an approval has to name.")
    required_approvals: list[ApprovalRole]
    external_id: str | None = None
    history: list[HistoryEntry]


class ApprovalRecorded(Answer):
    """What was decided, and how the action stands now; repeated, the first decision."""

    operation_id: str
    role: ApprovalRole
    decision: ApprovalDecision
    state: ActionState


class Queue(Answer):
    """What waits for a person, most urgent first."""

    items: list[QueueItem]


class Approvals(Answer):
    """What waits for consent, the soonest to expire first."""

    items: list[ApprovalItem]


class SearchPage(Answer):
    """Conversations, the latest changed first. `next_cursor` is null on the last page."""

    items: list[Found]
    next_cursor: str | None


class Alive(Answer):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Readiness(Answer):
    """Whether requests can be served, and which dependency says no."""

    ready: bool
    dependencies: dict[str, Literal["ok", "failing"]] = Field(
        examples=[{"postgres": "ok", "temporal": "ok", "keys": "ok"}]
    )
