"""What a workflow asks of an activity and what it gets back: ids, labels, amounts and times, and no text of anybody.

These are recorded in Temporal histories for good; change them only by adding fields with defaults (INVARIANT 10).
"""

from datetime import datetime
from enum import StrEnum

from domain.action import ActionState
from domain.base import Noun
from domain.conversation import Owner
from domain.handoff import HandoffReason
from domain.model import Route
from domain.step import AwaitOutcome, Confirm, Propose, Step, Withdraw
from domain.summary import Summary
from domain.turn import ActionProgress, TurnFence
from domain.understanding import Intent, Need, Understanding


class Errand(StrEnum):
    """The name of every activity."""

    CONSIDER_TURN = "consider_turn"
    PUBLISH_REPLY = "publish_reply"
    KEEP_DRAFT = "keep_draft"
    PROPOSE_ACTION = "propose_action"
    WITHDRAW_PROPOSALS = "withdraw_proposals"
    TELL_WAITING = "tell_waiting"
    HAND_OFF = "hand_off"
    HAND_OFF_UNREAD = "hand_off_unread"
    CLOSE_IDLE = "close_idle"
    LOAD_ACTION = "load_action"
    RESERVE_ACTION = "reserve_action"
    DISPATCH_ACTION = "dispatch_action"
    AFTER_DISPATCH = "after_dispatch"
    LOOK_UP_ACTION = "look_up_action"
    RESEND_ACTION = "resend_action"
    EXPIRE_ACTION = "expire_action"
    WITHDRAW_ACTION = "withdraw_action"
    OPEN_CASE = "open_case"
    REMIND_APPROVERS = "remind_approvers"
    CONFIRM_IN_WORDS = "confirm_in_words"
    REFRESH_TRACKING = "refresh_tracking"


class ConversationRef(Noun):
    """Which conversation."""

    tenant_id: str
    conversation_id: str


class ConsiderTurn(ConversationRef):
    """Read what is unanswered and decide the next step. `step_id` is the step's, minted by the workflow."""

    step_id: str
    patient: bool = False  # an ordinary activity: may wait longer for the business system
    with_model: bool = False  # an ordinary activity: may ask a model what the customer means


class Considered(Noun):
    """The decision of a turn, recorded. `step` None: nothing to do. `open_actions` are for the card."""

    owner: Owner
    owner_epoch: int
    version: int
    answered_seq: int
    through_seq: int
    language: str
    step: Step | None = None
    understood: Understanding | None = None
    meant: Intent | None = None  # the intent with follow-ups and corrections resolved
    evidence_id: str | None = None
    open_actions: tuple[ActionProgress, ...] = ()
    updated_at: datetime
    handoff_reason: str | None = None
    refresh: tuple[str, ...] = ()  # orders whose tracking was too old for this step
    ask_model: Route | None = None  # no step yet: to be considered again, with a model of this route
    draft_by: Route | None = None  # the reply of this step is to be written by a model of this route
    waiting: tuple[Need, ...] = ()  # asked for beside this, and not dealt with yet
    named: tuple[str, ...] = ()  # the customer's own that this turn speaks of, as `order:ID`
    asked_running: int = 0  # questions in a row, this one included, that brought nothing
    amount: str | None = None  # `MINOR CURRENCY`, as the customer named it; empty where that is unclear
    offered: tuple[str, ...] = ()  # as `order:ID`, what was listed before and may still be pointed at
    summary: Summary | None = None  # of the conversation up to and with this turn, where one is due
    for_review: bool = False  # the reply of this step is drafted, and a person lets it out
    draft_waits: bool = False  # nothing to do: a draft for all that is unanswered waits for a person


class TurnEffect(Noun):
    """One effect of a considered turn: its fence, and what was considered."""

    fence: TurnFence
    considered: Considered


class ProposeAction(TurnEffect):
    """Put an action into the ledger under an id that the workflow minted."""

    operation_id: str
    propose: Propose


class WithdrawProposals(TurnEffect):
    """Reject what the customer does not want, then say so."""

    withdraw: Withdraw


class TellWaiting(TurnEffect):
    """Tell the customer that an outcome comes first."""

    await_outcome: AwaitOutcome


class ConfirmInWords(TurnEffect):
    """Take the customer's "yes" as their approval."""

    confirm: Confirm


class HandOffTurn(TurnEffect):
    """Hand over to a person."""

    reason: HandoffReason


class CloseIdle(ConversationRef):
    """Close when nothing has happened since."""

    idle_since: datetime


class ActionRef(Noun):
    """Which action."""

    tenant_id: str
    operation_id: str


class ReserveAction(ActionRef):
    """Reserve under the identity of one step."""

    step_id: str


class RefreshTracking(Noun):
    """Have the carrier asked about one order's parcel."""

    tenant_id: str
    order_id: str


class LookedUp(Noun):
    """What a look-up has made of an unknown action."""

    state: ActionState
    reached: bool  # whether the business system answered
    may_resend: bool
    past_deadline: bool
