"""What a turn comes to: one pure function from a situation to a decision, a small function for each branch.

INVARIANT: every resource in a step exists in the customer's own account; without an account there is none.
"""

from typing import assert_never

from domain.account import Account
from domain.base import Noun
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Question, Step, Topic
from domain.understanding import Intent, Need, Understanding
from policy.turn import account_step, knowledge_step, money_step, open_actions, order_step, subscription_step
from policy.turn.hearing import CONFIDENCE_MIN, Heard, hear
from policy.turn.mentions import canonical, named_in, resources_named
from policy.turn.needs import still_waiting
from policy.turn.offering import still_offered
from policy.turn.risks import needs_judgement
from policy.turn.wished_amount import amount_named

QUESTIONS_RUNNING_MAX = 3  # that bring nothing; then a person
PLAIN_YES_MIN = 0.85  # what the rules give a "yes" about something that stands open


class Decision(Noun):
    """What a turn comes to, and what the next one has to know of it; ids and labels alone."""

    step: Step
    meant: Intent  # follow-ups and corrections resolved: what the next turn refers to
    waiting: tuple[Need, ...] = ()  # asked for beside this, and not dealt with yet
    named: tuple[str, ...] = ()  # the customer's own that the turn speaks of
    amount: str | None = None  # that the customer named, where a question about it is open; see `UNCLEAR`
    corrects: bool = False  # puts something in the place of what was meant before
    offered: tuple[str, ...] = ()  # what was listed before and may still be pointed at
    asked_running: int = 0  # questions in a row without an answer that names anything


def decide(situation: Situation) -> Decision:
    """Return what this turn comes to."""
    heard = hear(situation)
    meant, account = heard.situation, situation.account or Account()
    step = _superseding(_step(meant), meant)
    named = resources_named(situation.understanding.mentions, account) or resources_named(
        meant.understanding.mentions, account
    )
    asked_running = _asked_running(step, named, situation)
    step = _bounded(step, asked_running, situation)
    waiting = _waiting(heard, step, situation)
    if isinstance(step, Answer | Clarify) and waiting:
        step = step.model_copy(update={"next_intents": tuple(n.intent for n in waiting)})
    return Decision(
        step=step,
        meant=meant.understanding.intent,
        waiting=waiting,
        named=named,
        corrects=meant.understanding.corrects,
        offered=still_offered(situation.context, meant.understanding.intent),
        asked_running=asked_running,
        amount=amount_named(meant.understanding) if isinstance(step, Clarify) else None,
    )


def next_step(situation: Situation) -> Step:
    """Return the step that this turn comes to."""
    return decide(situation).step


def _step(situation: Situation) -> Step:
    if (handed := _for_a_person(situation)) is not None:
        return handed
    if (known := knowledge_step.known(situation)) is not None:
        return known
    if (lost := _not_for_us(situation)) is not None:
        return lost
    step = _for_anyone(situation) or _signed_in(situation)
    return knowledge_step.told_not_done(step, situation)


def _waiting(heard: Heard, step: Step, situation: Situation) -> tuple[Need, ...]:
    """What waits after this step, which is about a thing of its own where it names one."""
    if heard.drops_waiting:
        return ()
    now = Need(intent=heard.situation.understanding.intent, resource=getattr(step, "resource", None))
    return still_waiting(situation.context.waiting, heard.others, now)


def _asked_running(step: Step, named: tuple[str, ...], situation: Situation) -> int:
    """How many questions the customer has been asked without naming anything that is theirs, greetings aside."""
    if not isinstance(step, Clarify):
        greets = isinstance(step, Answer) and step.topic is Topic.GREETING
        return situation.context.asked_running if greets else 0
    return 1 if named else situation.context.asked_running + 1


def _bounded(step: Step, asked_running: int, situation: Situation) -> Step:
    """Who has been asked again and again, and is not understood any better, is not asked once more."""
    asked_this = isinstance(step, Clarify) and step.question is Question.WHAT_TO_DO and not step.supersedes
    again = asked_this and situation.context.question == Question.WHAT_TO_DO
    lost = again or asked_running > QUESTIONS_RUNNING_MAX
    return HandOff(reason=HandoffReason.UNDERSTANDING_FAILED) if lost else step


def _superseding(step: Step, situation: Situation) -> Step:
    """A correction that still leaves a question open says all the same that what stood is wrong."""
    if not isinstance(step, Clarify) or not situation.understanding.corrects:
        return step
    wrong = tuple(sorted(a.operation_id for a in situation.actions if a.state.unexecuted))
    return step.model_copy(update={"supersedes": wrong})


def _for_a_person(situation: Situation) -> HandOff | None:
    """What no bot should deal with, in order of what the customer is owed to know."""
    told = situation.understanding
    if told.asks_for_person or Intent.ASKS_FOR_PERSON in (told.intent, *told.intents):
        return HandOff(reason=HandoffReason.HANDOFF_REQUESTED)
    if needs_judgement(told):
        return HandOff(reason=HandoffReason.HIGH_RISK)
    unclear = told.confidence < CONFIDENCE_MIN or told.intent is Intent.OUT_OF_SCOPE
    return HandOff(reason=HandoffReason.SUSPICIOUS) if told.suspicious and unclear else None


def _not_for_us(situation: Situation) -> HandOff | None:
    """What is not understood, and what is and is nothing that the bot deals with."""
    told = situation.understanding
    if told.confidence < CONFIDENCE_MIN:
        return HandOff(reason=HandoffReason.UNDERSTANDING_FAILED)
    return HandOff(reason=HandoffReason.OUT_OF_SCOPE) if told.intent is Intent.OUT_OF_SCOPE else None


def _for_anyone(situation: Situation) -> Step | None:
    """What needs no account, and what a visitor who has not signed in is told."""
    match situation.understanding.intent:
        case Intent.THANKS_GREETING:
            return Answer(topic=Topic.GREETING)
        case Intent.ACCOUNT_ACCESS if situation.account is None:
            return Answer(topic=Topic.ACCOUNT_ACCESS)
        case Intent.AFFIRMATION | Intent.REFUSAL if situation.account is None:
            return Clarify(question=Question.WHAT_TO_DO)
        case _:
            return Answer(topic=Topic.SIGN_IN) if situation.account is None else None


def _signed_in(situation: Situation) -> Step:
    """The branch of each intent, for a customer with an account."""
    account = situation.account or Account()
    match situation.understanding.intent:
        case Intent.ORDER_STATUS:
            return order_step.status(situation, account)
        case Intent.REFUND_REQUEST | Intent.DAMAGED_ITEM | Intent.MISSING_ITEM:
            return money_step.refund(situation, account)
        case Intent.DUPLICATE_CHARGE:
            return money_step.duplicate_charge(situation, account)
        case Intent.CANCEL_SUBSCRIPTION:
            return subscription_step.cancel(situation, account)
        case Intent.ACTION_STATUS:
            return _action_status(situation, account)
        case Intent.AFFIRMATION:
            return _affirmed(situation)
        case Intent.REFUSAL:
            return open_actions.withdraw_all(situation) or _stopped_too_late(situation)
        case Intent.CORRECTION:
            return Clarify(question=Question.WHAT_TO_DO)
        case Intent.CANCEL_ORDER:
            return order_step.cancel(situation, account)
        case Intent.CHANGE_ADDRESS:
            return order_step.change_address(situation, account)
        case Intent.CHANGE_PLAN:
            return subscription_step.change_plan(situation, account)
        case Intent.OUT_OF_SCOPE:
            return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
        case Intent.ASKS_FOR_PERSON:
            return HandOff(reason=HandoffReason.HANDOFF_REQUESTED)
        case Intent.THANKS_GREETING:
            return Answer(topic=Topic.GREETING)
        case Intent.ACCOUNT_ACCESS:
            return account_step.restore_access(situation, account)
        case _ as never:
            assert_never(never)


def _affirmed(situation: Situation) -> Step:
    """A plain "yes" confirms what it may confirm here; else it is no consent, and the reply points to the button."""
    if situation.confirmable is not None and _plain(situation.understanding):
        return situation.confirmable
    if action := open_actions.open_proposal(situation):
        return open_actions.confirm(action, situation)
    if action := open_actions.standing(situation):
        return Answer(topic=Topic.ACTION_STATUS, operation_id=action.operation_id)
    return Clarify(question=Question.WHAT_TO_DO)


def _plain(told: Understanding) -> bool:
    """Whether a "yes" is understood by rules, surely, and with nothing beside it."""
    sure = told.route == "rules" and told.confidence >= PLAIN_YES_MIN
    beside = told.mentions or told.entities or len(told.intents) > 1 or told.seeks_information or told.risks
    return sure and not (beside or told.corrects or told.suspicious or told.asks_for_person)


def _stopped_too_late(situation: Situation) -> Step:
    """A "no" when nothing can be withdrawn any more: what is under way is settled first."""
    action = open_actions.standing(situation)
    return open_actions.outcome_of(action, situation) if action else Clarify(question=Question.WHAT_TO_DO)


def _action_status(situation: Situation, account: Account) -> Step:
    """How an action stands: that of what is named, else the latest; without one that there is none, and the order."""
    named = named_in(situation.understanding.mentions, account)
    resources = (*named.orders, *named.subscriptions, *named.payments)
    if named.unknown and not resources:
        return Clarify(question=Question.UNKNOWN_ORDER)
    here = canonical(situation.context.resource, account)
    for resource in resources or ((here,) if here else ()):
        if action := open_actions.latest(situation, resource):
            return Answer(topic=Topic.ACTION_STATUS, operation_id=action.operation_id)
    if not resources and (action := open_actions.latest(situation)):
        return Answer(topic=Topic.ACTION_STATUS, operation_id=action.operation_id)
    if resources or (here and here.startswith("order:")):
        return _nothing_begun(order_step.status(situation, account))
    return Clarify(question=Question.WHICH_ORDER if account.orders and not here else Question.WHAT_TO_DO)


def _nothing_begun(step: Step) -> Step:
    """How an order stands is no answer to how a request stands, before it is said that there is none."""
    about_one = isinstance(step, Answer) and step.topic is Topic.ORDER_STATUS
    return step.model_copy(update={"topic": Topic.NOTHING_BEGUN}) if about_one else step
