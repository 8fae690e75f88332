"""The shape in which a model says what a customer seems to want: `policy.turn.merging` holds it to the text.

It holds the customer's words, and never leaves the activity.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from domain.base import Noun
from domain.understanding import Intent, RiskMark


class ThingKind(StrEnum):
    """What a model may say that some words of the customer name: what is taken as it was written, and not reckoned."""

    ORDER = "order"
    SUBSCRIPTION = "subscription"
    PAYMENT = "payment"
    ID = "id"
    PLAN = "plan"
    ADDRESS = "address"


class Certainty(StrEnum):
    """How sure a model says it is."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"


class NamedThing(Noun):
    """What the customer has named, in the very words of the message."""

    kind: ThingKind
    words: Annotated[str, Field(min_length=1, max_length=200)]


class ModelReading(Noun):
    """What all unanswered messages of a turn seem to come to, in the order of saying."""

    intents: Annotated[tuple[Intent, ...], Field(min_length=1, max_length=5)]
    names: Annotated[tuple[NamedThing, ...], Field(max_length=12)]
    asks_for_person: bool
    corrects_earlier: bool
    seeks_information: bool
    urgent: bool
    risks: Annotated[tuple[RiskMark, ...], Field(max_length=6)]
    instructs_machine: bool
    certainty: Certainty
