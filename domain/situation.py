"""All that the next step is decided on: the input of one pure function in `policy.turn.next_step`.

Gathered by an activity; nothing in it is fetched later.
"""

from domain.account import Account
from domain.action import Action
from domain.base import Noun
from domain.knowledge import PassageRef
from domain.step import Confirm
from domain.understanding import TurnContext, Understanding


class Situation(Noun):
    """One turn's facts. `account` is None for a visitor who has not signed in; `actions` are this conversation's."""

    understanding: Understanding
    context: TurnContext
    account: Account | None
    actions: tuple[Action, ...] = ()
    awaited_by_person: tuple[str, ...] = ()  # operation ids of unknowns that a person has
    confirmed_by_customer: tuple[str, ...] = ()  # operation ids of open proposals whose button has been pressed
    passages: tuple[PassageRef, ...] = ()  # what the tenant's articles have on it, likeliest first
    confirmable: Confirm | None = None  # what a plain "yes" confirms here, where the bundle lets it count at all
