"""The branch for questions: how something works is answered from an article, or by a person, and never by an action.

Pure; which passages there are and whether one is certain was found before.
"""

from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, Clarify, HandOff, Step, Topic
from domain.understanding import Intent, Understanding
from policy.turn import open_actions
from policy.turn.mentions import resources_named

READS = frozenset({Intent.ORDER_STATUS, Intent.ACTION_STATUS})  # what is told and changes nothing


def may_be_answered(told: Understanding) -> bool:
    """Return whether a search of the articles may have the answer: a question, or nothing that is done or read here."""
    return told.seeks_information or told.intent in (Intent.OUT_OF_SCOPE, Intent.THANKS_GREETING)


def known(situation: Situation) -> Answer | None:
    """Return the answer from an article to what asks how something works, or is no need that is known; else None.

    A question about the customer's own order is answered from the order, one how a request stands from the ledger.
    """
    told = situation.understanding
    certain = tuple(p for p in situation.passages if p.certain)
    own = situation.account is not None and bool(resources_named(told.mentions, situation.account))
    asked_for = told.intent is Intent.ACTION_STATUS and bool(situation.actions)
    if not certain or (told.intent in READS and own) or asked_for:
        return None
    asks = told.seeks_information and (told.intent.is_need or told.intent is Intent.THANKS_GREETING)
    return Answer(topic=Topic.KNOWLEDGE, passages=certain) if asks or told.intent is Intent.OUT_OF_SCOPE else None


def told_not_done(step: Step, situation: Situation) -> Step:
    """Return the step of a question that no article answers: what a read comes to, else how things stand, or a person.

    INVARIANT: a question how something works proposes nothing.
    """
    told = situation.understanding
    if not (told.seeks_information and told.intent.is_need):
        return step
    if told.intent in READS and isinstance(step, Answer | Clarify):
        return step
    if told.intent is Intent.ACCOUNT_ACCESS:
        return Answer(topic=Topic.ACCOUNT_ACCESS)
    action = open_actions.standing(situation)
    if action is not None and situation.context.intent is not Intent.ACTION_STATUS:
        return Answer(topic=Topic.ACTION_STATUS, operation_id=action.operation_id)
    return HandOff(reason=HandoffReason.OUT_OF_SCOPE)
