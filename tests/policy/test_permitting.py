"""What a step comes to by what the bot may: said, drafted for a person, or a person's."""

import pytest

from domain.action import ActionKind
from domain.handoff import HandoffReason
from domain.step import Answer, AwaitOutcome, Clarify, Confirm, HandOff, Propose, Question, Step, Topic, Withdraw
from policy.turn.permitting import Permitted, Rights, permitted

ALL = Rights(answers=True, drafts=True, proposes=True)
DRAFTS = Rights(answers=False, drafts=True, proposes=False)
NOTHING = Rights(answers=False, drafts=False, proposes=False)

ANSWER = Answer(topic=Topic.GREETING)
ASKS = Clarify(question=Question.WHICH_ORDER)
TAKES_BACK = Clarify(question=Question.WHICH_ORDER, supersedes=("op-1",))
WORDS: list[Step] = [ANSWER, ASKS]
DEEDS: list[Step] = [
    TAKES_BACK,
    Propose(kind=ActionKind.REFUND, resource="order:A-1"),
    Withdraw(operation_ids=("op-1",)),
    Confirm(operation_id="op-1", said_seq=1),
]
ANYWAY: list[Step] = [HandOff(reason=HandoffReason.HIGH_RISK), AwaitOutcome(operation_id="op-1")]
A_PERSON = Permitted(step=HandOff(reason=HandoffReason.POLICY_FORBIDS))


@pytest.mark.parametrize("step", [*WORDS, *DEEDS, *ANYWAY])
def test_who_may_all_takes_every_step_as_it_is(step: Step) -> None:
    assert permitted(step, ALL) == Permitted(step=step)


@pytest.mark.parametrize("rights", [ALL, DRAFTS, NOTHING])
@pytest.mark.parametrize("step", ANYWAY)
def test_a_handoff_and_a_wait_need_no_right(step: Step, rights: Rights) -> None:
    assert permitted(step, rights) == Permitted(step=step)


@pytest.mark.parametrize("step", WORDS)
def test_who_may_only_draft_drafts_what_is_words_alone(step: Step) -> None:
    assert permitted(step, DRAFTS) == Permitted(step=step, for_review=True)
    assert permitted(step, NOTHING) == A_PERSON


@pytest.mark.parametrize("rights", [DRAFTS, NOTHING])
@pytest.mark.parametrize("step", DEEDS)
def test_who_may_only_draft_does_nothing_else(step: Step, rights: Rights) -> None:
    assert permitted(step, rights) == A_PERSON


def test_who_may_answer_and_not_propose_leaves_the_proposal_to_a_person() -> None:
    assert permitted(DEEDS[1], ALL.model_copy(update={"proposes": False})) == A_PERSON
