"""How a wish to act fits what the conversation has already begun: confirm, supersede, wait, or propose.

Pure; an action that may be under way is always settled before anything else is promised (design §5).
"""

from domain.account import Account
from domain.action import Action, Payload, payload_of
from domain.catalogue.wish import NotProposable
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome, HandOff, Propose, Step, Topic, Withdraw


def settle(wish: Propose, situation: Situation, account: Account, *, clear: bool) -> Step:
    """Return the step for `wish`; `clear` says that the customer named it, and does not merely seem to mean it.

    What the account turns out not to allow a payload for goes to a person.
    """
    actions = _latest_first(situation)
    try:
        payload = payload_of(wish, account, actions[0].customer_id if actions else "")
    except NotProposable:
        return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
    for action in actions:
        if action.state.in_flight and action.payload.resource in (payload.resource, wish.resource):
            return outcome_of(action, situation)
    unexecuted = [a for a in actions if a.state.unexecuted]
    alike = [a for a in unexecuted if a.kind is wish.kind and a.payload.resource == payload.resource]
    current = [a for a in alike if _same_change(a.payload, payload)]
    if current:
        return confirm(current[0], situation)
    if unexecuted and not (alike or clear or situation.understanding.corrects):
        return confirm(unexecuted[0], situation)
    return wish.model_copy(update={"supersedes": tuple(sorted(a.operation_id for a in unexecuted))})


def standing(situation: Situation) -> Action | None:
    """Return the latest action that is not settled: what "not that one" is about."""
    return next((a for a in _latest_first(situation) if not a.state.terminal), None)


def latest(situation: Situation, resource: str | None = None) -> Action | None:
    """Return the latest action, of `resource` where one is given."""
    return next((a for a in _latest_first(situation) if resource in (None, a.payload.resource)), None)


def open_proposal(situation: Situation) -> Action | None:
    """Return the latest action that nothing can have come of yet."""
    return next((a for a in _latest_first(situation) if a.state.unexecuted), None)


def confirm(action: Action, situation: Situation) -> Answer:
    """Return the reminder of the button; where the customer has pressed it already, how things stand."""
    done = action.operation_id in situation.confirmed_by_customer
    topic = Topic.ACTION_STATUS if done else Topic.CONFIRM_WITH_BUTTON
    return Answer(topic=topic, operation_id=action.operation_id)


def outcome_of(action: Action, situation: Situation) -> AwaitOutcome | Answer:
    """Return the wait for an action in flight; where a person already waits for it, how it stands."""
    if action.operation_id in situation.awaited_by_person:
        return Answer(topic=Topic.ACTION_STATUS, operation_id=action.operation_id)
    return AwaitOutcome(operation_id=action.operation_id)


def withdraw_all(situation: Situation) -> Withdraw | None:
    """Return the withdrawal of everything that is not executed, or None where there is nothing."""
    ids = tuple(sorted(a.operation_id for a in situation.actions if a.state.unexecuted))
    return Withdraw(operation_ids=ids) if ids else None


def _latest_first(situation: Situation) -> list[Action]:
    return sorted(situation.actions, key=lambda a: (a.created_at, a.operation_id), reverse=True)


def _same_change(old: Payload, new: Payload) -> bool:
    """Whether a proposal still says what would be proposed now; another version or amount needs a new one."""
    return old == new
