"""The branches that may give money back: refunds of orders, and of what was charged twice.

Pure; they choose what to propose and for how much, and policy alone decides whether it may be done.
"""

from collections.abc import Sequence, Set

from domain.account import Account, Order, Payment
from domain.action import Action, ActionKind, RefundPayload
from domain.duplicates import twins
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Propose, Question, Step, Topic
from domain.understanding import Intent
from policy.turn.meaning import meant_of, waits
from policy.turn.mentions import canonical, named_in
from policy.turn.open_actions import settle, standing
from policy.turn.wished_amount import how_much, names_amount


def refund(situation: Situation, account: Account) -> Step:
    """Return the proposal to give back what is left of the order meant, at most what was named; or what comes first."""
    if waiting := waits(situation):
        return waiting
    named = named_in(situation.understanding.mentions, account)
    if named.unknown and named.nothing:
        return Clarify(question=Question.UNKNOWN_ORDER)
    if named.subscriptions and not (named.orders or named.payments):
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    candidates = _refund_candidates(situation, account)
    less_of = _corrected_amount(situation, account) if named.nothing else None
    named_ones = (*named.orders, *named.payments)
    meant = less_of or meant_of(situation, account, named_ones, candidates, "order:", "payment:")
    if meant is None:
        return Clarify(question=Question.WHICH_ORDER if account.orders else Question.UNKNOWN_ORDER)
    found = account.resource(meant)
    if not isinstance(found, Order | Payment) or found.refundable_minor < 1:
        return Answer(topic=Topic.NOTHING_TO_REFUND, resource=meant)
    amount_minor = how_much(situation.understanding, found, _open_refund(situation, meant))
    if amount_minor is None:
        return Clarify(question=Question.WHICH_AMOUNT, resource=meant)
    wish = Propose(kind=ActionKind.REFUND, resource=meant, amount_minor=amount_minor, currency=found.currency)
    return settle(wish, situation, account, clear=not named.nothing)


def duplicate_charge(situation: Situation, account: Account) -> Step:
    """Return the proposal to give back the later of two equal charges, or that there is none."""
    if waiting := waits(situation):
        return waiting
    named = named_in(situation.understanding.mentions, account)
    if named.unknown and named.nothing:
        return Clarify(question=Question.UNKNOWN_ORDER)
    wanted = {*named.orders, *named.subscriptions, *named.payments}
    here = canonical(situation.context.resource, account)
    found = _of(twins(account), wanted) if wanted else (here and _of(twins(account), {here})) or twins(account)
    by_resource = {_resource_of(p, account): p for p in found}
    match list(by_resource.values()):
        case []:
            return Answer(topic=Topic.NO_DUPLICATE_FOUND)
        case [twin]:
            wish = Propose(kind=ActionKind.REFUND_DUPLICATE_CHARGE, resource=f"payment:{twin.id}")
            return settle(wish, situation, account, clear=not named.nothing)
        case _:
            of_orders = any(p.order_id for p in found)
            return Clarify(question=Question.WHICH_ORDER if of_orders else Question.WHICH_SUBSCRIPTION)


def _refund_candidates(situation: Situation, account: Account) -> list[str]:
    """The orders that an unnamed one may be; what is missing may also be still on its way."""
    statuses = {"delivered"}
    if situation.understanding.intent is Intent.MISSING_ITEM:
        statuses.add("shipped")
    eligible = [o for o in account.orders if o.status in statuses and o.refundable_minor > 0]
    fitting: Sequence[Order] = eligible or account.orders
    return [f"order:{o.id}" for o in fitting]


def _corrected_amount(situation: Situation, account: Account) -> str | None:
    """What a correction of nothing but the amount is about: what the refund that stands is for."""
    told, action = situation.understanding, standing(situation)
    about = action if told.corrects and names_amount(told) else None
    return canonical(about.payload.resource, account) if about and isinstance(about.payload, RefundPayload) else None


def _open_refund(situation: Situation, resource: str) -> Action | None:
    """The refund of that very thing that has been proposed and is not executed."""
    refunds = [a for a in situation.actions if a.kind is ActionKind.REFUND and a.state.unexecuted]
    return next((a for a in refunds if resource in (a.payload.resource, a.payload.effect_on)), None)


def _of(found: Sequence[Payment], wanted: Set[str]) -> list[Payment]:
    """The double charges of the resources wanted."""
    return [
        p for p in found if wanted & {f"order:{p.order_id}", f"subscription:{p.subscription_id}", f"payment:{p.id}"}
    ]


def _resource_of(payment: Payment, account: Account) -> str:
    """What was charged twice: the order where it has one, so that of several charges of one order one is meant."""
    order = account.order(payment.order_id) if payment.order_id else None
    return f"order:{order.id}" if order else f"payment:{payment.id}"
