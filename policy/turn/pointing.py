"""What "the first one" points at, and what names among the candidates are the customer's own.

Pure; a position counts in the list that was shown, or in what was spoken of, and is matched to evidence anew.
"""

from collections.abc import Sequence

from domain.account import Account
from domain.situation import Situation
from domain.understanding import Entity, EntityKind, Intent
from policy.turn.mentions import addresses_named, is_id, named_in, plans_named

_NAMES = (EntityKind.PLAN, EntityKind.ADDRESS)
_BARE = frozenset({Intent.CORRECTION, Intent.OUT_OF_SCOPE, Intent.AFFIRMATION})  # what may be no more than a position


def pointed(situation: Situation) -> Situation:
    """Return the situation with what its candidates point at among the mentions.

    A position that the list does not have becomes a mention of nothing, so that the customer is asked.
    """
    told, account = situation.understanding, situation.account
    if account is None or not told.entities:
        return situation
    names = [e.value for e in told.entities if e.kind in _NAMES and _names_something(e.value, account)]
    places = [] if any(map(is_id, told.mentions)) else [e for e in told.entities if e.kind is EntityKind.POSITION]
    found = [*names, *(m for e in places if (m := _at(e, situation)))]
    mentions = tuple(dict.fromkeys((*told.mentions, *found)))
    return situation.model_copy(update={"understanding": told.model_copy(update={"mentions": mentions})})


def points_at(situation: Situation) -> bool:
    """Return whether the customer answers a list that was shown by a position in it."""
    told = situation.understanding
    return bool(situation.context.offered) and any(e.kind is EntityKind.POSITION for e in told.entities)


def _at(entity: Entity, situation: Situation) -> str | None:
    """The id at that position: of what was shown last, else, in a correction or alone, of what was spoken of."""
    context, told = situation.context, situation.understanding
    listed: Sequence[str] = context.offered
    if not listed and (told.corrects or told.intent in _BARE):
        listed = context.named
    position = int(entity.value) if entity.value.lstrip("-").isdecimal() else 0
    if not listed or position == 0:
        return None
    index = position - 1 if position > 0 else position
    inside = -len(listed) <= index < len(listed)
    return listed[index].partition(":")[2] if inside else f"#{position}"


def _names_something(name: str, account: Account) -> bool:
    return not named_in([name], account).nothing or bool(
        plans_named([name], account) or addresses_named([name], account)
    )
