"""What a turn means in its conversation: follow-ups, corrections, positions and several needs put as if said outright.

Pure; it rewrites the understanding, never the facts, and what it cannot resolve it leaves as it was said.
"""

from domain.account import Account
from domain.base import Noun
from domain.catalogue.kinds import ActionKind
from domain.situation import Situation
from domain.step import Question
from domain.understanding import Intent, Need, Understanding
from policy.turn import open_actions
from policy.turn.mentions import addresses_named, is_id, named_in, plans_named, resources_named
from policy.turn.needs import MONEY_BACK, sort_needs
from policy.turn.pointing import pointed, points_at
from policy.turn.wished_amount import amount_named, names_amount, of_refund, with_amount

CONFIDENCE_MIN = 0.5
GUESSED_BELOW = 0.85  # by the classifier: an amount alone is taken for one matter of money or another
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


class Heard(Noun):
    """A turn as it is meant, about its first need alone; what was said beside it; whether what waited is dropped."""

    situation: Situation
    others: tuple[Need, ...] = ()
    drops_waiting: bool = False


def hear(situation: Situation) -> Heard:
    """Return what the turn means in its conversation."""
    told = sort_needs(pointed(situation))
    meant = _about_what_is_open(_corrected(_continued(_taken_up(told.situation))))
    return Heard(situation=meant, others=told.others, drops_waiting=_declined(meant))


def _declined(situation: Situation) -> bool:
    """A "no" while nothing is open, neither an action nor a question, is about what waits."""
    refuses = situation.understanding.intent is Intent.REFUSAL
    return refuses and situation.context.question is None and open_actions.standing(situation) is None


def _taken_up(situation: Situation) -> Situation:
    """A "yes" while nothing else is open goes on with what waits longest."""
    context, told = situation.context, situation.understanding
    free = context.question is None and open_actions.standing(situation) is None
    if told.intent is not Intent.AFFIRMATION or not (free and context.waiting):
        return situation
    need = context.waiting[0]
    about = context.model_copy(update={"resource": need.resource or context.resource, "amount": need.amount})
    heard = with_amount(told, need.amount).model_copy(update={"seeks_information": need.information})
    return _meaning(situation.model_copy(update={"context": about, "understanding": heard}), need.intent)


def _continued(situation: Situation) -> Situation:
    """A follow-up that only names what was asked for takes up the intent that asked for it, and its amount."""
    context, told = situation.context, situation.understanding
    if context.intent in CHATTER or not _names_what_was_asked(situation):
        return situation
    guessed = told.intent in WEAK or told.confidence < CONFIDENCE_MIN or _is_amount_alone(told)
    vague = guessed or _answers_by_position(situation)
    if not vague and told.intent is not context.intent:
        return situation
    answer = with_amount(told, context.amount).model_copy(update={"seeks_information": False})
    instead = told.intent is Intent.REFUSAL and context.question is None  # of what was answered or proposed
    corrects = told.corrects or instead
    return _meaning(situation.model_copy(update={"understanding": answer}), context.intent, corrects=corrects)


def _answers_by_position(situation: Situation) -> bool:
    """A position in a list is the answer, with a "no" or a "sorry" before it too; "not the first" takes nothing up."""
    told = situation.understanding
    if told.intent.is_need or not points_at(situation):
        return False
    return situation.context.question is not None or (told.intent is Intent.REFUSAL and _names_another(situation))


def _names_another(situation: Situation) -> bool:
    """Whether something is named, and not what stands open or was spoken of last."""
    told, action = situation.understanding, open_actions.standing(situation)
    here = action.payload.resource if action else situation.context.resource
    return bool(told.mentions) and here not in resources_named(told.mentions, situation.account or Account())


def _is_amount_alone(told: Understanding) -> bool:
    """Whether it is no more than an amount, with a word about what stands, or with a need that is only guessed."""
    guessed = told.route == "classifier" and told.confidence < GUESSED_BELOW and told.intent in MONEY_BACK
    alone = not told.mentions and not any(i.is_need for i in told.intents if i is not told.intent)
    return names_amount(told) and alone and (guessed or told.intent in CORRECTABLE)


def _names_what_was_asked(situation: Situation) -> bool:
    """Whether an id answers the question for one, a name that for a name, an amount that for one, a position a list."""
    told, account = situation.understanding, situation.account or Account()
    if points_at(situation) and bool(told.mentions):
        return True
    match situation.context.question:
        case Question.WHICH_PLAN | Question.WHICH_ADDRESS:
            named = (*plans_named(told.mentions, account), *addresses_named(told.mentions, account))
            return bool(named) or any(map(is_id, told.mentions))
        case Question.WHICH_SUBSCRIPTION:
            return any(map(is_id, told.mentions)) or bool(named_in(told.mentions, account).subscriptions)
        case Question.WHICH_ORDER | Question.UNKNOWN_ORDER:
            return bool(told.mentions)
        case Question.WHICH_AMOUNT:
            return names_amount(told)
        case _:
            return False


def _corrected(situation: Situation) -> Situation:
    """A correction means the same kind of thing as what it corrects: what stands open, else what was last wanted."""
    told, context = situation.understanding, situation.context
    renamed = told.corrects and (bool(told.mentions) or names_amount(told)) and told.intent in CORRECTABLE
    if told.intent is not Intent.CORRECTION and not renamed and not _names_another_amount(situation):
        return situation
    action = open_actions.standing(situation)
    last = context.intent if context.intent not in CHATTER else (context.goal.intent if context.goal else None)
    if action is None or (last is Intent.DUPLICATE_CHARGE and action.kind is ActionKind.REFUND):
        meant = last
    else:
        meant = INTENT_OF[action.kind]
    return _meaning(situation, meant, corrects=True)


def _names_another_amount(situation: Situation) -> bool:
    """Whether, while a refund stands, nothing but an amount is said, and not the one that stands."""
    told, action = situation.understanding, open_actions.standing(situation)
    return _is_amount_alone(told) and action is not None and of_refund(action, amount_named(told)) is False


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
