"""What a decided step comes to where the bot may do less than decide it: a draft for a person, or a person.

Pure; which tools the bot may use was asked of the bundle in force before.
"""

from typing import assert_never

from domain.base import Noun
from domain.handoff import HandoffReason
from domain.step import Answer, AwaitOutcome, Clarify, Confirm, HandOff, Propose, Step, Withdraw


class Rights(Noun):
    """Which tools the bot may use for this step; `proposes`: with what would be at stake."""

    answers: bool
    drafts: bool
    proposes: bool


class Permitted(Noun):
    """The step that is taken; `for_review`: its reply is drafted, and a person lets it out."""

    step: Step
    for_review: bool = False


_A_PERSON = Permitted(step=HandOff(reason=HandoffReason.POLICY_FORBIDS))


def permitted(step: Step, rights: Rights) -> Permitted:
    """Return the step as far as the bot may take it.

    A draft is of words alone: where more than words would come of a turn, a person gets it.
    """
    match step:
        case HandOff() | AwaitOutcome():
            return Permitted(step=step)
        case Propose():
            return Permitted(step=step) if rights.proposes else _A_PERSON
        case Withdraw() | Confirm():
            return Permitted(step=step) if rights.answers else _A_PERSON
        case Answer() | Clarify():
            if rights.answers:
                return Permitted(step=step)
            takes_back = isinstance(step, Clarify) and bool(step.supersedes)
            return Permitted(step=step, for_review=True) if rights.drafts and not takes_back else _A_PERSON
        case _:
            assert_never(step)
