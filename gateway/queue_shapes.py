"""What the queue takes and answers: its filters, one item of it, and the figures beside.

An item says all that a list shows; what a person needs to act is in the bundle and in the conversation.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.desk import Urgency
from domain.handoff import QueueStatus
from domain.waiting import Due, Hold, WaitingKind
from gateway.answers import Answer
from gateway.shapes import ClientId
from store.queue import PAGE_MAX
from store.queue_details import InFlight

CURSOR_CHARS_MAX = 600


class QueueFilters(BaseModel):
    """Every condition that is given has to hold; what sleeps is left out, or with `snoozed` it alone is there."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    kind: WaitingKind | None = None
    status: Literal[QueueStatus.WAITING, QueueStatus.CLAIMED] | None = None
    reason: ClientId | None = None
    language: ClientId | None = None
    skill: ClientId | None = None
    assignee: ClientId | None = Field(default=None, description="`me`, `none`, or the id of somebody of the staff.")
    tag: ClientId | None = None
    urgency: Urgency | None = None
    snoozed: bool = False
    for_me: Literal["me"] | None = Field(
        default=None, alias="for", description="Between equals in urgency, what fits your skills comes first."
    )
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX)] = PAGE_MAX
    cursor: Annotated[str, Field(max_length=CURSOR_CHARS_MAX)] | None = None

    @property
    def mine_first(self) -> bool:
        """Whether what fits who asks comes first between equals."""
        return self.for_me is not None or self.assignee == "me"


class QueueItem(Answer):
    """One thing that waits for a person. Which ids it has depends on what `item` says that it is."""

    item: WaitingKind
    handoff_id: str | None
    case_id: str | None
    draft_id: str | None
    conversation_id: str | None
    operation_id: str | None = Field(description="Of an approval, or of the action that a case is about.")
    reason: str
    goal: str | None = Field(description="What the customer wants, as a label; of an approval, the kind of action.")
    queue_status: QueueStatus
    assignee: str | None = Field(description="Who has it in hand, else whom it was assigned to.")
    language: str | None
    opened_at: datetime
    waited_s: int
    urgency: Urgency
    urgency_why: str = Field(examples=["reason:high_risk", "mark:urgent", "intent:duplicate_charge"])
    skill: str | None
    fits: bool = Field(description="Whether you have the skill that it takes, and speak its language.")
    tags: tuple[str, ...]
    owner: str | None
    holder: str | None
    in_flight: tuple[InFlight, ...]
    claim: Hold | None = Field(description="Who is about to take it.")
    due: Due | None
    snoozed_until: datetime | None
    position: int | None = Field(description="Of a handoff that nobody has: its place in the line, from 1.")
    estimate_s: int | None = Field(description="How long until it is taken, from what was measured; or null.")
    channel: str | None
    customer_id: str | None
    last_message_at: datetime | None


class Counts(Answer):
    """Over everything that is open and does not sleep, whatever the filters are."""

    waiting: int
    claimed: int
    urgent: int
    overdue: int
    by_language: dict[str, int]
    by_reason: dict[str, int]


class Taken(Answer):
    """What people took in the last hours: `n` handoffs, which had waited `median_wait_s` seconds."""

    done_last_hour: int
    median_wait_s: int | None
    n: int
    window_s: int


class Hours(Answer):
    """Whether the desk is open now, on the clock of `timezone`."""

    open: bool
    opens_at: datetime | None
    closes_at: datetime | None
    timezone: str


class Queue(Answer):
    """What waits for a person, most urgent first. `next_cursor` is null on the last page."""

    items: list[QueueItem]
    next_cursor: str | None
    counts: Counts
    throughput: Taken
    hours: Hours


class Place(Answer):
    """How long the wait may be. `estimate_s` is null where too little was measured, and while nobody is there."""

    queue_status: Literal["none", "waiting", "claimed"]
    position: int | None
    ahead: int | None
    estimate_s: int | None
    estimate_n: int = Field(description="How many handoffs the estimate rests on.")
    open: bool
    opens_at: datetime | None
    timezone: str
    out_of_hours: bool
