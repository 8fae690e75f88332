"""A conversation as staff see it: what its customer sees, and who has it, what waits, what is around it.

Shapes, and the one function that fills them.
"""

from datetime import datetime

from domain.conversation import ActionGlimpse, Owner, Phase
from domain.desk import Urgency
from domain.handoff import QueueStatus
from domain.opening import calendar_of
from domain.principal import PrincipalKind
from domain.teamwork import AnswerRating, CustomerPresence, HandoffRating, Tag
from domain.waiting import Due, Hold
from gateway.answers import Answer
from policy.desk.due import due_of
from store.drafts import DraftItem
from store.staff_view import SeenByStaff
from workflows.messages import conversation_workflow_id


class Whose(Answer):
    """The customer or visitor whose conversation it is."""

    kind: PrincipalKind
    id: str


class OpenHandoff(Answer):
    """The handoff that is open: why, since when, and who is about to take it."""

    id: str
    queue_status: QueueStatus
    reason: str
    opened_at: datetime
    urgency_why: str
    claim: Hold | None


class StaffConversation(Answer):
    """What staff see. `urgency`, `skill` and `due` are those of the open handoff; `draft` waits to be let out."""

    id: str
    owner: Owner
    owner_epoch: int
    version: int
    phase: Phase
    actions: tuple[ActionGlimpse, ...]
    handoff: OpenHandoff | None
    holder: str | None
    language: str
    channel: str
    principal: Whose
    created_at: datetime
    updated_at: datetime
    workflow_id: str
    assignee: str | None
    snoozed_until: datetime | None
    tags: tuple[Tag, ...]
    urgency: Urgency | None
    skill: str | None
    due: Due | None
    customer: CustomerPresence
    customer_seen_seq: int
    ratings: tuple[AnswerRating, ...]
    handoff_rating: HandoffRating | None
    draft: DraftItem | None


def shown_to_staff(seen: SeenByStaff, now: datetime) -> StaffConversation:
    """Return what was read as staff see it, with what is due as of `now`."""
    document, waiting = seen.desk.document, seen.handoff
    return StaffConversation(
        **seen.view.model_dump(exclude={"handoff", "actions"}),
        actions=seen.view.actions,
        handoff=_handoff(seen),
        holder=seen.holder,
        language=seen.language,
        channel=seen.channel,
        principal=Whose(kind=seen.principal.kind, id=seen.principal.id),
        created_at=seen.created_at,
        updated_at=seen.updated_at,
        workflow_id=conversation_workflow_id(seen.view.id),
        urgency=waiting.urgency if waiting else None,
        skill=waiting.skill if waiting else None,
        due=due_of(waiting, document, calendar_of(document), now) if waiting else None,
        assignee=seen.glance.assignee,
        snoozed_until=seen.glance.snoozed_until,
        tags=seen.glance.tags,
        customer=seen.glance.customer,
        customer_seen_seq=seen.glance.customer.seen_seq,
        ratings=seen.glance.ratings,
        handoff_rating=seen.glance.handoff_rating,
        draft=seen.draft,
    )


def _handoff(seen: SeenByStaff) -> OpenHandoff | None:
    waiting = seen.handoff
    if waiting is None:
        return None
    return OpenHandoff(
        id=waiting.id,
        queue_status=waiting.status,
        reason=waiting.reason,
        opened_at=waiting.opened_at,
        urgency_why=waiting.urgency_why,
        claim=waiting.claim,
    )
