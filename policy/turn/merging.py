"""What a turn comes to once a model has read it too: one pure function, in which the model can only propose.

INVARIANT: a model never un-asks for a person, clears a suspicion, a risk or a "no", names what the customer has not
written, makes a request of a question, or turns anything into a consent. Who was heard here to ask how a request stands
is told so first.
"""

from collections.abc import Iterator

from domain.model import Route
from domain.model_reading import Certainty, ModelReading, NamedThing
from domain.understanding import Entity, EntityKind, Intent, Understanding

_CHATTER = frozenset({Intent.AFFIRMATION, Intent.REFUSAL, Intent.CORRECTION, Intent.THANKS_GREETING})
CONFIDENCE_OF = {Certainty.SURE: 0.8, Certainty.LIKELY: 0.65, Certainty.UNSURE: 0.3}  # all below that of a plain yes


def merged(local: Understanding, read: ModelReading, text: str, route: Route) -> Understanding:
    """Return what the turn comes to. `text` is what the customer wrote, all messages of the turn, as the model saw it.

    Where the model is unsure, where the customer said no, and where the text is aimed at a machine, what was understood
    locally stands, with the marks of both.
    """
    marks = _marks_of_both(local, read)
    aimed = local.suspicious or read.instructs_machine
    if aimed or read.certainty is Certainty.UNSURE or Intent.REFUSAL in local.every_intent:
        return local.model_copy(update=marks)
    # What would be answered without a person is not a model's to hear where nothing local has: it could go on for ever.
    intents = tuple(i for i in dict.fromkeys(read.intents) if i not in _CHATTER or i in local.every_intent)
    if not intents:
        return local.model_copy(update=marks)
    if local.intent is Intent.ACTION_STATUS and local.route == Route.RULES:
        intents = tuple(dict.fromkeys((Intent.ACTION_STATUS, *intents)))
    names = tuple(_standing(read.names, text))
    return local.model_copy(
        update=marks
        | {
            "intent": intents[0],
            "intents": intents,
            "mentions": tuple(dict.fromkeys(n.words for n in names)) or local.mentions,
            "entities": _entities(local, names),
            "seeks_information": local.seeks_information or read.seeks_information,
            "confidence": CONFIDENCE_OF[read.certainty],
            "route": route.value,
        }
    )


def _marks_of_both(local: Understanding, read: ModelReading) -> dict[str, object]:
    person = local.intent is Intent.ASKS_FOR_PERSON or Intent.ASKS_FOR_PERSON in read.intents
    return {
        "asks_for_person": local.asks_for_person or read.asks_for_person or person,
        "suspicious": local.suspicious or read.instructs_machine,
        "corrects": local.corrects or read.corrects_earlier,
        "urgent": local.urgent or read.urgent,
        "risks": tuple(dict.fromkeys((*local.risks, *read.risks))),
    }


def _standing(names: tuple[NamedThing, ...], text: str) -> Iterator[NamedThing]:
    """The things whose words stand in the text, letter by letter and not as a part of a longer token."""
    for name in names:
        words = name.words.strip()
        if words and stands_in(words, text):
            yield name.model_copy(update={"words": words})


def stands_in(words: str, text: str) -> bool:
    """Whether `words` stand in `text`, not as a part of a longer id: `A-1` does not stand in `A-10482`."""
    at = text.find(words)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(words) : at + len(words) + 1]
        if not (_joined(before, words[0]) or _joined(words[-1], after)):
            return True
        at = text.find(words, at + 1)
    return False


def _joined(one: str, other: str) -> bool:
    """Whether two neighbouring characters are of one id. Only ASCII tells: many scripts put no blank between words."""
    return all(c.isascii() and (c.isalnum() or c in "-_") for c in (one, other) if c) and bool(one and other)


def _entities(local: Understanding, names: tuple[NamedThing, ...]) -> tuple[Entity, ...]:
    """What was found locally, and what the model names besides; amounts, dates and positions are read locally alone."""
    known = {(e.kind, e.words) for e in local.entities}
    named = [Entity(kind=EntityKind(n.kind.value), value=n.words, words=n.words) for n in names]
    return (*local.entities, *dict.fromkeys(e for e in named if (e.kind, e.words) not in known))
