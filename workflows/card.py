"""What support staff see of a workflow in Temporal's UI: search attributes and a short card in Markdown.

Ids, labels and times only; pure, so that it can be tested as tables.
"""

from collections.abc import Sequence

from temporalio.common import SearchAttributeKey

from domain.action import ActionState
from domain.conversation import Owner, Phase
from domain.turn import ActionProgress

TENANT = SearchAttributeKey.for_keyword("InterlockTenant")
PHASE = SearchAttributeKey.for_keyword("InterlockPhase")
OWNER = SearchAttributeKey.for_keyword("InterlockOwner")
OWNER_EPOCH = SearchAttributeKey.for_int("InterlockOwnerEpoch")
INTENT = SearchAttributeKey.for_keyword("InterlockIntent")
HANDOFF_REASON = SearchAttributeKey.for_keyword("InterlockHandoffReason")
OPEN_ACTIONS = SearchAttributeKey.for_int("InterlockOpenActions")
UNKNOWN_ACTIONS = SearchAttributeKey.for_int("InterlockUnknownActions")

_WAITS_FOR = {
    Phase.IDLE: "the customer's next message",
    Phase.DRAFTING: "a person to look at its draft",
    Phase.AWAITING_CONFIRMATION: "the customer's confirmation",
    Phase.AWAITING_APPROVAL: "approval by staff",
    Phase.DISPATCHING: "the business system's answer",
    Phase.RECONCILING: "the outcome of an unknown action to be established",
    Phase.HUMAN_OWNED: "the person who has it",
    Phase.CLOSED: "nothing: the next message reopens it",
}


def phase_of(owner: Owner, actions: Sequence[ActionProgress], *, draft_waits: bool = False) -> Phase:
    """Return what a conversation at rest is doing, by its owner, its open actions and whether a draft waits."""
    states = {ActionState(a.state) for a in actions}
    if owner is Owner.HUMAN:
        return Phase.HUMAN_OWNED
    if owner is Owner.CLOSED:
        return Phase.CLOSED
    if ActionState.UNKNOWN in states:
        return Phase.RECONCILING
    if ActionState.SUBMITTED in states:
        return Phase.DISPATCHING
    if draft_waits:
        return Phase.DRAFTING
    if states:
        customer_next = any("customer" in a.missing for a in actions)
        return Phase.AWAITING_CONFIRMATION if customer_next else Phase.AWAITING_APPROVAL
    return Phase.IDLE


def conversation_card(owner: Owner, epoch: int, version: int, phase: Phase, actions: Sequence[ActionProgress]) -> str:
    """Return the card of a conversation: phase, owner, open actions with state and age, what it waits for."""
    lines = [
        f"**{phase.value}** · owner **{owner.value}** (epoch {epoch}) · version {version}",
        f"Waits for {_WAITS_FOR.get(phase, 'its own next step')}.",
    ]
    lines += [action_line(a) for a in actions]
    return "\n\n".join(lines)


def action_line(action: ActionProgress) -> str:
    """Return one line on an open action. Its age is told as a time: a card is read long after it was written."""
    missing = f" · waits for {', '.join(action.missing)}" if action.missing else ""
    person = " · **a person has it**" if action.person_has_it else ""
    return (
        f"- {action.kind} `{action.operation_id}`: **{action.state}** ({action.cause}), "
        f"since {action.created_at:%Y-%m-%d %H:%M:%S} UTC{missing}{person}"
    )
