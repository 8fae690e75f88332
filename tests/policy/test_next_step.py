"""The next step as a table: who asks what, in which account and conversation, and what comes of it."""

from typing import Any

import pytest

from domain.account import Account
from domain.action import Action, ActionKind, ActionState, payload_of
from domain.handoff import HandoffReason as H
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome, Clarify, HandOff, Propose, Question, Step, Topic, Withdraw
from domain.understanding import Intent, TurnContext, Understanding
from policy.turn.hearing import INTENT_OF
from policy.turn.next_step import QUESTIONS_RUNNING_MAX, decide, next_step
from policy.turn.open_actions import settle
from tests.policy import worlds as w

A1, A2, A3 = w.order("A-10001"), w.order("A-10002", captured=2000), w.order("A-10003", "shipped", 1500)
BACK = w.order("A-10009", "refunded", 3000, refunded=3000)
TWO, ONE = w.account(A1, A2), w.account(A1)
S1, S2, S9 = w.subscription("sub_aaa111"), w.subscription("sub_bbb222"), w.subscription("sub_ccc999", "cancelled")
S, I = ActionState, Intent  # noqa: E741 — the tables read better so


def propose(order: str = "A-10001", amount: int = 3000, *supersedes: str) -> Propose:
    resource = order if ":" in order else f"order:{order}"
    return Propose(
        kind=ActionKind.REFUND, resource=resource, amount_minor=amount, currency="EUR", supersedes=supersedes
    )


def cancel(ident: str, *supersedes: str) -> Propose:
    return Propose(kind=ActionKind.CANCEL_SUBSCRIPTION, resource=f"subscription:{ident}", supersedes=supersedes)


def twice(payment: str, *supersedes: str) -> Propose:
    kind = ActionKind.REFUND_DUPLICATE_CHARGE
    return Propose(kind=kind, resource=f"payment:{payment}", supersedes=supersedes)


def call_off(order: str, *supersedes: str) -> Propose:
    kind, resource = ActionKind.CANCEL_ORDER, f"order:{order}"
    return Propose(kind=kind, resource=resource, reason="no_longer_needed", supersedes=supersedes)


def redirect(order: str, address: str, *supersedes: str) -> Propose:
    kind, resource = ActionKind.CHANGE_DELIVERY_ADDRESS, f"order:{order}"
    return Propose(kind=kind, resource=resource, address_id=address, supersedes=supersedes)


def move(subscription: str, plan: str, *supersedes: str) -> Propose:
    kind, resource = ActionKind.CHANGE_PLAN, f"subscription:{subscription}"
    return Propose(kind=kind, resource=resource, plan=plan, supersedes=supersedes)


def answer(topic: Topic, resource: str | None = None, op: str | None = None) -> Answer:
    return Answer(topic=topic, resource=resource, operation_id=op)


def status(ident: str) -> Answer:
    return answer(Topic.ORDER_STATUS, f"order:{ident}")


def about(intent: Intent | None = None, resource: str | None = None, question: Question | None = None) -> TurnContext:
    return TurnContext(intent=intent, resource=resource, question=question)


def ask(question: Question, *wrong: str, of: str | None = None) -> Clarify:
    return Clarify(question=question, supersedes=wrong, resource=of)


def hand(reason: H) -> HandOff:
    return HandOff(reason=reason)


def check(given: Situation, expected: Step) -> None:
    assert next_step(given) == expected


Row = tuple[str, Intent, tuple[str, ...], Account | None, dict[str, Any], Step]


def table(*rows: Row) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("intent", "mentions", "owned", "more", "expected"), [r[1:] for r in rows], ids=[r[0] for r in rows]
    )


@table(
    ("asked for in passing", I.ORDER_STATUS, ("A-10001",), ONE, {"asks_for_person": True}, hand(H.HANDOFF_REQUESTED)),
    ("asked for outright", I.ASKS_FOR_PERSON, (), ONE, {"confidence": 0.1}, hand(H.HANDOFF_REQUESTED)),
    ("asked for by a visitor", I.ASKS_FOR_PERSON, (), None, {}, hand(H.HANDOFF_REQUESTED)),
    ("suspicious and vague", I.OUT_OF_SCOPE, (), ONE, {"suspicious": True}, hand(H.SUSPICIOUS)),
    ("suspicious, unsure", I.REFUND_REQUEST, (), ONE, {"suspicious": True, "confidence": 0.4}, hand(H.SUSPICIOUS)),
    ("suspicious yet clear", I.ORDER_STATUS, ("A-10001",), ONE, {"suspicious": True}, status("A-10001")),
    ("out of scope", I.OUT_OF_SCOPE, (), ONE, {}, hand(H.OUT_OF_SCOPE)),
    ("not understood", I.OUT_OF_SCOPE, (), ONE, {"confidence": 0.3}, hand(H.UNDERSTANDING_FAILED)),
    ("hardly understood", I.REFUND_REQUEST, (), ONE, {"confidence": 0.49}, hand(H.UNDERSTANDING_FAILED)),
    ("cancelling an order that has left", I.CANCEL_ORDER, ("A-10001",), ONE, {}, hand(H.OUT_OF_SCOPE)),
    ("cancelling where nothing is left to cancel", I.CANCEL_ORDER, (), ONE, {}, hand(H.OUT_OF_SCOPE)),
    ("another plan, none on offer", I.CHANGE_PLAN, (), w.account(S1), {}, hand(H.OUT_OF_SCOPE)),
    ("another plan, no subscription", I.CHANGE_PLAN, (), w.account(w.plan()), {}, hand(H.OUT_OF_SCOPE)),
    ("another address, none on file", I.CHANGE_ADDRESS, (), ONE, {}, hand(H.OUT_OF_SCOPE)),
    (
        "another address for what has left",
        I.CHANGE_ADDRESS,
        ("A-10001", "Office"),
        w.account(A1, w.address()),
        {},
        hand(H.OUT_OF_SCOPE),
    ),
)
def test_people_get_what_no_bot_should_deal_with(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


@table(
    ("thanks", I.THANKS_GREETING, (), None, {}, answer(Topic.GREETING)),
    ("thanks, signed in", I.THANKS_GREETING, (), ONE, {}, answer(Topic.GREETING)),
    ("locked out", I.ACCOUNT_ACCESS, (), None, {}, answer(Topic.ACCOUNT_ACCESS)),
    ("locked out, signed in", I.ACCOUNT_ACCESS, (), ONE, {}, answer(Topic.ACCOUNT_ACCESS)),
    ("order", I.ORDER_STATUS, ("A-10001",), None, {}, answer(Topic.SIGN_IN)),
    ("refund", I.REFUND_REQUEST, (), None, {}, answer(Topic.SIGN_IN)),
    ("address", I.CHANGE_ADDRESS, (), None, {}, answer(Topic.SIGN_IN)),
    ("yes", I.AFFIRMATION, (), None, {}, ask(Question.WHAT_TO_DO)),
    ("no", I.REFUSAL, (), None, {}, ask(Question.WHAT_TO_DO)),
)
def test_visitors_are_asked_to_sign_in_for_what_needs_an_account(
    intent: Intent, mentions: tuple[str, ...], owned: Account | None, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


TRACKED = w.account(w.shipped_order(), A1, A2)


@table(
    ("named", I.ORDER_STATUS, ("A-10002",), TWO, {}, status("A-10002")),
    ("in other letters", I.ORDER_STATUS, ("a 10002",), TWO, {}, status("A-10002")),
    ("by its digits", I.ORDER_STATUS, ("10002",), TWO, {}, status("A-10002")),
    ("by its tracking code", I.ORDER_STATUS, ("cx123456789012",), TRACKED, {}, status("A-10482")),
    ("one of them known", I.ORDER_STATUS, ("ZZ-1", "A-10002"), TWO, {}, status("A-10002")),
    ("two of them", I.ORDER_STATUS, ("A-10001", "A-10002"), TWO, {}, answer(Topic.ORDERS_OVERVIEW)),
    ("two, corrected", I.ORDER_STATUS, ("A-10001", "A-10002"), TWO, {"corrects": True}, status("A-10002")),
    ("unknown", I.ORDER_STATUS, ("A-99999",), TWO, {}, ask(Question.UNKNOWN_ORDER)),
    ("unknown beats talked about", I.ORDER_STATUS, ("A-99999",), TWO, {"context": about(None, "order:A-10001")},
     ask(Question.UNKNOWN_ORDER)),
    ("talked about", I.ORDER_STATUS, (), TWO, {"context": about(None, "order:A-10001")}, status("A-10001")),
    ("talked about, not owned", I.ORDER_STATUS, (), ONE, {"context": about(None, "order:A-9")}, status("A-10001")),
    ("the only open one", I.ORDER_STATUS, (), w.account(A1, A2, A3), {}, status("A-10003")),
    ("the only one", I.ORDER_STATUS, (), ONE, {}, status("A-10001")),
    ("several", I.ORDER_STATUS, (), TWO, {}, answer(Topic.ORDERS_OVERVIEW)),
    ("none at all", I.ORDER_STATUS, (), w.account(), {}, answer(Topic.ORDERS_OVERVIEW)),
    ("too many", I.ORDER_STATUS, (), w.account(*(w.order(f"A-2000{i}") for i in range(6))), {},
     ask(Question.WHICH_ORDER)),
    ("a subscription instead", I.ORDER_STATUS, ("sub_aaa111",), w.account(A1, S1), {}, hand(H.OUT_OF_SCOPE)),
)  # fmt: skip
def test_order_status_tells_of_the_order_that_is_meant(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


CHARGE = w.payment("pay_solo", order_id="A-10001")


@table(
    ("named", I.DAMAGED_ITEM, ("A-10002",), TWO, {}, propose("A-10002", 2000)),
    ("by its payment", I.REFUND_REQUEST, ("pay_solo",), w.account(A1, A2, CHARGE), {}, propose()),
    ("partly refunded", I.REFUND_REQUEST, ("A-7",), w.account(w.order("A-7", captured=3000, refunded=1200)), {},
     propose("A-7", 1800)),
    ("named, not delivered: policy will say", I.REFUND_REQUEST, ("A-10003",), w.account(A1, A3), {},
     propose("A-10003", 1500)),
    ("all refunded", I.REFUND_REQUEST, ("A-10009",), w.account(A1, BACK), {},
     answer(Topic.NOTHING_TO_REFUND, "order:A-10009")),
    ("somebody else's", I.REFUND_REQUEST, ("A-99999",), ONE, {}, ask(Question.UNKNOWN_ORDER)),

    ("two named, corrected", I.REFUND_REQUEST, ("A-10001", "A-10002"), TWO, {"corrects": True},
     propose("A-10002", 2000)),
    ("talked about", I.REFUND_REQUEST, (), TWO, {"context": about(I.ORDER_STATUS, "order:A-10002")},
     propose("A-10002", 2000)),
    ("the only eligible one", I.DAMAGED_ITEM, (), w.account(A1, A3, BACK), {}, propose()),
    ("missing, and one on its way", I.MISSING_ITEM, (), w.account(A1, A3), {}, ask(Question.WHICH_ORDER)),
    ("missing, and only one on its way", I.MISSING_ITEM, (), w.account(A3, BACK), {}, propose("A-10003", 1500)),
    ("several eligible", I.REFUND_REQUEST, (), TWO, {}, ask(Question.WHICH_ORDER)),
    ("only one, refunded", I.REFUND_REQUEST, (), w.account(BACK), {},
     answer(Topic.NOTHING_TO_REFUND, "order:A-10009")),
    ("no order at all", I.REFUND_REQUEST, (), w.account(), {}, ask(Question.UNKNOWN_ORDER)),
    ("a subscription", I.REFUND_REQUEST, ("sub_aaa111",), w.account(A1, S1), {}, hand(H.OUT_OF_SCOPE)),
)  # fmt: skip
def test_refunds_are_proposed_for_the_one_order_that_is_meant(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


def twin(ident: str, hours_ago: float, **more: Any) -> Any:
    return w.payment(ident, 2900, hours_ago, **{"subscription_id": "sub_aaa111", **more})


SENT, WAIT = w.action(state=S.SUBMITTED), AwaitOutcome(operation_id="op_1")
TWICE = w.account(S1, S2, twin("pay_1", 10), twin("pay_2", 9.9))
TWICE_PAID = w.account(
    w.order(captured=6000), w.payment("pay_1", order_id="A-10001"), w.payment("pay_2", 3000, 9, order_id="A-10001")
)

TWICE_OPEN = w.action(payload_of(twice("pay_2"), TWICE_PAID, w.CUSTOMER), op="op_4")


@table(
    ("of a subscription: its later payment", I.DUPLICATE_CHARGE, (), TWICE, {}, twice("pay_2")),
    ("of an order: its later payment", I.DUPLICATE_CHARGE, (), TWICE_PAID, {}, twice("pay_2")),
    ("the order named", I.DUPLICATE_CHARGE, ("A-10001",), TWICE_PAID, {}, twice("pay_2")),
    ("the order named, its refund under way", I.DUPLICATE_CHARGE, ("A-10001",), TWICE_PAID, {"actions": (SENT,)}, WAIT),
    ("asked again", I.DUPLICATE_CHARGE, (), TWICE_PAID, {"actions": (TWICE_OPEN,)},
     answer(Topic.CONFIRM_WITH_BUTTON, op="op_4")),
    ("asked again, the order named", I.DUPLICATE_CHARGE, ("A-10001",), TWICE_PAID, {"actions": (TWICE_OPEN,)},
     answer(Topic.CONFIRM_WITH_BUTTON, op="op_4")),
    ("the subscription named", I.DUPLICATE_CHARGE, ("sub_aaa111",), TWICE, {}, twice("pay_2")),
    ("the other subscription named", I.DUPLICATE_CHARGE, ("sub_bbb222",), TWICE, {}, answer(Topic.NO_DUPLICATE_FOUND)),
    ("something unknown named", I.DUPLICATE_CHARGE, ("A-99999",), TWICE, {}, ask(Question.UNKNOWN_ORDER)),
    ("a month apart", I.DUPLICATE_CHARGE, (), w.account(S1, twin("pay_1", 720), twin("pay_2", 1)), {},
     answer(Topic.NO_DUPLICATE_FOUND)),
    ("one refunded", I.DUPLICATE_CHARGE, (),
     w.account(S1, twin("pay_1", 10, status="refunded", refunded_minor=2900), twin("pay_2", 9)), {},
     answer(Topic.NO_DUPLICATE_FOUND)),
    ("one failed", I.DUPLICATE_CHARGE, (), w.account(S1, twin("pay_1", 10, status="failed"), twin("pay_2", 9)), {},
     answer(Topic.NO_DUPLICATE_FOUND)),
    ("of two orders", I.DUPLICATE_CHARGE, (),
     w.account(A1, A2, *(w.payment(f"pay_{o.id}{n}", order_id=o.id) for o in (A1, A2) for n in (1, 2))), {},
     ask(Question.WHICH_ORDER)),
    ("of two subscriptions", I.DUPLICATE_CHARGE, (),
     w.account(S1, S2, *(w.payment(f"pay_{s.id}{n}", subscription_id=s.id) for s in (S1, S2) for n in (1, 2))), {},
     ask(Question.WHICH_SUBSCRIPTION)),
    ("of two, one talked about", I.DUPLICATE_CHARGE, (),
     w.account(S1, S2, *(w.payment(f"pay_{s.id}{n}", subscription_id=s.id) for s in (S1, S2) for n in (1, 2))),
     {"context": about(None, "subscription:sub_bbb222")}, twice("pay_sub_bbb2222")),
)  # fmt: skip
def test_a_double_charge_is_found_in_the_payments(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


SUBS = w.account(S1, S2, S9)


@table(
    ("named", I.CANCEL_SUBSCRIPTION, ("sub_bbb222",), SUBS, {}, cancel("sub_bbb222")),
    ("the only running one", I.CANCEL_SUBSCRIPTION, (), w.account(S1, S9), {}, cancel("sub_aaa111")),
    ("several", I.CANCEL_SUBSCRIPTION, (), SUBS, {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("talked about", I.CANCEL_SUBSCRIPTION, (), SUBS, {"context": about(None, "subscription:sub_bbb222")},
     cancel("sub_bbb222")),
    ("ended, named", I.CANCEL_SUBSCRIPTION, ("sub_ccc999",), SUBS, {},
     answer(Topic.ALREADY_CANCELLED, "subscription:sub_ccc999")),
    ("ended, the only one", I.CANCEL_SUBSCRIPTION, (), w.account(S9), {},
     answer(Topic.ALREADY_CANCELLED, "subscription:sub_ccc999")),
    ("somebody else's", I.CANCEL_SUBSCRIPTION, ("sub_zzz000",), SUBS, {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("an order", I.CANCEL_SUBSCRIPTION, ("A-10001",), w.account(A1, S1), {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("none at all", I.CANCEL_SUBSCRIPTION, (), w.account(), {}, answer(Topic.NO_SUBSCRIPTIONS)),
)  # fmt: skip
def test_a_cancellation_is_proposed_for_the_one_subscription_that_is_meant(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


OPEN, OTHER = w.action(), w.action(w.refund("order:A-10002", 2000), op="op_2", age_s=30)
STALE = w.action(w.refund(resource_version=0))
LOST = w.action(state=S.UNKNOWN)
DONE = w.action(state=S.CONFIRMED)
QUITTING = w.action(w.cancellation("sub_aaa111"), op="op_3")
BUTTON = answer(Topic.CONFIRM_WITH_BUTTON, op="op_1")
STANDING = answer(Topic.ACTION_STATUS, op="op_1")
REFUNDING = about(I.DAMAGED_ITEM, "order:A-10001")
HELD: dict[str, Any] = {"awaited_by_person": ("op_1",)}


@table(
    ("asked again", I.REFUND_REQUEST, ("A-10001",), TWO, {"actions": (OPEN,)}, BUTTON),
    ("asked again without naming", I.REFUND_REQUEST, (), TWO, {"actions": (OPEN,), "context": REFUNDING}, BUTTON),
    ("asked again, pressed already", I.REFUND_REQUEST, ("A-10001",), TWO,
     {"actions": (OPEN,), "confirmed_by_customer": ("op_1",)}, STANDING),
    ("the order has changed since", I.REFUND_REQUEST, ("A-10001",), TWO, {"actions": (STALE,)},
     propose("A-10001", 3000, "op_1")),
    ("another one named", I.REFUND_REQUEST, ("A-10002",), TWO, {"actions": (OPEN,)}, propose("A-10002", 2000, "op_1")),
    ("another one merely possible", I.REFUND_REQUEST, (), TWO,
     {"actions": (OPEN,), "context": about(None, "order:A-10002")}, BUTTON),
    ("another kind named", I.CANCEL_SUBSCRIPTION, ("sub_aaa111",), w.account(A1, S1), {"actions": (OPEN,)},
     cancel("sub_aaa111", "op_1")),
    ("under way", I.REFUND_REQUEST, ("A-10001",), TWO, {"actions": (SENT,)}, WAIT),
    ("unknown", I.REFUND_REQUEST, ("A-10001",), TWO, {"actions": (LOST,)}, WAIT),
    ("unknown, with a person", I.REFUND_REQUEST, ("A-10001",), TWO, {"actions": (LOST,), **HELD}, STANDING),
    ("another one under way", I.REFUND_REQUEST, ("A-10002",), TWO, {"actions": (SENT,)}, propose("A-10002", 2000)),
    ("done before", I.REFUND_REQUEST, ("A-10002",), TWO, {"actions": (DONE,)}, propose("A-10002", 2000)),
    ("a refund and a cancellation of one conversation", I.CANCEL_SUBSCRIPTION, (), w.account(A1, S1),
     {"actions": (QUITTING,)}, answer(Topic.CONFIRM_WITH_BUTTON, op="op_3")),
)  # fmt: skip
def test_a_wish_fits_what_the_conversation_has_begun(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


CORRECTING: dict[str, Any] = {"corrects": True, "actions": (OPEN,), "context": REFUNDING}


@table(
    ("another order", I.CORRECTION, ("A-10002",), TWO, CORRECTING, propose("A-10002", 2000, "op_1")),
    ("both orders named", I.CORRECTION, ("A-10002", "A-10001"), TWO, CORRECTING, propose("A-10002", 2000, "op_1")),
    ("the other one of two", I.CORRECTION, (), TWO, CORRECTING, propose("A-10002", 2000, "op_1")),
    ("which of the others", I.CORRECTION, (), w.account(A1, A2, w.order("A-10004")), CORRECTING,
     ask(Question.WHICH_ORDER, "op_1")),
    ("the same order", I.CORRECTION, ("A-10001",), TWO, CORRECTING, BUTTON),
    ("somebody else's order", I.CORRECTION, ("A-99999",), TWO, CORRECTING, ask(Question.UNKNOWN_ORDER, "op_1")),
    ("said as a new request", I.REFUND_REQUEST, ("A-10002",), TWO, CORRECTING, propose("A-10002", 2000, "op_1")),
    ("said as a yes", I.AFFIRMATION, ("A-10002",), TWO, CORRECTING, propose("A-10002", 2000, "op_1")),
    ("under way", I.CORRECTION, ("A-10002",), TWO, {**CORRECTING, "actions": (SENT,)}, WAIT),
    ("unknown", I.CORRECTION, ("A-10002",), TWO, {**CORRECTING, "actions": (LOST,)}, WAIT),
    ("unknown, with a person", I.CORRECTION, ("A-10002",), TWO, {**CORRECTING, "actions": (LOST,), **HELD}, STANDING),
    ("settled meanwhile", I.CORRECTION, ("A-10002",), TWO, {**CORRECTING, "actions": (DONE,)},
     propose("A-10002", 2000)),
    ("back again", I.CORRECTION, ("A-10001",), TWO, {**CORRECTING, "actions": (OTHER,)},
     propose("A-10001", 3000, "op_2")),
    ("an old one unknown, a new one open", I.CORRECTION, ("A-10003",), w.account(A1, A2, A3),
     {**CORRECTING, "actions": (LOST, OTHER)}, propose("A-10003", 1500, "op_2")),
    ("to what is unknown", I.CORRECTION, ("A-10001",), TWO, {**CORRECTING, "actions": (LOST, OTHER)}, WAIT),
    ("of a question", I.CORRECTION, ("A-10002",), TWO, {"context": about(I.ORDER_STATUS, "order:A-10001")},
     status("A-10002")),
    ("of nothing", I.CORRECTION, ("A-10002",), TWO, {}, ask(Question.WHAT_TO_DO)),
    ("of a greeting", I.CORRECTION, (), TWO, {"context": about(I.THANKS_GREETING)}, ask(Question.WHAT_TO_DO)),
    ("the other subscription", I.CORRECTION, (), SUBS, {"corrects": True, "actions": (QUITTING,)},
     cancel("sub_bbb222", "op_3")),
    ("another double charge", I.CORRECTION, ("sub_aaa111",), TWICE,
     {"actions": (w.action(w.refund("payment:pay_9", 2900)),), "context": about(I.DUPLICATE_CHARGE)},
     twice("pay_2", "op_1")),
)  # fmt: skip
def test_a_correction_supersedes_or_waits(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


P1, P2 = w.order("A-20001", "processing", address_id="adr_1"), w.order("A-20002", "processing", address_id="adr_1")
GONE = w.order("A-20009", "cancelled")
CALLING_OFF = w.action(payload_of(call_off("A-20001"), w.account(P1), w.CUSTOMER))


@table(
    ("named", I.CANCEL_ORDER, ("A-20002",), w.account(P1, P2), {}, call_off("A-20002")),
    ("the only one that has not left", I.CANCEL_ORDER, (), w.account(A1, P1, A3), {}, call_off("A-20001")),
    ("talked about", I.CANCEL_ORDER, (), w.account(P1, P2), {"context": about(None, "order:A-20002")},
     call_off("A-20002")),
    ("talked about, has left", I.CANCEL_ORDER, (), w.account(A3, P1), {"context": about(None, "order:A-10003")},
     hand(H.OUT_OF_SCOPE)),
    ("several", I.CANCEL_ORDER, (), w.account(P1, P2), {}, ask(Question.WHICH_ORDER)),
    ("two named", I.CANCEL_ORDER, ("A-20001", "A-20002"), w.account(P1, P2), {}, call_off("A-20001")),
    ("somebody else's", I.CANCEL_ORDER, ("A-99999",), w.account(P1), {}, ask(Question.UNKNOWN_ORDER)),
    ("a subscription", I.CANCEL_ORDER, ("sub_aaa111",), w.account(P1, S1), {}, hand(H.OUT_OF_SCOPE)),
    ("called off before", I.CANCEL_ORDER, ("A-20009",), w.account(P1, GONE), {}, status("A-20009")),
    ("asked again", I.CANCEL_ORDER, ("A-20001",), w.account(P1, P2), {"actions": (CALLING_OFF,)},
     answer(Topic.CONFIRM_WITH_BUTTON, op="op_1")),
    ("the other one", I.CORRECTION, (), w.account(P1, P2), {"actions": (CALLING_OFF,)}, call_off("A-20002", "op_1")),
    ("the other one, under way", I.CORRECTION, ("A-20002",), w.account(P1, P2),
     {"actions": (CALLING_OFF.model_copy(update={"state": S.SUBMITTED}),)}, AwaitOutcome(operation_id="op_1")),
)  # fmt: skip
def test_an_order_is_called_off_only_while_it_has_not_left(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


BOOK = (w.address("adr_1", "Home"), w.address("adr_2", "Office"), w.address("adr_3", "Parents' house"))
SHARED = (w.address("adr_1", "Home"), w.address("adr_2", "Office"), w.address("adr_3", "office"))
TO_BOOK = w.account(P1, *BOOK)
REDIRECTING = w.action(payload_of(redirect("A-20001", "adr_2"), TO_BOOK, w.CUSTOMER))
WHERE = ask(Question.WHICH_ADDRESS, of="order:A-20001")


@table(
    ("by its label", I.CHANGE_ADDRESS, ("office",), TO_BOOK, {}, redirect("A-20001", "adr_2")),
    ("by its label of two words", I.CHANGE_ADDRESS, ("parents house",), TO_BOOK, {}, redirect("A-20001", "adr_3")),
    ("by its id", I.CHANGE_ADDRESS, ("ADR_2", "A-20001"), TO_BOOK, {}, redirect("A-20001", "adr_2")),
    ("from where to where", I.CHANGE_ADDRESS, ("Home", "Office"), TO_BOOK, {}, redirect("A-20001", "adr_2")),
    ("none named, though one other is left", I.CHANGE_ADDRESS, ("A-20001",), w.account(P1, *BOOK[:2]), {}, WHERE),
    ("one that is not in the book", I.CHANGE_ADDRESS, ("Garage",), TO_BOOK, {}, WHERE),
    ("where it goes already", I.CHANGE_ADDRESS, ("Home",), TO_BOOK, {}, WHERE),
    ("two of them", I.CHANGE_ADDRESS, ("Office", "Parents' house"), TO_BOOK, {}, WHERE),
    ("a label that two share", I.CHANGE_ADDRESS, ("Office",), w.account(P1, *SHARED), {}, WHERE),
    ("of several orders", I.CHANGE_ADDRESS, ("Office",), w.account(P1, P2, *BOOK), {}, ask(Question.WHICH_ORDER)),
    ("of the order named", I.CHANGE_ADDRESS, ("A-20002", "Office"), w.account(P1, P2, *BOOK), {},
     redirect("A-20002", "adr_2")),
    ("of somebody else's order", I.CHANGE_ADDRESS, ("A-99999", "Office"), TO_BOOK, {}, ask(Question.UNKNOWN_ORDER)),
    ("the name alone, when asked", I.OUT_OF_SCOPE, ("Office",), w.account(P1, P2, *BOOK),
     {"context": about(I.CHANGE_ADDRESS, "order:A-20002", Question.WHICH_ADDRESS), "confidence": 0.2},
     redirect("A-20002", "adr_2")),
    ("something else, when asked", I.OUT_OF_SCOPE, ("weather",), TO_BOOK,
     {"context": about(I.CHANGE_ADDRESS, "order:A-20001", Question.WHICH_ADDRESS), "confidence": 0.2},
     hand(H.UNDERSTANDING_FAILED)),
    ("another address", I.CORRECTION, ("Parents' house",), w.account(P1, P2, *BOOK), {"actions": (REDIRECTING,)},
     redirect("A-20001", "adr_3", "op_1")),
    ("another order, the same address", I.CORRECTION, ("A-20002",), w.account(P1, P2, *BOOK),
     {"actions": (REDIRECTING,)}, redirect("A-20002", "adr_2", "op_1")),
)  # fmt: skip
def test_an_order_is_sent_elsewhere_only_to_an_address_of_the_book_that_is_named(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


OFFER = (w.plan("Team", 2900), w.plan("Business"), w.plan("Pro Plus", 19900))
ON_TEAM = w.account(S1, *OFFER)
BOTH = w.account(S1, w.subscription("sub_bbb222", plan="Starter"), *OFFER)
MOVING = w.action(payload_of(move("sub_aaa111", "Business"), ON_TEAM, w.CUSTOMER))
WHAT = ask(Question.WHICH_PLAN, of="subscription:sub_aaa111")


@table(
    ("named", I.CHANGE_PLAN, ("business",), ON_TEAM, {}, move("sub_aaa111", "Business")),
    ("named in two words", I.CHANGE_PLAN, ("pro plus",), ON_TEAM, {}, move("sub_aaa111", "Pro Plus")),
    ("from one to another", I.CHANGE_PLAN, ("Team", "Business"), BOTH, {}, move("sub_aaa111", "Business")),
    ("of the subscription named", I.CHANGE_PLAN, ("sub_bbb222", "Business"), BOTH, {}, move("sub_bbb222", "Business")),
    ("of the one talked about", I.CHANGE_PLAN, ("Business",), BOTH,
     {"context": about(None, "subscription:sub_bbb222")}, move("sub_bbb222", "Business")),
    ("none named", I.CHANGE_PLAN, (), ON_TEAM, {}, WHAT),
    ("one that is not offered", I.CHANGE_PLAN, ("Gold",), ON_TEAM, {}, WHAT),
    ("the one it has", I.CHANGE_PLAN, ("Team",), ON_TEAM, {}, WHAT),
    ("two of them", I.CHANGE_PLAN, ("Business", "Pro Plus"), ON_TEAM, {}, WHAT),
    ("of several subscriptions", I.CHANGE_PLAN, ("Business",), BOTH, {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("of several, the plan of one", I.CHANGE_PLAN, ("Team",), BOTH, {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("of somebody else's", I.CHANGE_PLAN, ("sub_zzz000", "Business"), ON_TEAM, {}, ask(Question.WHICH_SUBSCRIPTION)),
    ("of one that has ended", I.CHANGE_PLAN, ("Business",), w.account(S9, *OFFER), {},
     answer(Topic.ALREADY_CANCELLED, "subscription:sub_ccc999")),
    ("the name alone, when asked", I.OUT_OF_SCOPE, ("Business",), BOTH,
     {"context": about(I.CHANGE_PLAN, "subscription:sub_bbb222", Question.WHICH_PLAN), "confidence": 0.2},
     move("sub_bbb222", "Business")),
    ("another plan", I.CORRECTION, ("Pro Plus",), BOTH, {"actions": (MOVING,)}, move("sub_aaa111", "Pro Plus", "op_1")),
    ("another subscription, the same plan", I.CORRECTION, ("sub_bbb222",), BOTH, {"actions": (MOVING,)},
     move("sub_bbb222", "Business", "op_1")),
)  # fmt: skip
def test_a_plan_is_changed_only_to_one_on_offer_that_is_named(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


RESTORE = Propose(kind=ActionKind.RESTORE_ACCOUNT_ACCESS, resource="account")
ACCESS = answer(Topic.ACCOUNT_ACCESS)
RESTORING = w.action(payload_of(RESTORE, w.account(w.profile()), w.CUSTOMER))


@table(
    ("locked, verified", I.ACCOUNT_ACCESS, (), w.account(w.profile()), {}, RESTORE),
    ("locked, not verified", I.ACCOUNT_ACCESS, (), w.account(w.profile(verified=False)), {}, ACCESS),
    ("not locked", I.ACCOUNT_ACCESS, (), w.account(w.profile("ok")), {}, ACCESS),
    ("asked again", I.ACCOUNT_ACCESS, (), w.account(w.profile()), {"actions": (RESTORING,)},
     answer(Topic.CONFIRM_WITH_BUTTON, op="op_1")),
    ("under way", I.ACCOUNT_ACCESS, (), w.account(w.profile()),
     {"actions": (RESTORING.model_copy(update={"state": S.UNKNOWN}),)}, AwaitOutcome(operation_id="op_1")),
)  # fmt: skip
def test_access_is_restored_only_to_a_locked_account_with_a_verified_address(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


def test_a_correction_is_understood_of_every_kind_of_action() -> None:
    assert set(INTENT_OF) == set(ActionKind)


@pytest.mark.parametrize("wish", [move("sub_zzz000", "Business"), move("sub_aaa111", "Gold"), redirect("A-20001", "x")])
@pytest.mark.parametrize("actions", [(), (OPEN,)])
def test_what_cannot_be_proposed_after_all_goes_to_a_person(wish: Propose, actions: tuple[Action, ...]) -> None:
    given = w.situation(I.CHANGE_PLAN, owned=ON_TEAM, actions=actions)
    assert settle(wish, given, ON_TEAM, clear=True) == hand(H.OUT_OF_SCOPE)


ASKED = about(I.DAMAGED_ITEM, None, Question.WHICH_ORDER)


@table(
    ("a bare id", I.OUT_OF_SCOPE, ("A-10002",), TWO, {"context": ASKED, "confidence": 0.2}, propose("A-10002", 2000)),
    ("a bare id and thanks", I.THANKS_GREETING, ("A-10002",), TWO, {"context": ASKED}, propose("A-10002", 2000)),
    ("a bare id, unsure", I.ORDER_STATUS, ("A-10002",), TWO, {"context": ASKED, "confidence": 0.45},
     propose("A-10002", 2000)),
    ("an unknown id again", I.OUT_OF_SCOPE, ("A-9",), TWO, {"context": ASKED, "confidence": 0.2},
     ask(Question.UNKNOWN_ORDER)),
    ("another matter", I.ORDER_STATUS, ("A-10002",), TWO, {"context": ASKED}, status("A-10002")),
    ("a subscription", I.AFFIRMATION, ("sub_bbb222",), SUBS,
     {"context": about(I.CANCEL_SUBSCRIPTION, None, Question.WHICH_SUBSCRIPTION)}, cancel("sub_bbb222")),
    ("no id", I.OUT_OF_SCOPE, (), TWO, {"context": ASKED}, hand(H.OUT_OF_SCOPE)),
)  # fmt: skip
def test_a_follow_up_that_names_an_id_continues_what_was_asked(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


def begun_nothing(ident: str) -> Answer:
    return answer(Topic.NOTHING_BEGUN, f"order:{ident}")


def done(op: str) -> Answer:
    return answer(Topic.ACTION_STATUS, op=op)


@table(
    ("yes", I.AFFIRMATION, (), TWO, {"actions": (OPEN,)}, BUTTON),
    (
        "yes, pressed already",
        I.AFFIRMATION,
        (),
        TWO,
        {"actions": (OPEN,), "confirmed_by_customer": ("op_1",)},
        STANDING,
    ),
    ("yes, under way", I.AFFIRMATION, (), TWO, {"actions": (SENT,)}, STANDING),
    ("yes to nothing", I.AFFIRMATION, (), TWO, {"actions": (DONE,)}, ask(Question.WHAT_TO_DO)),
    ("no", I.REFUSAL, (), TWO, {"actions": (OTHER, OPEN, DONE)}, Withdraw(operation_ids=("op_1", "op_2"))),
    ("no, too late", I.REFUSAL, (), TWO, {"actions": (SENT,)}, WAIT),
    ("no, with a person", I.REFUSAL, (), TWO, {"actions": (LOST,), **HELD}, STANDING),
    ("no to nothing", I.REFUSAL, (), TWO, {}, ask(Question.WHAT_TO_DO)),
    ("is it done", I.ACTION_STATUS, (), TWO, {"actions": (OPEN, OTHER)}, done("op_2")),
    ("is that one done", I.ACTION_STATUS, ("A-10001",), TWO, {"actions": (OPEN, OTHER)}, done("op_1")),
    ("talked about", I.ACTION_STATUS, (), TWO, {"actions": (OPEN, OTHER), "context": REFUNDING}, done("op_1")),
    ("news of an order", I.ACTION_STATUS, ("A-10002",), TWO, {"actions": (OPEN,)}, begun_nothing("A-10002")),
    ("news of somebody else's", I.ACTION_STATUS, ("A-99999",), TWO, {"actions": (OPEN,)}, ask(Question.UNKNOWN_ORDER)),
    ("news of what was talked about", I.ACTION_STATUS, (), TWO, {"context": REFUNDING}, begun_nothing("A-10001")),
    ("news of nothing", I.ACTION_STATUS, (), TWO, {}, ask(Question.WHICH_ORDER)),
    ("news of nothing, without an order", I.ACTION_STATUS, (), w.account(), {}, ask(Question.WHAT_TO_DO)),
)
def test_yes_no_and_is_it_done_are_about_the_ledger(
    intent: Intent, mentions: tuple[str, ...], owned: Account, more: dict[str, Any], expected: Step
) -> None:
    check(w.situation(intent, *mentions, owned=owned, **more), expected)


@pytest.mark.parametrize(
    ("mention", "plans", "expected"),
    [
        ("Team", {"sub_aaa111": "Team", "sub_bbb222": "Business"}, cancel("sub_aaa111")),
        ("starter", {"sub_aaa111": "Starter"}, cancel("sub_aaa111")),
        ("Prime", {"sub_aaa111": "Team"}, ask(Question.WHICH_SUBSCRIPTION)),
        ("Team", {"sub_aaa111": "Team", "sub_bbb222": "Team"}, ask(Question.WHICH_SUBSCRIPTION)),
    ],
)
def test_a_plan_names_the_one_subscription_that_has_it_and_never_another(
    mention: str, plans: dict[str, str], expected: Step
) -> None:
    owned = w.account(*(w.subscription(ident, plan=plan) for ident, plan in plans.items()))
    check(w.situation(I.CANCEL_SUBSCRIPTION, mention, owned=owned), expected)


def test_a_turn_that_is_not_understood_asks_once_how_an_open_action_stands() -> None:
    open_action = w.action(w.refund(), op="op_1")
    unclear = w.situation(I.OUT_OF_SCOPE, owned=ONE, actions=(open_action,), confidence=0.3)
    check(unclear, answer(Topic.ACTION_STATUS, op="op_1"))
    check(unclear.model_copy(update={"context": about(I.ACTION_STATUS)}), hand(H.UNDERSTANDING_FAILED))


@pytest.mark.parametrize("running", range(6))
def test_nobody_is_asked_for_ever(running: int) -> None:
    context = TurnContext(intent=I.REFUND_REQUEST, question=Question.UNKNOWN_ORDER, asked_running=running)
    told = Understanding(intent=I.REFUND_REQUEST, language="en", mentions=("A-99999",))
    decided = decide(Situation(understanding=told, context=context, account=ONE))
    if running < QUESTIONS_RUNNING_MAX:
        assert isinstance(decided.step, Clarify)
        assert decided.asked_running == running + 1
    else:
        assert decided.step == hand(H.UNDERSTANDING_FAILED)


def test_who_cannot_say_what_to_do_is_asked_once() -> None:
    told = Understanding(intent=I.CORRECTION, language="en")
    asked = TurnContext(question=Question.WHAT_TO_DO, asked_running=1)
    assert isinstance(next_step(Situation(understanding=told, context=TurnContext(), account=ONE)), Clarify)
    assert next_step(Situation(understanding=told, context=asked, account=ONE)) == hand(H.UNDERSTANDING_FAILED)


def test_a_greeting_between_two_questions_brings_nothing_either() -> None:
    hello = Understanding(intent=I.THANKS_GREETING, language="en")
    context = TurnContext(question=Question.WHICH_ORDER, asked_running=2)
    assert decide(Situation(understanding=hello, context=context, account=ONE)).asked_running == 2
