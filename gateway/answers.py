"""What the routes answer, as design §8 says it; a test holds every answer against the model declared for it.

Models of what is read; what is sent stands in `bodies`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.action import ActionKind, ActionState, ApprovalDecision, ApprovalRole, Cause
from domain.audit import AuditRow
from domain.chain import Head
from domain.conversation import Owner, Phase
from domain.handoff import QueueStatus
from store.approval_pace import Pace
from store.approval_queue import ApprovalItem
from store.conversations import Found
from store.policies import Publication


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
    repair: str | None = Field(default=None, description="For staff: how it is undone, or what repairs it.")
    history: list[HistoryEntry]


class ActionWithdrawn(Answer):
    """How an action stands that was called off; one that was rejected before stays as it was."""

    operation_id: str
    state: ActionState
    cause: Cause


class ApprovalRecorded(Answer):
    """What was decided, and how the action stands now; repeated, the first decision."""

    operation_id: str
    role: ApprovalRole
    decision: ApprovalDecision
    state: ActionState


class ActionProposed(Answer):
    """What you proposed, as policy has judged it; repeated, the first answer."""

    operation_id: str
    state: ActionState
    required_approvals: list[ApprovalRole] = Field(description="Whose consent it waits for.")
    payload_digest: str = Field(description="What an approval has to name.")
    rules: list[str] = Field(
        description="The rules of policy that decided.", examples=[["refund-small-with-confirmation"]]
    )


class SwitchesStand(Answer):
    """What is stopped: `everything`, or the kinds of action named."""

    everything: bool
    kinds: list[ActionKind]


class BundleShown(Answer):
    """A published bundle without its files. A layer has its tenant and its base."""

    digest: str
    bundle_id: str
    version: str
    manifest: dict[str, Any]
    tenant_id: str | None
    base_digest: str | None
    published_at: datetime


class PolicyStands(Answer):
    """The bundle in force, by its digest; every publication and every bundle, the newest first."""

    in_force: str
    publications: list[Publication]
    bundles: list[BundleShown]


class PolicyPublished(Answer):
    """A publication, and what the examination found: each a sentence for people."""

    publication: Publication
    cases: int = Field(description="How many cases came out as they say: all of them.")
    conflicts: list[str] = Field(description="Rules that pull in opposite directions, and that the base does not have.")
    unreached: list[str] = Field(description="Permits that no request tried gets through.")
    unasked: list[str] = Field(description="Permits of its own that let something through which nobody has approved.")


class ApprovalTaken(Answer):
    """Who has an approval, and until when at most: nobody else of the staff decides it meanwhile."""

    operation_id: str
    staff: str
    until: datetime


class ApprovalFree(Answer):
    """You do not have this approval any more."""

    operation_id: str


class BatchDecided(Answer):
    """One item of a batch, decided."""

    outcome: Literal["decided"] = "decided"
    operation_id: str
    role: ApprovalRole
    decision: ApprovalDecision
    state: ActionState


class BatchRefused(Answer):
    """One item of a batch that was not decided, with the problem that it would have been answered with on its own."""

    outcome: Literal["refused"] = "refused"
    operation_id: str
    problem: str = Field(description="The slug of the problem.", examples=["approval-stale"])
    detail: str
    reason: str | None = None


class BatchAnswered(Answer):
    """What has become of each item of a batch, in the order in which they came."""

    items: list[Annotated[BatchDecided | BatchRefused, Field(discriminator="outcome")]]


class Approvals(Answer):
    """What waits for consent: first what nobody has decided in time, then the soonest to expire. `pace` is your own."""

    items: list[ApprovalItem]
    pace: Pace


class SearchPage(Answer):
    """Conversations, the latest changed first. `next_cursor` is null on the last page."""

    items: list[Found]
    next_cursor: str | None


class AuditShown(Answer):
    """Rows of the audit as they were hashed, in order, and the last row of the chain, if there is one."""

    items: list[AuditRow]
    head: Head | None


class Alive(Answer):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Readiness(Answer):
    """Whether requests can be served, and which dependency says no."""

    ready: bool
    dependencies: dict[str, Literal["ok", "failing"]] = Field(
        examples=[{"postgres": "ok", "temporal": "ok", "keys": "ok"}]
    )
