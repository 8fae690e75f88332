"""Words in, steps out: the rules of understanding and the next step together, as a customer meets them."""

from typing import Any

import pytest

from domain.account import Account
from domain.action import Action, ActionState
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome, Clarify, HandOff, Propose, Question, Step, Topic, Withdraw
from domain.understanding import Intent, TurnContext
from language.understanding import RulesUnderstander
from policy.next_step import next_step
from tests.policy import worlds as w

UNDERSTANDER = RulesUnderstander()
TWO = w.account(w.order("A-10001"), w.order("A-10002", captured=2000))
SUBS = w.account(w.subscription("sub_aaa111"), w.subscription("sub_bbb222"))
OPEN, SENT = w.action(), w.action(state=ActionState.SUBMITTED)
QUITTING = w.action(w.cancellation("sub_aaa111"))
REFUNDING = TurnContext(intent=Intent.REFUND_REQUEST, resource="order:A-10001")
ASKED = TurnContext(intent=Intent.DAMAGED_ITEM, question=Question.WHICH_ORDER)


def refund(ident: str, amount: int, *supersedes: str) -> dict[str, Any]:
    return {"resource": f"order:{ident}", "amount_minor": amount, "currency": "EUR", "supersedes": supersedes}


@pytest.mark.parametrize(
    ("text", "owned", "action", "context", "expected"),
    [
        ("Hi, where is my order A-10002?", TWO, None, None, Answer(topic=Topic.ORDER_STATUS, resource="order:A-10002")),
        ("My order A-10001 arrived damaged. Please refund it.", TWO, None, None,
         Propose(kind="refund", **refund("A-10001", 3000))),
        ("Sorry, wrong one. I meant order A-10002.", TWO, OPEN, REFUNDING,
         Propose(kind="refund", **refund("A-10002", 2000, "op_1"))),
        ("Sorry, wrong one. I meant order A-10002.", TWO, SENT, REFUNDING, AwaitOutcome(operation_id="op_1")),
        ("Please refund order A-55555, it is broken.", TWO, OPEN, REFUNDING, Clarify(question=Question.UNKNOWN_ORDER)),
        ("I want to talk to a person, please.", TWO, OPEN, REFUNDING, HandOff(reason=HandoffReason.HANDOFF_REQUESTED)),
        ("Any news about A-10001?", TWO, SENT, REFUNDING, Answer(topic=Topic.ACTION_STATUS, operation_id="op_1")),
        ("Yes please", TWO, OPEN, REFUNDING, Answer(topic=Topic.CONFIRM_WITH_BUTTON, operation_id="op_1")),
        ("No, forget it", TWO, OPEN, REFUNDING, Withdraw(operation_ids=("op_1",))),
        ("A-10002", TWO, None, ASKED, Propose(kind="refund", **refund("A-10002", 2000))),
        ("Use the other subscription", SUBS, QUITTING, TurnContext(intent=Intent.CANCEL_SUBSCRIPTION),
         Propose(kind="cancel_subscription", resource="subscription:sub_bbb222", supersedes=("op_1",))),
        ("Meine Bestellung A-10002 kam kaputt an.", TWO, None, None, Propose(kind="refund", **refund("A-10002", 2000))),
        ("Where is my order A-10002?", None, None, None, Answer(topic=Topic.SIGN_IN)),
        ("I cannot log in", None, None, None, Answer(topic=Topic.ACCOUNT_ACCESS)),
        ("Hello!", TWO, None, None, Answer(topic=Topic.GREETING)),
    ],
)  # fmt: skip
def test_what_is_said_leads_to_the_step_that_is_meant(
    text: str, owned: Account | None, action: Action | None, context: TurnContext | None, expected: Step
) -> None:
    heard = UNDERSTANDER.understand([text], context or TurnContext())
    given = Situation(
        understanding=heard,
        context=context or TurnContext(),
        account=owned,
        actions=(action,) if action else (),
    )
    assert next_step(given) == expected
