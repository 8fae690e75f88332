"""The shape in which a model writes a reply: segments that each cite by alias, or what it wants to read first.

It holds text and never leaves the activity; an alias is handed out with the prompt, so that no id can be made up.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from domain.base import Noun
from domain.reply import SegmentKind

SEGMENTS_MAX = 10
SEGMENT_CHARS_MAX = 1_200
WISHES_MAX = 2  # in one answer
ABOUT_CHARS_MAX = 200


class Read(StrEnum):
    """What a model may ask to read before it writes."""

    READ_ORDER = "read_order"  # one order of the customer's own, by its id
    SEARCH_ARTICLES = "search_articles"  # the published articles, by words


class Wish(Noun):
    """One read that is asked for."""

    read: Read
    about: Annotated[str, Field(min_length=1, max_length=ABOUT_CHARS_MAX)]


class ModelSegment(Noun):
    """One stretch of a reply. `cites` are aliases."""

    kind: SegmentKind
    text: Annotated[str, Field(max_length=SEGMENT_CHARS_MAX)]
    cites: Annotated[tuple[str, ...], Field(max_length=4)]


class ModelDraft(Noun):
    """A reply, or nothing but the reads that it needs first."""

    segments: Annotated[tuple[ModelSegment, ...], Field(max_length=SEGMENTS_MAX)] = ()
    reads: Annotated[tuple[Wish, ...], Field(max_length=WISHES_MAX)] = ()
