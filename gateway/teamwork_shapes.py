"""What the routes beside the log take and answer: tags, notes, assignment, sleep, presence, views, ratings.

A tag is one word in any alphabet; whatever is written is bounded.
"""

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from domain.refusal import NotFound
from domain.teamwork import AnswerRating, Note, PresenceState, SavedView, Tag, TagCount
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.shapes import ClientId, Remark, Text, Version, storable

TAG_CHARS_MAX = 48
VIEW_NAME_CHARS_MAX = 80
FILTERS_MAX = 20

_TAG = re.compile(r"[^\W_][\w-]*\Z")


def as_tag(given: str) -> str:
    """Return a tag as it is kept: small letters, composed. Raises NotFound for what can be no tag."""
    tag = unicodedata.normalize("NFC", given).lower()
    if len(tag) > TAG_CHARS_MAX or not _TAG.match(tag):
        raise NotFound(f"A tag is one word of at most {TAG_CHARS_MAX} letters, digits, - and _.")
    return tag


TagName = Annotated[str, AfterValidator(as_tag)]
"""A tag in a path: malformed, it is a tag of nothing."""

Score = Annotated[int, Field(strict=True, ge=1, le=5)]
"""1, the worst, to 5."""

ViewName = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=VIEW_NAME_CHARS_MAX),
    AfterValidator(storable),
]
FilterName = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z_]{0,31}$")]
FilterValue = Annotated[str, Field(strict=True, max_length=200), AfterValidator(storable)]
Filters = Annotated[dict[FilterName, FilterValue | Annotated[bool, Field(strict=True)]], Field(max_length=FILTERS_MAX)]


class WriteNote(Body):
    """A note for the staff. The same id with the same words is a repeat."""

    note_id: ClientId = Field(examples=["n-1"])
    text: Text = Field(examples=["Called twice last week."])


class Assign(Body):
    """Whose the conversation is to be among the staff; null: nobody's."""

    staff_id: ClientId | None = Field(examples=["ann"])


class Snooze(Body):
    """Until when it is kept out of the queue, a time with its zone; null: it is woken."""

    until: AwareDatetime | None = Field(examples=["2026-12-01T09:00:00Z"])


class Attend(Body):
    """What you do at the conversation; it holds for 30 seconds."""

    state: PresenceState | Literal["gone"] = Field(examples=["typing"])


class See(Body):
    """How far you have seen the log."""

    seq: Version = Field(examples=[7])


class SaveView(Body):
    """Filters of the queue, as its query takes them, under a name."""

    name: ViewName = Field(examples=["Refunds in German"])
    filters: Filters = Field(examples=[{"language": "de", "reason": "handoff_requested"}])
    shared: Annotated[bool, Field(strict=True, description="With all of the staff.")] = False


class RateAnswer(Body):
    """What you think of one answer."""

    seq: Version = Field(description="Of the answer.", examples=[4])
    score: Score
    comment: Remark | None = None


class RateHandoff(Body):
    """What you think of a handoff that you have received."""

    score: Score = Field(description="How well it told you what you needed.")
    right_to_escalate: Annotated[bool, Field(strict=True, description="Whether it was right to call a person.")]
    note: Remark | None = None


class TagsStand(Answer):
    """The tags that the conversation has, in the order in which they came."""

    items: list[Tag]


class TagsInUse(Answer):
    """The tags in use, the most frequent first."""

    items: list[TagCount]


class Notes(Answer):
    """The notes of a conversation, in order."""

    items: list[Note]


class NoteGone(Answer):
    """There is no note of this id any more."""

    note_id: str


class Assigned(Answer):
    """Whose the conversation is; null: nobody's."""

    staff_id: str | None


class Asleep(Answer):
    """Until when it is kept out of the queue; a new message of the customer wakes it before that."""

    until: datetime | None


class Seen(Answer):
    """How far the customer has seen the log: never less than before."""

    seq: int


class Views(Answer):
    """Your views and those that others share, by name."""

    items: list[SavedView]


class ViewGone(Answer):
    """There is no view of this id any more."""

    id: str


class Ratings(Answer):
    """What was rated, in the order of the answers."""

    items: list[AnswerRating]
