"""What is told of one message outside a conversation: the line that `interlock understand` writes.

A view of an understanding, with names that do not change; nothing is decided by it.
"""

from domain.base import Noun
from domain.understanding import Entity, Intent, TurnContext
from language.routing import LocalUnderstander

UNDERSTOOD = 0.5  # below it the bot does not take a turn to be understood, and a person gets it


class Report(Noun):
    """One message, understood. `out_of_scope`: it would be handed off as nothing that the bot deals with."""

    language: str
    intents: tuple[Intent, ...]
    entities: tuple[Entity, ...] = ()
    asks_for_person: bool
    suspicious: bool = False
    out_of_scope: bool
    route: str


def report(text: str, understander: LocalUnderstander) -> Report:
    """Return what is understood of `text` alone; a question after an action is told as what that action is about."""
    understood = understander.understand([text], TurnContext())
    asks = understood.asks_for_person or understood.intent is Intent.ASKS_FOR_PERSON
    outside = understood.intent is Intent.OUT_OF_SCOPE or understood.confidence < UNDERSTOOD
    intents = (
        understander.subject(text) if intent is Intent.ACTION_STATUS else intent for intent in understood.every_intent
    )
    return Report(
        language=understood.language,
        intents=tuple(dict.fromkeys(intents)),
        entities=understood.entities,
        asks_for_person=asks,
        suspicious=understood.suspicious,
        out_of_scope=outside and not asks,
        route=understood.route,
    )
