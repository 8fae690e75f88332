"""The branches about a subscription: ending it, and moving it to another plan that is on offer.

Pure; which of the customer's own is meant, and which plan, is asked and never guessed.
"""

from collections.abc import Sequence

from domain.account import Account, Plan, Subscription
from domain.action import ActionKind, ChangePlanPayload
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Propose, Question, Step, Topic
from policy.turn.meaning import waits
from policy.turn.mentions import ENDED_STATUSES, canonical, is_id, named_in, plans_named
from policy.turn.open_actions import settle, standing


def cancel(situation: Situation, account: Account) -> Step:
    """Return the proposal to cancel the subscription meant, or what stands in its way."""
    if waiting := waits(situation):
        return waiting
    named = named_in(situation.understanding.mentions, account)
    if not account.subscriptions:
        return Answer(topic=Topic.NO_SUBSCRIPTIONS)
    meant = _meant(situation, account, named.subscriptions)
    something_else = not named.subscriptions and (named.unknown or not named.nothing)
    if meant is None or something_else:
        return Clarify(question=Question.WHICH_SUBSCRIPTION)
    resource = f"subscription:{meant.id}"
    if meant.status in ENDED_STATUSES:
        return Answer(topic=Topic.ALREADY_CANCELLED, resource=resource)
    wish = Propose(kind=ActionKind.CANCEL_SUBSCRIPTION, resource=resource)
    return settle(wish, situation, account, clear=bool(named.subscriptions))


def change_plan(situation: Situation, account: Account) -> Step:
    """Return the proposal to move the subscription meant to the plan meant, or the question that is still open."""
    if not (account.plans and account.subscriptions):
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    if waiting := waits(situation):
        return waiting
    mentions, before = situation.understanding.mentions, _corrected(situation)
    named = named_in(filter(is_id, mentions), account)
    wanted = plans_named(mentions, account)
    if not named.subscriptions and (named.unknown or not named.nothing):
        return Clarify(question=Question.WHICH_SUBSCRIPTION)
    kept = account.subscription(before.subscription_id) if before and wanted and named.nothing else None
    meant = kept or _meant(situation, account, named.subscriptions or _leaving(situation, account, wanted))
    if meant is None:
        return Clarify(question=Question.WHICH_SUBSCRIPTION)
    resource = f"subscription:{meant.id}"
    if meant.status in ENDED_STATUSES:
        return Answer(topic=Topic.ALREADY_CANCELLED, resource=resource)
    plan = _plan(meant, wanted, before, account)
    if plan is None:
        return Clarify(question=Question.WHICH_PLAN, resource=resource)
    return settle(
        Propose(kind=ActionKind.CHANGE_PLAN, resource=resource, plan=plan.name), situation, account, clear=True
    )


def _plan(
    meant: Subscription, wanted: Sequence[Plan], before: ChangePlanPayload | None, account: Account
) -> Plan | None:
    """The one plan that is wanted: named, or else kept where only the subscription is corrected."""
    proposed = account.plan(before.new_plan) if before else None
    others = [p for p in wanted or filter(None, [proposed]) if p.name.casefold() != meant.plan.casefold()]
    if len(others) > 1:
        others = [p for p in others if p != proposed]
    return others[0] if len(others) == 1 else None


def _leaving(situation: Situation, account: Account, wanted: Sequence[Plan]) -> list[str]:
    """The one running subscription whose plan is named beside another, as in "from Team to Business"."""
    here = canonical(situation.context.resource, account)
    if here and here.startswith("subscription:") and not situation.understanding.corrects:
        return []
    names = {p.name.casefold() for p in wanted}
    running = [s for s in account.subscriptions if s.status not in ENDED_STATUSES]
    left = [f"subscription:{s.id}" for s in running if s.plan.casefold() in names and len(names) > 1]
    return left if len(left) == 1 else []


def _corrected(situation: Situation) -> ChangePlanPayload | None:
    """What a correction is about, where that is another plan: what it does not touch stays as it was."""
    action = standing(situation) if situation.understanding.corrects else None
    return action.payload if action and isinstance(action.payload, ChangePlanPayload) else None


def _meant(situation: Situation, account: Account, named: Sequence[str]) -> Subscription | None:
    """The one subscription that is meant: named, or talked about, or the only one running, else the only one."""
    corrects = situation.understanding.corrects
    action = standing(situation) if corrects else None
    wrong = action.payload.resource if action else None
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
