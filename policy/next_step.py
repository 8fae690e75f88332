"""What a turn comes to: one pure function from a situation to a step, a small function for each branch.

INVARIANT: every resource in a step exists in the customer's own account; without an account there is none.
"""

from typing import assert_never

from domain.account import Account
from domain.action import ActionKind
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Question, Step, Topic
from domain.understanding import Intent, Understanding
from policy import account_step, money_step, open_actions, order_step, subscription_step
from policy.mentions import addresses_named, canonical, is_id, named_in, plans_named

CONFIDENCE_MIN = 0.5
PLAIN_YES_MIN = 0.85  # what the rules give a "yes" about something that stands open
ASKED_FOR_AN_ID = frozenset({Question.WHICH_ORDER, Question.UNKNOWN_ORDER, Question.WHICH_SUBSCRIPTION})
ASKED_FOR_A_NAME = frozenset({Question.WHICH_PLAN, Question.WHICH_ADDRESS})
INTENT_OF = {  # what asks for a kind of action; kinds that only staff propose are out of the bot's scope
    ActionKind.REFUND: Intent.REFUND_REQUEST,
    ActionKind.REFUND_DUPLICATE_CHARGE: Intent.DUPLICATE_CHARGE,
    ActionKind.CANCEL_ORDER: Intent.CANCEL_ORDER,
    ActionKind.CANCEL_SUBSCRIPTION: Intent.CANCEL_SUBSCRIPTION,
    ActionKind.CHANGE_PLAN: Intent.CHANGE_PLAN,
    ActionKind.CHANGE_DELIVERY_ADDRESS: Intent.CHANGE_ADDRESS,
    ActionKind.RESTORE_ACCOUNT_ACCESS: Intent.ACCOUNT_ACCESS,
    ActionKind.STORE_CREDIT: Intent.OUT_OF_SCOPE,
    ActionKind.RETURN_ITEMS: Intent.OUT_OF_SCOPE,
    ActionKind.EXCHANGE_ITEMS: Intent.OUT_OF_SCOPE,
    ActionKind.CHANGE_PAYMENT_METHOD: Intent.OUT_OF_SCOPE,
}
WEAK = frozenset({Intent.OUT_OF_SCOPE, Intent.THANKS_GREETING, Intent.AFFIRMATION})  # what a bare id may be taken for
CHATTER = WEAK | {Intent.CORRECTION, Intent.REFUSAL, Intent.ASKS_FOR_PERSON}  # what no follow-up can take up
CORRECTABLE = frozenset({Intent.CORRECTION, Intent.AFFIRMATION, Intent.REFUSAL, Intent.OUT_OF_SCOPE})


def next_step(situation: Situation) -> Step:
    """Return the step that this turn comes to."""
    heard = _heard(situation)
    return _superseding(_for_a_person(heard) or _for_anyone(heard) or _signed_in(heard), heard)


def meant(situation: Situation) -> Intent:
    """Return the intent that this turn is about, follow-ups and corrections resolved: what a next turn refers to."""
    return _heard(situation).understanding.intent


def _heard(situation: Situation) -> Situation:
    return _about_what_is_open(_corrected(_continued(situation)))


def _about_what_is_open(situation: Situation) -> Situation:
    """While an action is open, a turn that is not understood most likely asks how it stands; the next goes to a person.

    Handing over at once would withdraw what the customer may have agreed to a moment ago.
    """
    told = situation.understanding
    unclear = told.confidence < CONFIDENCE_MIN and not (told.suspicious or told.mentions or told.asks_for_person)
    told_already = situation.context.intent is Intent.ACTION_STATUS
    if not unclear or told_already or open_actions.standing(situation) is None:
        return situation
    return _meaning(situation, Intent.ACTION_STATUS)


def _superseding(step: Step, situation: Situation) -> Step:
    """A correction that still leaves a question open says all the same that what stood is wrong."""
    if not isinstance(step, Clarify) or not situation.understanding.corrects:
        return step
    wrong = tuple(sorted(a.operation_id for a in situation.actions if a.state.unexecuted))
    return step.model_copy(update={"supersedes": wrong})


def _continued(situation: Situation) -> Situation:
    """A follow-up that only names what was asked for takes up the intent that asked for it."""
    context, told = situation.context, situation.understanding
    vague = told.intent in WEAK or told.confidence < CONFIDENCE_MIN
    answered = vague and context.intent not in CHATTER and _names_what_was_asked(situation)
    return _meaning(situation, context.intent) if answered else situation


def _names_what_was_asked(situation: Situation) -> bool:
    """Whether an id answers the question for one, or a plan or an address, by its name, the question which."""
    mentions, account = situation.understanding.mentions, situation.account or Account()
    if situation.context.question in ASKED_FOR_A_NAME:
        named = (*plans_named(mentions, account), *addresses_named(mentions, account))
        return bool(named) or any(map(is_id, mentions))
    return situation.context.question in ASKED_FOR_AN_ID and bool(mentions)


def _corrected(situation: Situation) -> Situation:
    """A correction means the same kind of thing as what it corrects: what stands open, else what was last asked."""
    told = situation.understanding
    renamed = told.corrects and bool(told.mentions) and told.intent in CORRECTABLE
    if told.intent is not Intent.CORRECTION and not renamed:
        return situation
    action = open_actions.standing(situation)
    last = situation.context.intent if situation.context.intent not in CHATTER else None
    if action is None or (last is Intent.DUPLICATE_CHARGE and action.kind is ActionKind.REFUND):
        meant = last
    else:
        meant = INTENT_OF[action.kind]
    return _meaning(situation, meant, corrects=True)


def _meaning(situation: Situation, intent: Intent | None, *, corrects: bool | None = None) -> Situation:
    """The situation as if the customer had said `intent` outright; None leaves the intent as it is."""
    told = situation.understanding
    meant = told.model_copy(
        update={
            "intent": intent or told.intent,
            "confidence": max(told.confidence, CONFIDENCE_MIN) if intent else told.confidence,
            "corrects": told.corrects if corrects is None else corrects,
        }
    )
    return situation.model_copy(update={"understanding": meant})


def _for_a_person(situation: Situation) -> HandOff | None:
    """What no bot should deal with, in order of what the customer is owed to know."""
    told = situation.understanding
    if told.asks_for_person or told.intent is Intent.ASKS_FOR_PERSON:
        return HandOff(reason=HandoffReason.HANDOFF_REQUESTED)
    uncertain = told.confidence < CONFIDENCE_MIN
    if told.suspicious and (uncertain or told.intent is Intent.OUT_OF_SCOPE):
        return HandOff(reason=HandoffReason.SUSPICIOUS)
    if uncertain:
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
    return sure and not (told.mentions or told.corrects or told.suspicious or told.asks_for_person)


def _stopped_too_late(situation: Situation) -> Step:
    """A "no" when nothing can be withdrawn any more: what is under way is settled first."""
    action = open_actions.standing(situation)
    return open_actions.outcome_of(action, situation) if action else Clarify(question=Question.WHAT_TO_DO)


def _action_status(situation: Situation, account: Account) -> Step:
    """How an action stands: that of what is named, else the latest; without one, how the order stands."""
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
    of_an_order = resources or (here and here.startswith("order:"))
    return order_step.status(situation, account) if of_an_order else Clarify(question=Question.WHAT_TO_DO)
