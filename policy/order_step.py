"""The branch for "where is my order?": which of the customer's own orders is meant, if any.

Pure; an order of somebody else and one that does not exist lead to the same question.
"""

from domain.account import Account
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Question, Step, Topic
from policy.mentions import canonical, named_in

SETTLED_STATUSES = frozenset({"delivered", "cancelled", "refunded", "returned"})
OVERVIEW_MAX = 5  # orders in one overview; of more, the customer is asked which


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


def _about(resource: str) -> Answer:
    return Answer(topic=Topic.ORDER_STATUS, resource=resource)


def _overview(account: Account) -> Step:
    if len(account.orders) > OVERVIEW_MAX:
        return Clarify(question=Question.WHICH_ORDER)
    return Answer(topic=Topic.ORDERS_OVERVIEW)
