"""Words in, steps out: the rules of understanding and the next step together, as a customer meets them."""

from typing import Any

import pytest

from domain.account import Account
from domain.action import Action, ActionState, payload_of
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome, Clarify, HandOff, Propose, Question, Step, Topic, Withdraw
from domain.understanding import Intent, TurnContext
from language.understanding import RulesUnderstander
from policy.turn.next_step import next_step
from tests.policy import worlds as w

UNDERSTANDER = RulesUnderstander()
TWO = w.account(w.order("A-10001"), w.order("A-10002", captured=2000))
SUBS = w.account(w.subscription("sub_aaa111"), w.subscription("sub_bbb222"))
OPEN, SENT = w.action(), w.action(state=ActionState.SUBMITTED)
QUITTING = w.action(w.cancellation("sub_aaa111"))
AT_HOME = w.order("A-20001", "processing", address_id="adr_1")
BOOK = w.account(AT_HOME, w.address("adr_1", "Home"), w.address("adr_2", "Office"), w.address("adr_3", "Mum's flat"))
PLANS = w.account(w.subscription("sub_aaa111"), w.plan("Team", 2900), w.plan("Business"))
BY_PLAN = w.account(w.subscription("sub_aaa111"), w.subscription("sub_bbb222", plan="Business"))
WHICH_SUBSCRIPTION = TurnContext(intent=Intent.CANCEL_SUBSCRIPTION, question=Question.WHICH_SUBSCRIPTION, language="en")
LOCKED = w.account(w.profile())
WHICH_ADDRESS = TurnContext(
    intent=Intent.CHANGE_ADDRESS, question=Question.WHICH_ADDRESS, resource="order:A-20001", language="en"
)
REDIRECTING = w.action(
    payload_of(Propose(kind="change_delivery_address", resource="order:A-20001", address_id="adr_3"), BOOK, w.CUSTOMER)
)
REFUNDING = TurnContext(intent=Intent.REFUND_REQUEST, resource="order:A-10001")
ASKED = TurnContext(intent=Intent.DAMAGED_ITEM, question=Question.WHICH_ORDER)


def redirect(address: str, *supersedes: str) -> Propose:
    kind, order = "change_delivery_address", "order:A-20001"
    return Propose(kind=kind, resource=order, address_id=address, supersedes=supersedes)


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
        ("I cannot log in", TWO, None, None, Answer(topic=Topic.ACCOUNT_ACCESS)),
        ("I cannot log in", LOCKED, None, None,
         Propose(kind="restore_account_access", resource="account")),
        ("Please cancel my order A-20001", BOOK, None, None,
         Propose(kind="cancel_order", resource="order:A-20001", reason="no_longer_needed")),
        ("Please send my order to another address", BOOK, None, None,
         Clarify(question=Question.WHICH_ADDRESS, resource="order:A-20001")),
        ("office", BOOK, None, WHICH_ADDRESS, redirect("adr_2")),
        ("To my mum's flat please", BOOK, None, WHICH_ADDRESS, redirect("adr_3")),
        ("Is it going to rain?", BOOK, None, WHICH_ADDRESS, HandOff(reason=HandoffReason.UNDERSTANDING_FAILED)),
        ("Sorry, wrong one. I meant the office.", BOOK, REDIRECTING, WHICH_ADDRESS, redirect("adr_2", "op_1")),
        ("Please change the delivery address of order A-20001 to my office", BOOK, None, None, redirect("adr_2")),
        ("Please change the delivery address of A-20001 to 12 Main Street, Springfield", BOOK, None, None,
         Clarify(question=Question.WHICH_ADDRESS, resource="order:A-20001")),
        ("Ich möchte zum Business Tarif wechseln", PLANS, None, None,
         Propose(kind="change_plan", resource="subscription:sub_aaa111", plan="Business")),
        ("I want to change my plan", PLANS, None, None,
         Clarify(question=Question.WHICH_PLAN, resource="subscription:sub_aaa111")),
        ("the business one, please", BY_PLAN, None, WHICH_SUBSCRIPTION,
         Propose(kind="cancel_subscription", resource="subscription:sub_bbb222")),
        ("Team", BY_PLAN, None, WHICH_SUBSCRIPTION,
         Propose(kind="cancel_subscription", resource="subscription:sub_aaa111")),
        ("Is it going to rain?", BY_PLAN, None, WHICH_SUBSCRIPTION, HandOff(reason=HandoffReason.UNDERSTANDING_FAILED)),
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
