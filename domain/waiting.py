"""What waits for a person, as it is sorted and filtered: a handoff, a case, a draft or an approval.

Plain tuples with names, since thousands of them are made at a look at the queue.
"""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from domain.base import Noun
from domain.desk import Urgency
from domain.handoff import QueueStatus


class WaitingKind(StrEnum):
    """What sort of thing waits."""

    HANDOFF = "handoff"
    CASE = "case"
    DRAFT = "draft"
    APPROVAL = "approval"


class DueKind(StrEnum):
    """Which target is to be met next."""

    FIRST_REPLY = "first_reply"
    NEXT_REPLY = "next_reply"
    RESOLUTION = "resolution"


class Due(Noun):
    """What has to be done until when; `overdue` as of the moment that was asked about."""

    kind: DueKind
    at: datetime
    overdue: bool


class Hold(Noun):
    """Who has claimed it, and until when at most."""

    staff: str
    until: datetime


class Person(Noun):
    """Somebody of the staff, by what they can do. No languages named: any."""

    id: str
    skills: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """One thing that waits. `id` is that of its kind: a handoff's, a case's, a draft's, an operation's."""

    kind: WaitingKind
    id: str
    conversation_id: str | None
    operation_id: str | None
    reason: str
    urgency: Urgency
    urgency_why: str
    status: QueueStatus
    opened_at: datetime
    goal: str | None = None
    skill: str | None = None
    taken_by: str | None = None  # who took the handoff over, or answers for the case
    first_reply_at: datetime | None = None
    unanswered_at: datetime | None = None  # the oldest message of the customer that nobody has answered
    expires_at: datetime | None = None  # of an approval
    claim: Hold | None = None
    language: str | None = None
    channel: str | None = None
    customer_id: str | None = None
    owner: str | None = None
    holder: str | None = None
    assigned_to: str | None = None
    snoozed_until: datetime | None = None

    @property
    def assignee(self) -> str | None:
        """Whose it is: who has it in hand, else whom it was assigned to."""
        return self.taken_by or self.assigned_to

    def belongs_to(self, staff_id: str) -> bool:
        """Whether it is in the hands of `staff_id`, or assigned to them."""
        return staff_id in (self.taken_by, self.holder, self.assigned_to)


Place = tuple[int, bool, float, float, str]
"""Where something stands in the order; the same for the same thing while nothing about it changes."""


class Placed(NamedTuple):
    """Something that waits, with what policy says of it: its next target, and where it stands in the order."""

    waiting: Waiting
    target: tuple[datetime, DueKind] | None  # None where the desk never opens
    place: Place

    def due(self, now: datetime) -> Due | None:
        """Return the target as of `now`."""
        if self.target is None:
            return None
        at, kind = self.target
        return Due(kind=kind, at=at, overdue=now >= at)
