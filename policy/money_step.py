"""The branches that may give money back: refunds of orders, and of what was charged twice.

Pure; they choose what to propose and for how much, and policy alone decides whether it may be done.
"""

from collections.abc import Sequence, Set

from domain.account import Account, Order, Payment, Subscription
from domain.action import ActionKind
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Propose, Question, Step, Topic
from domain.understanding import Intent
from policy.duplicates import twins
from policy.mentions import canonical, named_in
from policy.open_actions import outcome_of, settle, standing


def refund(situation: Situation, account: Account) -> Step:
    """Return the proposal to give back all that is left of the order meant, or what stands in its way."""
    if waiting := _corrects_what_is_in_flight(situation):
        return waiting
    named = named_in(situation.understanding.mentions, account)
    if named.unknown and named.nothing:
        return Clarify(question=Question.UNKNOWN_ORDER)
    if named.subscriptions and not (named.orders or named.payments):
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    meant = _meant(situation, account, (*named.orders, *named.payments), _refund_candidates(situation, account))
    if meant is None:
        return Clarify(question=Question.WHICH_ORDER if account.orders else Question.UNKNOWN_ORDER)
    found = account.resource(meant)
    if found is None or isinstance(found, Subscription) or found.refundable_minor < 1:
        return Answer(topic=Topic.NOTHING_TO_REFUND, resource=meant)
    return _propose(situation, account, meant, found.refundable_minor, found.currency, clear=not named.nothing)


def duplicate_charge(situation: Situation, account: Account) -> Step:
    """Return the proposal to give back the later of two equal charges, or that there is none."""
    if waiting := _corrects_what_is_in_flight(situation):
        return waiting
    named = named_in(situation.understanding.mentions, account)
    if named.unknown and named.nothing:
        return Clarify(question=Question.UNKNOWN_ORDER)
    wanted = {*named.orders, *named.subscriptions, *named.payments}
    here = canonical(situation.context.resource, account)
    found = _of(twins(account), wanted) if wanted else (here and _of(twins(account), {here})) or twins(account)
    by_resource = {_resource_of(p, account): p for p in found}
    match list(by_resource.items()):
        case []:
            return Answer(topic=Topic.NO_DUPLICATE_FOUND)
        case [(resource, twin)]:
            clear = not named.nothing
            return _propose(situation, account, resource, twin.amount_minor, twin.currency, clear=clear)
        case _:
            of_orders = any(p.order_id for p in found)
            return Clarify(question=Question.WHICH_ORDER if of_orders else Question.WHICH_SUBSCRIPTION)


def _propose(
    situation: Situation, account: Account, resource: str, amount_minor: int, currency: str, *, clear: bool
) -> Step:
    wish = Propose(kind=ActionKind.REFUND, resource=resource, amount_minor=amount_minor, currency=currency)
    return settle(wish, situation, account, clear=clear)


def _corrects_what_is_in_flight(situation: Situation) -> Step | None:
    """A correction of what may already be happening waits for its outcome."""
    action = standing(situation)
    in_flight = situation.understanding.corrects and action is not None and action.state.in_flight
    return outcome_of(action, situation) if action and in_flight else None


def _meant(situation: Situation, account: Account, named: Sequence[str], candidates: Sequence[str]) -> str | None:
    """The one resource that is meant: named, or talked about, or the only candidate; a correction means another."""
    told = situation.understanding
    action = standing(situation) if told.corrects else None
    wrong = action.payload.resource if action else None
    if named:
        others = [r for r in named if r != wrong] or list(named)
        return others[-1] if told.corrects or len(others) == 1 else None
    here = canonical(situation.context.resource, account)
    if here and here.startswith(("order:", "payment:")) and not told.corrects:
        return here
    others = [r for r in candidates if r != wrong]
    return others[0] if len(others) == 1 else None


def _refund_candidates(situation: Situation, account: Account) -> list[str]:
    """The orders that an unnamed one may be; what is missing may also be still on its way."""
    statuses = {"delivered"}
    if situation.understanding.intent is Intent.MISSING_ITEM:
        statuses.add("shipped")
    eligible = [o for o in account.orders if o.status in statuses and o.refundable_minor > 0]
    fitting: Sequence[Order] = eligible or account.orders
    return [f"order:{o.id}" for o in fitting]


def _of(found: Sequence[Payment], wanted: Set[str]) -> list[Payment]:
    """The double charges of the resources wanted."""
    return [
        p for p in found if wanted & {f"order:{p.order_id}", f"subscription:{p.subscription_id}", f"payment:{p.id}"}
    ]


def _resource_of(payment: Payment, account: Account) -> str:
    """What its refund is of: the order where it has one, so that two refunds of one order are never in flight."""
    order = account.order(payment.order_id) if payment.order_id else None
    return f"order:{order.id}" if order else f"payment:{payment.id}"
