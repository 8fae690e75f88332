"""What people do around a conversation: tags, notes, assignment, presence, saved views, ratings; as nouns.

None of it is in the log and none of it moves anything: it is between the people, and what measures are made of.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from domain.base import Noun

PRESENCE_TTL = timedelta(seconds=30)
CUSTOMER_TTL = timedelta(seconds=40)  # longer than two heartbeats of an event stream, which is what renews it
NOTE_FRESH = timedelta(minutes=10)  # so long an author can take a note back; the database says the same
RATING_OPEN = timedelta(hours=1)  # so long a rating can be thought over; the database says the same


class Topic(StrEnum):
    """What has changed about a conversation where nothing new is in its log."""

    TAGS = "tags"
    NOTES = "notes"
    ASSIGNEE = "assignee"
    SNOOZE = "snooze"
    PRESENCE = "presence"
    SEEN = "seen"
    RATING = "rating"
    CLAIM = "claim"  # who is about to take its handoff, or to decide an approval
    REMINDER = "reminder"  # nobody has decided an approval in time


class TagSource(StrEnum):
    """Who put a tag on."""

    BOT = "bot"  # from what a turn understood
    STAFF = "staff"


class Tag(Noun):
    """One tag that a conversation has."""

    tag: str
    source: TagSource
    added_by: str
    added_at: datetime


class TagCount(Noun):
    """A tag in use, and on how many conversations."""

    tag: str
    conversations: int


class Note(Noun):
    """One note of a person, for people. `name` is that of its author."""

    note_id: str
    author: str
    name: str
    text: str
    at: datetime


class PresenceState(StrEnum):
    """What somebody of the staff is doing at a conversation."""

    LOOKING = "looking"
    TYPING = "typing"


class Presence(Noun):
    """Somebody of the staff who is at the conversation, and since when in this state."""

    staff: str
    name: str
    state: PresenceState
    at: datetime


class CustomerPresence(Noun):
    """Whether the customer follows the conversation right now, and how far they have seen it."""

    here: bool
    seen_seq: int


class Present(Noun):
    """Who is at a conversation."""

    items: tuple[Presence, ...]
    customer: CustomerPresence


class SavedView(Noun):
    """Filters of the queue under a name. `shared`: with all of the staff; `mine`: of whoever asks."""

    id: str
    name: str
    filters: dict[str, str | bool]
    shared: bool
    mine: bool


class AnswerRating(Noun):
    """What the customer thinks of one answer, 1 to 5; it can be changed until then."""

    seq: int
    score: int
    comment: str | None
    rated_at: datetime
    changeable_until: datetime


class HandoffRating(Noun):
    """What the person who received a handoff thinks of it, 1 to 5, and whether it was right to call them."""

    handoff_id: str
    score: int
    right_to_escalate: bool
    note: str | None
    rated_by: str
    rated_at: datetime


class Glance(Noun):
    """What staff see of a conversation at a glance, beside the log. `snoozed_until` is None where it is awake."""

    assignee: str | None
    snoozed_until: datetime | None
    tags: tuple[Tag, ...]
    customer: CustomerPresence
    ratings: tuple[AnswerRating, ...]
    handoff_rating: HandoffRating | None
