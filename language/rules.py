"""How concepts add up to an intent: the table of `data/rules.toml`, the same for every language.

The best score is the confidence; two needs of nearly equal weight that do not belong together lower it.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from domain.base import Noun
from domain.understanding import Intent, TurnContext
from language.lexicon import Hit

I = Intent  # noqa: E741 — the table below reads better so
_DATA = Path(__file__).parent / "data" / "rules.toml"
_RIVAL_WITHIN = 0.12
_RIVALRY_COSTS = 0.15
_ABOUT_A_PURCHASE = frozenset({I.REFUND_REQUEST, I.DAMAGED_ITEM, I.MISSING_ITEM, I.DUPLICATE_CHARGE, I.CORRECTION})
_BELONG_TOGETHER = (
    _ABOUT_A_PURCHASE,
    frozenset({I.ORDER_STATUS, I.MISSING_ITEM, I.ACTION_STATUS}),
    frozenset({I.CANCEL_ORDER, I.REFUND_REQUEST}),
    frozenset({I.CANCEL_SUBSCRIPTION, I.CORRECTION, I.DUPLICATE_CHARGE, I.OUT_OF_SCOPE}),
)
WISHES = {  # concepts that ask for something to be done, and what for
    "refund": (I.REFUND_REQUEST,),
    "cancel": (I.CANCEL_ORDER, I.CANCEL_SUBSCRIPTION),
    "unsubscribe": (I.CANCEL_SUBSCRIPTION,),
    "change_plan": (I.CHANGE_PLAN,),
    "change_address": (I.CHANGE_ADDRESS,),
}
_PAST = ("was_done", "not_done", "thanked")
_SUBSCRIPTION_ID = "sub"  # how the ids of subscriptions begin in the systems that we know
_PAID_BACK = _ABOUT_A_PURCHASE | {I.ACTION_STATUS}


class Rule(Noun):
    """One row of the table."""

    intent: Intent
    all: tuple[str, ...]
    not_: tuple[str, ...] = Field(default=(), alias="not")
    within: Literal["turn", "sentence"] = "turn"
    score: float


class Score(Noun):
    """How strongly a turn speaks for one intent."""

    intent: Intent
    value: float


@cache
def _table() -> tuple[tuple[Rule, ...], frozenset[str]]:
    raw = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return tuple(Rule(**row) for row in raw["rules"]), frozenset(raw["negatable"])


def held(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return the hits that stand: what a negation denies is left out, where denying it means something."""
    return tuple(h for h in hits if not (h.denied and h.concept in _table()[1]))


def wished(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return the hits without what is only spoken of as done, or thanked for: that is not wished for."""
    every = tuple(hits)
    past = [(h.start, h.end) for h in every if h.concept in _PAST]
    return tuple(h for h in every if h.concept not in WISHES or not any(a < h.end and h.start < b for a, b in past))


def standing(context: TurnContext) -> frozenset[str]:
    """Return the concepts that the conversation so far supplies."""
    kind = (context.resource or "").partition(":")[0]
    found = {f"about_{kind}"} if kind in ("order", "subscription") else set()
    if context.intent in _PAID_BACK:
        found.add("paid_back")
    if context.intent or context.resource:
        found.add("spoken_of")
    return frozenset(found)


def scores(hits: Iterable[Hit], context: TurnContext, ids: Iterable[str] = ()) -> tuple[Score, ...]:
    """Return what the standing `hits` and the `ids` named speak for, best first, each intent once."""
    given = standing(context)
    if any(ident.casefold().startswith(_SUBSCRIPTION_ID) for ident in ids):
        given |= {"subscription"}
    sentences: dict[int, set[str]] = {}
    for hit in hits:
        sentences.setdefault(hit.sentence, set()).add(hit.concept)
    turn = frozenset().union(given, *sentences.values())
    best: dict[Intent, float] = {}
    for rule in _table()[0]:
        if _applies(rule, turn, sentences, given) and rule.score > best.get(rule.intent, 0.0):
            best[rule.intent] = rule.score
    return tuple(Score(intent=i, value=v) for i, v in sorted(best.items(), key=lambda item: -item[1]))


def _applies(rule: Rule, turn: frozenset[str], sentences: Mapping[int, set[str]], given: frozenset[str]) -> bool:
    if not turn.issuperset(rule.all) or not turn.isdisjoint(rule.not_):
        return False
    if rule.within == "turn":
        return True
    return any((said | given).issuperset(rule.all) for said in sentences.values())


def belong_together(one: Intent, other: Intent) -> bool:
    """Return whether people say both of one matter."""
    return any({one, other} <= family for family in _BELONG_TOGETHER)


def confidence(ranked: tuple[Score, ...]) -> float:
    """Return the best score, lowered when another need that does not belong to it is nearly as strong."""
    best = ranked[0]
    for rival in ranked[1:]:
        if best.value - rival.value > _RIVAL_WITHIN:
            break
        if not belong_together(best.intent, rival.intent):
            return round(best.value - _RIVALRY_COSTS, 3)
    return best.value
