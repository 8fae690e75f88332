"""Several needs in one turn: which is dealt with first, what each is about, and what waits until the next turn.

Pure; whatever was asked for is dealt with, waits, or goes to a person with the rest. Nothing is dropped.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations

from domain.account import Account, Order, Payment, Subscription
from domain.base import Noun
from domain.situation import Situation
from domain.understanding import Intent, Need, Understanding
from policy.turn.mentions import ENDED_STATUSES, resource_named, resources_named
from policy.turn.order_step import NOT_LEFT_STATUSES
from policy.turn.wished_amount import UNCLEAR, amount_named

I = Intent  # noqa: E741 — the tables below read better so
WAITING_MAX = 5  # needs; more than a customer keeps in mind
PAIRED_MAX = 4  # needs with a thing each that are told apart
MONEY_BACK = frozenset({I.REFUND_REQUEST, I.DAMAGED_ITEM, I.MISSING_ITEM, I.DUPLICATE_CHARGE})
_ONE_MATTER = (  # what people say of one thing with several words, and mean once
    MONEY_BACK,
    frozenset({I.ORDER_STATUS, I.ACTION_STATUS, I.MISSING_ITEM}),
    MONEY_BACK | {I.ACTION_STATUS},  # "has my refund gone through?" wants to know, and not another refund
    frozenset({I.CANCEL_ORDER, I.REFUND_REQUEST}),  # whoever cancels is given back what they paid
)
_SUBSCRIBED = frozenset({I.CANCEL_SUBSCRIPTION, I.CHANGE_PLAN})
_OF_EACH = frozenset({I.REFUND_REQUEST, I.DAMAGED_ITEM, I.CANCEL_ORDER})  # wanted of each thing that is named


class Sorted(Noun):
    """A turn about its first need alone, and the others that were said beside it, in order."""

    situation: Situation
    others: tuple[Need, ...] = ()


def sort_needs(situation: Situation) -> Sorted:
    """Return the turn about the need that comes first: the one understood as such, else the first that was said.

    A yes, a no or a correction is about what stands open and comes before every need.
    """
    told, account = situation.understanding, situation.account or Account()
    said = list(dict.fromkeys(i for i in told.every_intent if i.is_need))
    if not said or (len(said) == 1 and told.intent in (*said, Intent.ASKS_FOR_PERSON)):
        each = _of_each(told, account)
        return _about_first(situation, each[0], each[1:]) if each else Sorted(situation=situation)
    needs = _assigned(said, told, account)
    first = _first(told, needs, account)
    now = needs.get(first, Need(intent=first))
    untold = len(resources_named(told.mentions, account)) > 1  # which of them each need is about
    others = [n for n in needs.values() if n.intent is not first and (not one_matter(n, now) or _may_differ(n, untold))]
    return _about_first(situation, now, _each_once(others))


def _about_first(situation: Situation, now: Need, others: Sequence[Need]) -> Sorted:
    mentions = _mentions_of(now, others, situation.understanding, situation.account or Account())
    heard = situation.understanding.model_copy(update={"intent": now.intent, "mentions": mentions})
    return Sorted(situation=situation.model_copy(update={"understanding": heard}), others=tuple(others))


def _may_differ(need: Need, untold: bool) -> bool:
    """Whether how an action stands was perhaps asked of another thing than the rest is about."""
    return untold and need.resource is None and need.intent in MONEY_BACK | {I.ACTION_STATUS}


def _of_each(told: Understanding, account: Account) -> list[Need]:
    """One need for each thing, where one wish was said of several; an amount is asked about again for the others."""
    things = resources_named(told.mentions, account)
    plain = told.intent in _OF_EACH and not (told.corrects or told.seeks_information)
    ordered = all(r.startswith(("order:", "payment:")) for r in things)
    if not (plain and ordered and 1 < len(things) <= PAIRED_MAX):
        return []
    amount = amount_named(told)
    part = None if amount is None else UNCLEAR
    amounts = (amount, *(part for _ in things[1:]))
    return [Need(intent=told.intent, resource=r, amount=a) for r, a in zip(things, amounts, strict=True)]


def _first(told: Understanding, needs: Mapping[Intent, Need], account: Account) -> Intent:
    """What is dealt with now; of two words for one matter the one that says what is to be done."""
    if told.intent is Intent.THANKS_GREETING:
        return next(iter(needs))
    more = needs.get(Intent.CANCEL_ORDER) if told.intent is Intent.REFUND_REQUEST else None
    money = needs.get(Intent.REFUND_REQUEST)
    if more and money and more.resource and one_matter(more, money) and _fits(account, more.intent, more.resource):
        return more.intent
    return told.intent


def still_waiting(before: Sequence[Need], others: Sequence[Need], now: Need) -> tuple[Need, ...]:
    """Return what waits after a turn about `now`, oldest first, at most `WAITING_MAX`."""
    return _each_once((*(n for n in before if not _met(n, now)), *others))[:WAITING_MAX]


def _met(need: Need, now: Need) -> bool:
    """Whether what waited is what the turn is about; the same wish of another thing is not."""
    alike = need.intent is now.intent or {need.intent, now.intent} <= MONEY_BACK
    return alike and need.resource in (None, now.resource)


def one_matter(one: Need, other: Need) -> bool:
    """Whether both are said of the same thing and mean one need; never of two resources that differ."""
    if one.resource and other.resource and one.resource != other.resource:
        return False
    return one.intent is other.intent or any({one.intent, other.intent} <= family for family in _ONE_MATTER)


def _each_once(needs: Sequence[Need]) -> tuple[Need, ...]:
    kept: list[Need] = []
    for need in needs:
        if not any(one_matter(need, other) for other in kept):
            kept.append(need)
    return tuple(kept)


def _assigned(said: Sequence[Intent], told: Understanding, account: Account) -> dict[Intent, Need]:
    """Each need with its resource, where there is no doubt about it. An amount belongs to the first for money back."""
    named = resources_named(told.mentions, account)
    about = _paired(said, named, account, in_order=told.route == "rules")
    of_money = next((i for i in said if i in MONEY_BACK), None)
    return {
        intent: Need(
            intent=intent,
            resource=about.get(intent),
            amount=amount_named(told) if intent is of_money else None,
            information=told.seeks_information,
        )
        for intent in said
    }


def _paired(said: Sequence[Intent], named: Sequence[str], account: Account, *, in_order: bool) -> dict[Intent, str]:
    """The one way in which as many things as needs can belong together, or the one thing for every need of its kind.

    Where there is not one way, they belong together in the order of saying, if that is known.
    """
    found: dict[Intent, str] = {}
    for subscribed in (True, False):
        wanting = [i for i in said if (i in _SUBSCRIBED) is subscribed]
        things = [r for r in named if r.startswith("subscription:") is subscribed]
        if len(things) == 1:
            found |= dict.fromkeys(wanting, things[0])
        elif len(things) == len(wanting) <= PAIRED_MAX:
            ways = [way for way in permutations(things) if all(map(partial(_fits, account), wanting, way))]
            told = ways if len(ways) == 1 else [tuple(things)] if in_order else []
            found |= dict(zip(wanting, told[0], strict=True)) if told else {}
    return found


def _fits(account: Account, intent: Intent, resource: str) -> bool:
    """Whether such a need makes sense of that thing as it stands."""
    thing = account.resource(resource)
    match intent:
        case I.CANCEL_ORDER | I.CHANGE_ADDRESS:
            return isinstance(thing, Order) and thing.status in NOT_LEFT_STATUSES
        case I.REFUND_REQUEST | I.DAMAGED_ITEM:
            arrived = not isinstance(thing, Order) or thing.status == "delivered"
            return isinstance(thing, Order | Payment) and arrived and thing.refundable_minor > 0
        case I.CANCEL_SUBSCRIPTION | I.CHANGE_PLAN:
            return isinstance(thing, Subscription) and thing.status not in ENDED_STATUSES
        case _:
            return True


def _mentions_of(now: Need, others: Sequence[Need], told: Understanding, account: Account) -> tuple[str, ...]:
    """The tokens without those that name what another need is about; what names nothing stays, to be asked about."""
    theirs = {n.resource for n in others} - {now.resource, None}
    return tuple(m for m in told.mentions if resource_named(m, account) not in theirs)
