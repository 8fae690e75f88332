"""The branch for ending a subscription: which of the customer's own is meant, and whether it still runs.

Pure; a cancellation is proposed and never assumed.
"""

from collections.abc import Sequence

from domain.account import Account, Subscription
from domain.action import ActionKind
from domain.situation import Situation
from domain.step import Answer, Clarify, Propose, Question, Step, Topic
from policy.mentions import ENDED_STATUSES, canonical, named_in
from policy.open_actions import outcome_of, settle, standing


def cancel(situation: Situation, account: Account) -> Step:
    """Return the proposal to cancel the subscription meant, or what stands in its way."""
    told = situation.understanding
    action = standing(situation) if told.corrects else None
    if action and action.state.in_flight:
        return outcome_of(action, situation)
    named = named_in(told.mentions, account)
    meant = _meant(situation, account, named.subscriptions, action.payload.resource if action else None)
    something_else = not named.subscriptions and (named.unknown or not named.nothing)
    if meant is None or something_else:
        return Clarify(question=Question.WHICH_SUBSCRIPTION)
    resource = f"subscription:{meant.id}"
    if meant.status in ENDED_STATUSES:
        return Answer(topic=Topic.ALREADY_CANCELLED, resource=resource)
    wish = Propose(kind=ActionKind.CANCEL_SUBSCRIPTION, resource=resource)
    return settle(wish, situation, account, clear=bool(named.subscriptions))


def _meant(situation: Situation, account: Account, named: Sequence[str], wrong: str | None) -> Subscription | None:
    """The one subscription that is meant: named, or talked about, or the only one running, else the only one."""
    corrects = situation.understanding.corrects
    if named:
        others = [r for r in named if r != wrong] or list(named)
        return _subscription(account, others[-1]) if corrects or len(others) == 1 else None
    here = canonical(situation.context.resource, account)
    if here and here.startswith("subscription:") and not corrects:
        return _subscription(account, here)
    running = [s for s in account.subscriptions if s.status not in ENDED_STATUSES]
    others = [f"subscription:{s.id}" for s in running or account.subscriptions if f"subscription:{s.id}" != wrong]
    return _subscription(account, others[0]) if len(others) == 1 else None


def _subscription(account: Account, resource: str) -> Subscription | None:
    return account.subscription(resource.partition(":")[2])
