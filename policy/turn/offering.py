"""What a reply offers to choose from: the customer's own things in the order in which its text names them.

Pure; read off the very text that is published, so that "the second one" is the second one that was read.
"""

import re

from domain.account import Account
from domain.step import Answer, Clarify, Question
from domain.understanding import Intent, TurnContext
from policy.turn.needs import MONEY_BACK

OFFERED_MAX = 20
_HIDDEN = "\0"


def offered(step: object, account: Account | None, text: str) -> tuple[str, ...]:
    """Return the things listed (`order:ID` and the like), in order; of fewer than two there is nothing to choose."""
    if account is None or not isinstance(step, Answer | Clarify):
        return ()
    question = step.question if isinstance(step, Clarify) else None
    places: dict[str, int] = {}
    for resource, name in sorted(_names(question, account), key=lambda named: -len(named[1])):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if (found := whole.search(text)) is not None:
            places[resource] = found.start()
            text = whole.sub(lambda match: _HIDDEN * len(match[0]), text)  # "Team" does not stand in "Team Plus"
    listed = sorted(places, key=lambda resource: places[resource])
    return tuple(listed[:OFFERED_MAX]) if len(listed) > 1 else ()


def still_offered(context: TurnContext, meant: Intent) -> tuple[str, ...]:
    """Return what was listed before and may still be pointed at: until another matter begins."""
    same = meant is context.intent or {meant, context.intent} <= MONEY_BACK
    return context.offered if same or not meant.is_need else ()


def _names(question: Question | None, account: Account) -> list[tuple[str, str]]:
    """Each thing that may be listed, with the name by which it is."""
    match question:
        case Question.WHICH_PLAN:
            return [(f"plan:{p.name}", p.name) for p in account.plans]
        case Question.WHICH_ADDRESS:
            return [(f"address:{a.id}", a.label) for a in account.addresses if a.label.strip()]
        case _:
            orders = [(f"order:{o.id}", o.id) for o in account.orders]
            subscriptions = [(f"subscription:{s.id}", s.id) for s in account.subscriptions]
            return [*orders, *subscriptions, *((f"payment:{p.id}", p.id) for p in account.payments)]
