"""Several needs, positions and amounts as tables: what is dealt with now, what waits, and what is never guessed."""

from typing import Any

import pytest

from domain.account import Account
from domain.action import ActionKind
from domain.handoff import HandoffReason
from domain.step import Answer, Clarify, Confirm, HandOff, Propose, Question, Step, Topic, Withdraw
from domain.understanding import Entity, EntityKind, Intent, Need, RiskMark, TurnContext
from policy.turn.next_step import decide
from tests.policy import worlds as w

I, Q = Intent, Question  # noqa: E741 — the tables read better so
SHOP = w.account(
    w.order("A-10001"),
    w.order("A-10002", captured=2000),
    w.order("A-20001", "processing", address_id="adr_1"),
    w.subscription("sub_aaa111"),
    w.address("adr_1", "Home"),
    w.address("adr_2", "Office"),
)
TWO = w.account(w.order("A-10001"), w.order("A-10002", captured=2000))
OPEN = w.action()


def refund(order: str = "A-10001", amount: int = 3000, *supersedes: str) -> Propose:
    thing = f"order:{order}"
    return Propose(kind=ActionKind.REFUND, resource=thing, amount_minor=amount, currency="EUR", supersedes=supersedes)


def status(order: str, *then: Intent) -> Answer:
    return Answer(topic=Topic.ORDER_STATUS, resource=f"order:{order}", next_intents=then)


def which(*then: Intent) -> Clarify:
    return Clarify(question=Q.WHICH_ORDER, next_intents=then)


def need(intent: Intent, resource: str | None = None, amount: str | None = None) -> Need:
    return Need(
        intent=intent, resource=f"order:{resource}" if resource and ":" not in resource else resource, amount=amount
    )


def amount(value: str) -> Entity:
    return Entity(kind=EntityKind.AMOUNT, value=value, words=value)


def at(position: int) -> Entity:
    return Entity(kind=EntityKind.POSITION, value=str(position), words="the one")


@pytest.mark.parametrize(
    ("intents", "mentions", "more", "step", "waiting"),
    [
        ((I.ORDER_STATUS, I.CANCEL_SUBSCRIPTION), ("A-10001",), {}, status("A-10001", I.CANCEL_SUBSCRIPTION),
         (need(I.CANCEL_SUBSCRIPTION),)),
        ((I.REFUND_REQUEST, I.CHANGE_ADDRESS), ("A-10001", "A-20001"), {}, refund(),
         (need(I.CHANGE_ADDRESS, "A-20001"),)),
        ((I.REFUND_REQUEST, I.ORDER_STATUS), ("A-10002",), {}, refund("A-10002", 2000),
         (need(I.ORDER_STATUS, "A-10002"),)),
        ((I.REFUND_REQUEST, I.CANCEL_SUBSCRIPTION), ("A-10001", "sub_aaa111"), {}, refund(),
         (need(I.CANCEL_SUBSCRIPTION, "subscription:sub_aaa111"),)),
        ((I.ORDER_STATUS, I.REFUND_REQUEST), ("A-20001", "A-10001"), {"entities": (amount("500 EUR"),)},
         status("A-20001", I.REFUND_REQUEST), (need(I.REFUND_REQUEST, "A-10001", "500 EUR"),)),
        ((I.DAMAGED_ITEM, I.REFUND_REQUEST), ("A-10001",), {}, refund(), ()),
        ((I.CANCEL_ORDER, I.REFUND_REQUEST), ("A-20001", "A-10001"), {},
         Propose(kind=ActionKind.CANCEL_ORDER, resource="order:A-20001", reason="no_longer_needed"),
         (need(I.REFUND_REQUEST, "A-10001"),)),
        ((I.REFUND_REQUEST, I.CANCEL_ORDER), ("A-20001",), {},
         Propose(kind=ActionKind.CANCEL_ORDER, resource="order:A-20001", reason="no_longer_needed"), ()),
        ((I.REFUND_REQUEST, I.CANCEL_ORDER), ("A-10001",), {}, refund(), ()),
        ((I.REFUND_REQUEST, I.CHANGE_ADDRESS), ("A-20001", "A-10001"), {}, refund(),
         (need(I.CHANGE_ADDRESS, "A-20001"),)),
        ((I.REFUND_REQUEST, I.ORDER_STATUS), ("A-10001", "A-10002"), {}, refund(), (need(I.ORDER_STATUS, "A-10002"),)),
        ((I.REFUND_REQUEST, I.CANCEL_ORDER), ("A-10002", "A-10001"), {}, refund("A-10002", 2000),
         (need(I.CANCEL_ORDER, "A-10001"),)),
        ((I.REFUND_REQUEST, I.ORDER_STATUS), ("A-10001", "A-10002"), {"route": "classifier"},
         which(I.ORDER_STATUS), (need(I.ORDER_STATUS),)),
        ((I.REFUND_REQUEST, I.ORDER_STATUS), ("A-10001", "A-10002", "A-20001"), {}, which(I.ORDER_STATUS),
         (need(I.ORDER_STATUS),)),
        ((I.REFUND_REQUEST,), ("A-10001", "A-10002"), {}, refund(), (need(I.REFUND_REQUEST, "A-10002"),)),
        ((I.REFUND_REQUEST,), ("A-10001", "A-10002"), {"entities": (amount("500 EUR"),)}, refund(amount=500),
         (need(I.REFUND_REQUEST, "A-10002", ""),)),
        ((I.ACTION_STATUS, I.REFUND_REQUEST), ("A-10001",), {},
         Answer(topic=Topic.NOTHING_BEGUN, resource="order:A-10001"), ()),
        ((I.ACTION_STATUS, I.REFUND_REQUEST), ("A-10001", "A-10002"), {},
         Answer(topic=Topic.NOTHING_BEGUN, resource="order:A-10001", next_intents=(I.REFUND_REQUEST,)),
         (need(I.REFUND_REQUEST, "A-10002"),)),
        ((I.CANCEL_SUBSCRIPTION, I.REFUND_REQUEST), ("A-10001",), {"owned": TWO},
         Answer(topic=Topic.NO_SUBSCRIPTIONS, next_intents=(I.REFUND_REQUEST,)),
         (need(I.REFUND_REQUEST, "A-10001"),)),
        ((I.THANKS_GREETING, I.ORDER_STATUS), ("A-10001",), {}, status("A-10001"), ()),
        ((I.ORDER_STATUS, I.OUT_OF_SCOPE), ("A-10001",), {}, status("A-10001", I.OUT_OF_SCOPE),
         (need(I.OUT_OF_SCOPE, "A-10001"),)),
        ((I.ORDER_STATUS, I.ASKS_FOR_PERSON), ("A-10001",), {}, HandOff(reason=HandoffReason.HANDOFF_REQUESTED), ()),
        ((I.REFUND_REQUEST, I.CHANGE_ADDRESS), (), {}, which(I.CHANGE_ADDRESS), (need(I.CHANGE_ADDRESS),)),
        ((I.REFUSAL, I.ORDER_STATUS), ("A-10002",), {"actions": (OPEN,)}, Withdraw(operation_ids=("op_1",)),
         (need(I.ORDER_STATUS, "A-10002"),)),
    ],
)  # fmt: skip
def test_the_first_need_is_dealt_with_and_every_other_waits(
    intents: tuple[Intent, ...], mentions: tuple[str, ...], more: dict[str, Any], step: Step, waiting: tuple[Need, ...]
) -> None:
    decided = decide(w.situation(intents[0], *mentions, intents=intents, **{"owned": SHOP, **more}))
    assert (decided.step, decided.waiting) == (step, waiting)


WAITING = TurnContext(
    intent=I.ORDER_STATUS,
    resource="order:A-10001",
    waiting=(need(I.REFUND_REQUEST, "A-10002", "500 EUR"), need(I.CHANGE_ADDRESS)),
)


@pytest.mark.parametrize(
    ("intent", "more", "step", "waiting"),
    [
        (I.AFFIRMATION, {}, refund("A-10002", 500), WAITING.waiting[1:]),
        (I.AFFIRMATION, {"actions": (OPEN,)},
         Answer(topic=Topic.CONFIRM_WITH_BUTTON, operation_id="op_1",
                next_intents=(I.REFUND_REQUEST, I.CHANGE_ADDRESS)),
         WAITING.waiting),
        (I.REFUSAL, {}, Clarify(question=Q.WHAT_TO_DO), ()),
        (I.REFUSAL, {"actions": (OPEN,)}, Withdraw(operation_ids=("op_1",)), WAITING.waiting),
        (I.THANKS_GREETING, {}, Answer(topic=Topic.GREETING, next_intents=(I.REFUND_REQUEST, I.CHANGE_ADDRESS)),
         WAITING.waiting),
        (I.DAMAGED_ITEM, {}, refund(), WAITING.waiting),
        (I.DAMAGED_ITEM, {"mentions": ("A-10002",)}, refund("A-10002", 2000), WAITING.waiting[1:]),
        (I.REFUSAL, {"context": WAITING.model_copy(update={"question": Q.WHICH_ORDER})},
         Clarify(question=Q.WHAT_TO_DO, next_intents=(I.REFUND_REQUEST, I.CHANGE_ADDRESS)), WAITING.waiting),
        (I.OUT_OF_SCOPE, {"confidence": 0.2}, HandOff(reason=HandoffReason.UNDERSTANDING_FAILED), WAITING.waiting),
    ],
)  # fmt: skip
def test_what_waits_is_taken_up_by_a_yes_dropped_by_a_no_and_else_kept(
    intent: Intent, more: dict[str, Any], step: Step, waiting: tuple[Need, ...]
) -> None:
    mentions = more.pop("mentions", ())
    decided = decide(w.situation(intent, *mentions, owned=SHOP, **{"context": WAITING, **more}))
    assert (decided.step, decided.waiting) == (step, waiting)


def test_what_was_a_question_when_it_was_said_is_one_when_it_is_taken_up() -> None:
    asked = w.situation(
        I.ORDER_STATUS, "A-10001", intents=(I.ORDER_STATUS, I.REFUND_REQUEST), seeks_information=True, owned=TWO
    )
    waiting = decide(asked).waiting
    yes = w.situation(I.AFFIRMATION, owned=TWO, context=TurnContext(resource="order:A-10001", waiting=waiting))
    assert decide(yes).step == HandOff(reason=HandoffReason.OUT_OF_SCOPE)


PART = w.action(w.refund(amount=500))
HOW_MUCH = Clarify(question=Q.WHICH_AMOUNT, resource="order:A-10001")
ASKED_HOW_MUCH = TurnContext(intent=I.REFUND_REQUEST, resource="order:A-10001", question=Q.WHICH_AMOUNT)
GUESSED: dict[str, Any] = {"route": "classifier", "confidence": 0.8}


@pytest.mark.parametrize(
    ("intent", "mentions", "amounts", "more", "step"),
    [
        (I.REFUND_REQUEST, ("A-10001",), ("1200 EUR",), {}, refund(amount=1200)),
        (I.REFUND_REQUEST, ("A-10001",), ("1200 ",), {}, refund(amount=1200)),
        (I.REFUND_REQUEST, ("A-10001",), ("9900 EUR",), {}, refund()),
        (I.REFUND_REQUEST, ("A-10001",), ("1200 USD",), {}, Clarify(question=Q.WHICH_AMOUNT, resource="order:A-10001")),
        (I.REFUND_REQUEST, ("A-10001",), ("1200 EUR", "3000 EUR"), {},
         Clarify(question=Q.WHICH_AMOUNT, resource="order:A-10001")),
        (I.REFUND_REQUEST, ("A-10001",), ("1200 EUR", "1200 EUR"), {}, refund(amount=1200)),
        (I.REFUND_REQUEST, ("A-10001",), ("",), {}, HOW_MUCH),
        (I.REFUND_REQUEST, ("A-10001",), ("1200 EUR", ""), {}, HOW_MUCH),
        (I.REFUND_REQUEST, ("A-10001",), ("half",), {}, HOW_MUCH),
        (I.REFUND_REQUEST, ("A-10002",), (),
         {"context": TurnContext(intent=I.REFUND_REQUEST, question=Q.WHICH_ORDER, amount="")},
         Clarify(question=Q.WHICH_AMOUNT, resource="order:A-10002")),
        (I.AFFIRMATION, (), (),
         {"context": TurnContext(waiting=(need(I.REFUND_REQUEST, "A-10001", ""),))}, HOW_MUCH),
        (I.DUPLICATE_CHARGE, (), ("800 EUR",), {"context": ASKED_HOW_MUCH, **GUESSED}, refund(amount=800)),
        (I.OUT_OF_SCOPE, (), ("",), {"context": ASKED_HOW_MUCH, "confidence": 0.2}, HOW_MUCH),
        (I.REFUSAL, (), ("650 EUR",), {"actions": (PART,)}, refund("A-10001", 650, "op_1")),
        (I.REFUSAL, (), ("500 EUR",), {"actions": (PART,)}, Withdraw(operation_ids=("op_1",))),
        (I.REFUSAL, (), ("",), {"actions": (PART,)}, HOW_MUCH.model_copy(update={"supersedes": ("op_1",)})),
        (I.REFUSAL, (), ("2900 EUR",), {"actions": (w.action(w.cancellation("sub_aaa111")),)},
         Withdraw(operation_ids=("op_1",))),
        (I.OUT_OF_SCOPE, (), ("700 EUR",), {"actions": (PART,)}, refund("A-10001", 700, "op_1")),
        (I.AFFIRMATION, (), ("700 EUR",), {"actions": (PART,)}, refund("A-10001", 700, "op_1")),
        (I.AFFIRMATION, (), ("500 EUR",), {"actions": (PART,)},
         Answer(topic=Topic.CONFIRM_WITH_BUTTON, operation_id="op_1")),
        (I.DUPLICATE_CHARGE, (), ("700 EUR",), {"actions": (PART,), **GUESSED}, refund("A-10001", 700, "op_1")),
        (I.REFUND_REQUEST, ("A-10001",), (), {"actions": (PART,)},
         Answer(topic=Topic.CONFIRM_WITH_BUTTON, operation_id="op_1")),
        (I.REFUND_REQUEST, ("A-10001",), ("800 EUR",), {"actions": (PART,)}, refund("A-10001", 800, "op_1")),
        (I.CORRECTION, (), ("800 EUR",), {"actions": (OPEN,), "corrects": True}, refund("A-10001", 800, "op_1")),
        (I.AFFIRMATION, (), ("800 EUR",), {"actions": (OPEN,), "corrects": True}, refund("A-10001", 800, "op_1")),
        (I.CORRECTION, ("A-10002",), (), {"actions": (PART,), "corrects": True}, refund("A-10002", 2000, "op_1")),
        (I.OUT_OF_SCOPE, (), ("800 EUR",),
         {"context": TurnContext(intent=I.REFUND_REQUEST, resource="order:A-10001", question=Q.WHICH_AMOUNT),
          "confidence": 0.2}, refund(amount=800)),
        (I.REFUND_REQUEST, ("A-10002",), (),
         {"context": TurnContext(intent=I.REFUND_REQUEST, question=Q.WHICH_ORDER, amount="800 EUR")},
         refund("A-10002", 800)),
    ],
)  # fmt: skip
def test_as_much_is_proposed_as_was_named_and_what_is_unclear_is_asked(
    intent: Intent, mentions: tuple[str, ...], amounts: tuple[str, ...], more: dict[str, Any], step: Step
) -> None:
    named = tuple(map(amount, amounts))
    assert decide(w.situation(intent, *mentions, owned=TWO, entities=named, **more)).step == step


@pytest.mark.parametrize(("named", "kept"), [(("800 EUR",), "800 EUR"), (("",), ""), (("800 EUR", "900 EUR"), "")])
def test_an_amount_outlives_the_question_which_order(named: tuple[str, ...], kept: str) -> None:
    asked = decide(w.situation(I.REFUND_REQUEST, owned=TWO, entities=tuple(map(amount, named))))
    assert (asked.step, asked.amount) == (Clarify(question=Q.WHICH_ORDER), kept)


SHOWN = TurnContext(intent=I.REFUND_REQUEST, question=Q.WHICH_ORDER, offered=("order:A-10002", "order:A-10001"))
SPOKEN_OF = TurnContext(
    intent=I.THANKS_GREETING, goal=need(I.ORDER_STATUS, "A-10001"), named=("order:A-10002", "order:A-10001")
)
SUBS = w.account(w.subscription("sub_aaa111"), w.subscription("sub_bbb222", plan="Business"))
QUITTING = TurnContext(intent=I.CANCEL_SUBSCRIPTION, question=Q.WHICH_SUBSCRIPTION)


@pytest.mark.parametrize(
    ("intent", "entity", "owned", "context", "step"),
    [
        (I.OUT_OF_SCOPE, at(1), TWO, SHOWN, refund("A-10002", 2000)),
        (I.REFUND_REQUEST, at(2), TWO, SHOWN, refund()),
        (I.AFFIRMATION, at(-1), TWO, SHOWN, refund()),
        (I.REFUSAL, at(-1), TWO, SHOWN, refund()),
        (I.OUT_OF_SCOPE, at(3), TWO, SHOWN, Clarify(question=Q.UNKNOWN_ORDER)),
        (I.OUT_OF_SCOPE, at(1), w.account(w.order("A-10001")), SHOWN, Clarify(question=Q.UNKNOWN_ORDER)),
        (I.OUT_OF_SCOPE, at(2), TWO, SHOWN.model_copy(update={"intent": I.ORDER_STATUS, "question": None}),
         status("A-10001")),
        (I.CORRECTION, at(1), TWO, SPOKEN_OF, status("A-10002")),
        (I.REFUND_REQUEST, at(1), TWO, SPOKEN_OF, Clarify(question=Q.WHICH_ORDER)),
        (I.OUT_OF_SCOPE, at(1), TWO, TurnContext(), HandOff(reason=HandoffReason.UNDERSTANDING_FAILED)),
        (I.OUT_OF_SCOPE, Entity(kind=EntityKind.PLAN, value="business", words="business"), SUBS, QUITTING,
         Propose(kind=ActionKind.CANCEL_SUBSCRIPTION, resource="subscription:sub_bbb222")),
        (I.OUT_OF_SCOPE, Entity(kind=EntityKind.PLAN, value="weather", words="weather"), SUBS, QUITTING,
         HandOff(reason=HandoffReason.UNDERSTANDING_FAILED)),
    ],
)  # fmt: skip
def test_a_position_is_the_one_that_was_shown_and_a_list_that_was_not_shown_has_none(
    intent: Intent, entity: Entity, owned: Account, context: TurnContext, step: Step
) -> None:
    sure = 0.2 if intent is I.OUT_OF_SCOPE else 0.9
    corrects = intent is I.CORRECTION
    given = w.situation(intent, owned=owned, context=context, entities=(entity,), confidence=sure, corrects=corrects)
    assert decide(given).step == step


@pytest.mark.parametrize(
    ("intent", "position", "more", "step"),
    [
        (I.REFUSAL, 2, {"actions": (OPEN,)}, refund("A-10002", 2000, "op_1")),
        (I.REFUSAL, 1, {"actions": (OPEN,)}, Withdraw(operation_ids=("op_1",))),
        (I.CORRECTION, -1, {"actions": (OPEN,), "corrects": True}, refund("A-10002", 2000, "op_1")),
        (I.REFUSAL, 3, {"actions": (OPEN,)}, Clarify(question=Q.UNKNOWN_ORDER, supersedes=("op_1",))),
        (I.REFUSAL, 2, {"context": {"intent": I.ORDER_STATUS, "resource": "order:A-10001"}}, status("A-10002")),
        (I.OUT_OF_SCOPE, 2, {"context": {"intent": I.ORDER_STATUS, "resource": "order:A-10001"}}, status("A-10002")),
        (I.REFUSAL, 1, {"context": {"intent": I.ORDER_STATUS, "resource": "order:A-10001"}},
         Clarify(question=Q.WHAT_TO_DO)),
    ],
)  # fmt: skip
def test_a_list_is_pointed_at_again_while_its_matter_lasts(
    intent: Intent, position: int, more: dict[str, Any], step: Step
) -> None:
    listed = {"intent": I.REFUND_REQUEST, "offered": ("order:A-10001", "order:A-10002"), **more.pop("context", {})}
    given = {"confidence": 0.6, "entities": (at(position),), "context": TurnContext(**listed), **more}
    decided = decide(w.situation(intent, owned=TWO, **given))
    assert decided.step == step
    assert decided.offered == listed["offered"]


def test_a_list_is_forgotten_when_another_matter_begins() -> None:
    assert decide(w.situation(I.CANCEL_SUBSCRIPTION, owned=SUBS, context=SHOWN)).offered == ()


def test_a_correction_reaches_back_to_the_last_thing_that_was_wanted() -> None:
    context = TurnContext(intent=I.THANKS_GREETING, goal=need(I.REFUND_REQUEST, "A-10001"))
    given = w.situation(I.CORRECTION, "A-10002", owned=TWO, context=context, corrects=True)
    assert decide(given).step == refund("A-10002", 2000)


CONFIRM = Confirm(operation_id="op_1", said_seq=3)


@pytest.mark.parametrize(
    "beside",
    [
        {"entities": (amount("3000 EUR"),)},
        {"intents": (I.AFFIRMATION, I.ORDER_STATUS)},
        {"seeks_information": True},
        {"risks": (RiskMark.CHARGEBACK,)},
        {"route": "classifier"},
    ],
)
def test_a_yes_beside_anything_else_is_no_consent(beside: dict[str, Any]) -> None:
    yes = w.situation(I.AFFIRMATION, owned=TWO, actions=(OPEN,)).model_copy(update={"confirmable": CONFIRM})
    assert decide(yes).step == CONFIRM
    told = yes.understanding.model_copy(update=beside)
    step = decide(yes.model_copy(update={"understanding": told})).step
    assert isinstance(step, Answer)
    assert (step.topic, step.operation_id) == (Topic.CONFIRM_WITH_BUTTON, "op_1")
