"""The branches about one order: where it is, calling it off, and sending it elsewhere while it has not left.

Pure; an order of somebody else and one that does not exist lead to the same question.
"""

from domain.account import Account, Order
from domain.action import ActionKind, ChangeDeliveryAddressPayload
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Propose, Question, Step, Topic
from policy.turn.meaning import meant_of, waits
from policy.turn.mentions import addresses_named, canonical, is_id, named_in
from policy.turn.open_actions import settle, standing

SETTLED_STATUSES = frozenset({"delivered", "cancelled", "refunded", "returned"})
NOT_LEFT_STATUSES = frozenset({"pending", "placed", "paid", "processing"})
CALLED_OFF_STATUSES = frozenset({"cancelled", "canceled"})
OVERVIEW_MAX = 5  # orders in one overview; of more, the customer is asked which
CANCEL_REASON = "no_longer_needed"  # the proposal says it, so that whoever has another reason can object


def status(situation: Situation, account: Account) -> Step:
    """Return the answer about one order or all, or the question which."""
    told = situation.understanding
    named = named_in(told.mentions, account)
    if named.orders:
        several = len(named.orders) > 1 and not told.corrects
        return _overview(account) if several else _about(named.orders[-1])
    if not named.nothing:
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    if named.unknown:
        return Clarify(question=Question.UNKNOWN_ORDER)
    here = canonical(situation.context.resource, account)
    if here and here.startswith("order:"):
        return _about(here)
    waited_for = [o for o in account.orders if o.status not in SETTLED_STATUSES] or list(account.orders)
    return _about(f"order:{waited_for[0].id}") if len(waited_for) == 1 else _overview(account)


def cancel(situation: Situation, account: Account) -> Step:
    """Return the proposal to cancel the order meant, or what stands in its way."""
    order = waits(situation) or _not_left(situation, account, keep=None)
    if not isinstance(order, Order):
        return order
    wish = Propose(kind=ActionKind.CANCEL_ORDER, resource=f"order:{order.id}", reason=CANCEL_REASON)
    return settle(wish, situation, account, clear=bool(named_in(situation.understanding.mentions, account).orders))


def change_address(situation: Situation, account: Account) -> Step:
    """Return the proposal to deliver the order meant to the address meant, or the question that is still open."""
    if not account.addresses:
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    told, before = situation.understanding, _corrected(situation)
    named = addresses_named(told.mentions, account)
    order = waits(situation) or _not_left(situation, account, keep=before.resource if before and named else None)
    if not isinstance(order, Order):
        return order
    wanted = [a.id for a in named] or ([before.address_id] if before else [])
    others = [a for a in wanted if a != order.address_id]
    if before and len(others) > 1:
        others = [a for a in others if a != before.address_id]
    resource = f"order:{order.id}"
    if len(others) != 1:
        return Clarify(question=Question.WHICH_ADDRESS, resource=resource)
    wish = Propose(kind=ActionKind.CHANGE_DELIVERY_ADDRESS, resource=resource, address_id=others[0])
    return settle(wish, situation, account, clear=True)


def _not_left(situation: Situation, account: Account, *, keep: str | None) -> Order | Step:
    """The order meant, where it has not left yet, else the step that comes of it; `keep` is it where none is named."""
    mentions = situation.understanding.mentions
    named = named_in([m for m in mentions if is_id(m) and not addresses_named([m], account)], account)
    if named.unknown and named.nothing:
        return Clarify(question=Question.UNKNOWN_ORDER)
    candidates = [f"order:{o.id}" for o in account.orders if o.status in NOT_LEFT_STATUSES]
    kept = None if named.orders else keep
    meant = kept or meant_of(situation, account, named.orders, candidates, "order:")
    something_else = not (named.orders or named.nothing)
    if something_else or not (meant or candidates):
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    order = account.order(meant.partition(":")[2]) if meant else None
    if order is None:
        return Clarify(question=Question.WHICH_ORDER)
    if order.status in CALLED_OFF_STATUSES:
        return _about(f"order:{order.id}")
    return order if order.status in NOT_LEFT_STATUSES else HandOff(reason=HandoffReason.OUT_OF_SCOPE)


def _corrected(situation: Situation) -> ChangeDeliveryAddressPayload | None:
    """What a correction is about, where that is another address: what it does not touch stays as it was."""
    action = standing(situation) if situation.understanding.corrects else None
    return action.payload if action and isinstance(action.payload, ChangeDeliveryAddressPayload) else None


def _about(resource: str) -> Answer:
    return Answer(topic=Topic.ORDER_STATUS, resource=resource)


def _overview(account: Account) -> Step:
    if len(account.orders) > OVERVIEW_MAX:
        return Clarify(question=Question.WHICH_ORDER)
    return Answer(topic=Topic.ORDERS_OVERVIEW)
