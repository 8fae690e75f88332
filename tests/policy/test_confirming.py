"""Laws of a "yes" in words, as the next step sees it: it confirms what it may, and only where nothing is beside it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.situation import Situation
from domain.step import Answer, Confirm, Topic
from domain.understanding import Intent, TurnContext
from policy.turn.next_step import PLAIN_YES_MIN, next_step
from tests.policy import worlds as w
from tests.policy.test_next_step import OPEN, TWO

YES = Confirm(operation_id="op_1", said_seq=3)
BUTTON = Answer(topic=Topic.CONFIRM_WITH_BUTTON, operation_id="op_1")


def said(confirmable: Confirm | None = YES, intent: Intent = Intent.AFFIRMATION, **more: Any) -> Situation:
    turn = w.situation(intent, owned=TWO, actions=(OPEN,), **more)
    return turn.model_copy(update={"confirmable": confirmable})


def test_a_plain_yes_confirms_what_it_may_confirm() -> None:
    assert next_step(said()) == YES
    assert next_step(said(confidence=PLAIN_YES_MIN)) == YES
    assert next_step(said(None)) == BUTTON


@pytest.mark.parametrize(
    "more",
    [{"confidence": PLAIN_YES_MIN - 0.01}, {"route": "model"}, {"suspicious": True}, {"corrects": True}],
    ids=str,
)
def test_a_yes_that_is_not_sure_or_not_alone_is_pointed_to_the_button(more: dict[str, Any]) -> None:
    assert next_step(said(**more)) == BUTTON


@given(
    st.sampled_from(sorted(Intent)),
    st.booleans(),
    st.booleans(),
    st.floats(0, 1),
    st.sampled_from([TurnContext(), TurnContext(intent=Intent.REFUND_REQUEST, resource="order:A-10001")]),
)
def test_nothing_but_a_sure_affirmation_ever_confirms(
    intent: Intent, corrects: bool, suspicious: bool, confidence: float, context: TurnContext
) -> None:
    turn = said(intent=intent, corrects=corrects, suspicious=suspicious, confidence=confidence, context=context)
    if isinstance(next_step(turn), Confirm):
        assert (intent, corrects, suspicious) == (Intent.AFFIRMATION, False, False)
        assert confidence >= PLAIN_YES_MIN
