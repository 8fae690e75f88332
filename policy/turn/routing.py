"""By what a turn is understood and a reply drafted: what is certain stays local, a model is asked for the rest.

Pure; a route is a proposal of whom to ask, and without an answer the local form stands.
"""

from domain.model import Route
from domain.step import Answer, Step, Topic
from domain.understanding import Intent, RiskMark, Understanding
from policy.turn.risks import needs_judgement

CERTAIN = {Route.RULES: 0.8, Route.CLASSIFIER: 0.7}  # from which confidence on a local route needs nobody
LONG_CHARS = 700  # of a turn, from which on rules and windows see parts of what was said
_MANY_NEEDS = 3
_ANSWERED_BY_RULE = frozenset({Intent.AFFIRMATION, Intent.REFUSAL, Intent.THANKS_GREETING})
_IN_FREE_WORDS = frozenset({Topic.KNOWLEDGE})
_WITH_A_QUESTION = frozenset({Topic.ORDER_STATUS, Topic.ORDERS_OVERVIEW})


def route_for(understood: Understanding, *, models: frozenset[Route], chars: int, open_actions: int) -> Route | None:
    """Return which model is to read a turn besides, or None where what was understood locally stands.

    `models` are those that may be asked, `chars` the length of the turn's messages, `open_actions` how many are not
    settled. What goes to a person all the same is not read again, nor is what is aimed at a machine.
    """
    if _for_no_model(understood):
        return None
    if _is_complex(understood, chars, open_actions):
        return _nearest(Route.LARGE, models)
    return None if _is_certain(understood) else _nearest(Route.SMALL, models)


def drafts_by(step: Step, understood: Understanding, *, models: frozenset[Route]) -> Route | None:
    """Return which model is to draft the reply of a step, or None where templates and articles say it as well.

    Whatever tells of an action's status, asks for a choice or wants a sign-in is never a model's.
    """
    if not isinstance(step, Answer) or _for_no_model(understood):
        return None
    if step.topic in _IN_FREE_WORDS and step.passages:
        return _nearest(Route.LARGE if _is_risky(understood) else Route.SMALL, models)
    if step.topic in _WITH_A_QUESTION and (understood.seeks_information or _needs(understood) > 1):
        return _nearest(Route.SMALL, models)
    return None


def _for_no_model(understood: Understanding) -> bool:
    asked = understood.asks_for_person or Intent.ASKS_FOR_PERSON in understood.every_intent
    return asked or understood.suspicious or needs_judgement(understood)


def _is_certain(understood: Understanding) -> bool:
    route = Route(understood.route)
    return route.is_model or understood.confidence >= CERTAIN[route]


def _is_complex(understood: Understanding, chars: int, open_actions: int) -> bool:
    """Whether a large model is worth its cost and time."""
    if understood.intent in _ANSWERED_BY_RULE and _is_certain(understood):
        return False
    several = _needs(understood) >= _MANY_NEEDS or (_needs(understood) > 1 and not _is_certain(understood))
    redirects = understood.corrects and open_actions > 0 and not _is_certain(understood)
    return several or redirects or _is_risky(understood) or chars >= LONG_CHARS


def _is_risky(understood: Understanding) -> bool:
    return RiskMark.CHARGEBACK in understood.risks


def _needs(understood: Understanding) -> int:
    return len({intent for intent in understood.every_intent if intent.is_need})


def _nearest(wanted: Route, models: frozenset[Route]) -> Route | None:
    """The route wanted, or the other one where only that may be asked."""
    if wanted in models:
        return wanted
    return next((route for route in (Route.LARGE, Route.SMALL) if route in models), None)
