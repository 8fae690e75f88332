"""A question how something works is answered from an article, or by a person, and never by an action."""

from typing import Any

import pytest

from domain.account import Account
from domain.action import ActionState
from domain.handoff import HandoffReason as H
from domain.knowledge import PassageRef
from domain.step import Answer, HandOff, Step, Topic
from domain.understanding import Intent, RiskMark, TurnContext
from policy.turn.next_step import next_step
from tests.policy import worlds as w

I = Intent  # noqa: E741 — the table reads better so
ONE = w.account(w.order("A-10001"), w.profile())
MAYBE = PassageRef(slug="refunds", version=2, language="en", position=0, certain=False)
SURE = PassageRef(slug="refunds", version=2, language="en", position=1, certain=True)
TOLD = Answer(topic=Topic.KNOWLEDGE, passages=(SURE,))
OPEN = w.action()
STANDING = Answer(topic=Topic.ACTION_STATUS, operation_id="op_1")


@pytest.mark.parametrize(
    ("intent", "owned", "passages", "more", "step"),
    [
        (I.REFUND_REQUEST, ONE, (SURE, MAYBE), {}, TOLD),
        (I.REFUND_REQUEST, None, (SURE,), {}, TOLD),
        (I.OUT_OF_SCOPE, ONE, (SURE,), {"confidence": 0.3, "seeks_information": False}, TOLD),
        (I.OUT_OF_SCOPE, ONE, (SURE,), {"suspicious": True}, HandOff(reason=H.SUSPICIOUS)),
        (I.REFUND_REQUEST, ONE, (MAYBE,), {}, HandOff(reason=H.OUT_OF_SCOPE)),
        (I.REFUND_REQUEST, None, (), {}, HandOff(reason=H.OUT_OF_SCOPE)),
        (I.ORDER_STATUS, ONE, (), {}, Answer(topic=Topic.ORDER_STATUS, resource="order:A-10001")),
        (I.ORDER_STATUS, ONE, (SURE,), {}, TOLD),
        (I.ORDER_STATUS, ONE, (SURE,), {"mentions": ("A-10001",)},
         Answer(topic=Topic.ORDER_STATUS, resource="order:A-10001")),
        (I.ACTION_STATUS, ONE, (SURE,), {}, TOLD),
        (I.ACTION_STATUS, ONE, (SURE,), {"actions": (OPEN,)}, STANDING),
        (I.ACTION_STATUS, ONE, (SURE,), {"actions": (w.action(state=ActionState.CONFIRMED),)}, STANDING),
        (I.ORDER_STATUS, None, (), {}, Answer(topic=Topic.SIGN_IN)),
        (I.ACCOUNT_ACCESS, ONE, (), {}, Answer(topic=Topic.ACCOUNT_ACCESS)),
        (I.REFUND_REQUEST, ONE, (), {"actions": (OPEN,)}, STANDING),
        (I.REFUND_REQUEST, ONE, (), {"actions": (OPEN,), "context": TurnContext(intent=I.ACTION_STATUS)},
         HandOff(reason=H.OUT_OF_SCOPE)),
        (I.REFUND_REQUEST, ONE, (SURE,), {"asks_for_person": True}, HandOff(reason=H.HANDOFF_REQUESTED)),
        (I.REFUND_REQUEST, ONE, (SURE,), {"risks": (RiskMark.LEGAL,)}, HandOff(reason=H.HIGH_RISK)),
        (I.REFUND_REQUEST, ONE, (SURE,), {"risks": (RiskMark.CHARGEBACK,), "urgent": True}, TOLD),
    ],
)  # fmt: skip
def test_questions_are_told_from_articles_and_reads_or_go_to_a_person(
    intent: Intent, owned: Account | None, passages: tuple[PassageRef, ...], more: dict[str, Any], step: Step
) -> None:
    given = {"seeks_information": True, **more}
    mentions = given.pop("mentions", ())
    assert next_step(w.situation(intent, *mentions, owned=owned, passages=passages, **given)) == step


@pytest.mark.parametrize("mark", [m for m in RiskMark if m is not RiskMark.CHARGEBACK])
def test_what_needs_judgement_goes_to_a_person(mark: RiskMark) -> None:
    given = w.situation(I.REFUND_REQUEST, "A-10001", owned=ONE, risks=(mark,))
    assert next_step(given) == HandOff(reason=H.HIGH_RISK)
