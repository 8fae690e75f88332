"""Drafts in, checks out: what the drafter makes passes in every language, and no longer once the facts differ."""

from datetime import timedelta
from itertools import product

import pytest

from domain.account import Account, Item, Order, Shipment, ShipmentEvent
from domain.action import ActionKind, ActionState
from domain.reply import Checks, Draft, Segment, Source
from domain.step import Answer, Clarify, Question, Topic
from domain.understanding import Intent, TurnContext
from knowledge.seeds import seed_articles
from language.drafting import DraftRequest, TemplateDrafter
from language.tongues import SPOKEN
from language.words import texts
from policy.reply.checks import check
from policy.reply.status_words import IMPLIED
from tests.policy import worlds as w

DRAFTER = TemplateDrafter()
LANGUAGES = (*SPOKEN, "fi", "pt-BR")
ORDER_STATUSES = (
    *("pending", "placed", "paid", "processing", "processed", "packed", "label_created", "picked_up", "shipped"),
    *("in_transit", "out_for_delivery", "delivery_attempted", "exception", "delivered", "returned", "cancelled"),
    *("refunded", "partially_refunded", "lost", "canceled", "fulfilled", "completed", "odd-status"),
)
SUB_STATUSES = ("active", "trialing", "past_due", "paused", "cancelled", "canceled", "ended")


def parcel(status: str, days_ago: float, place: str | None) -> Shipment:
    at = w.NOW - timedelta(days=days_ago)
    events = (
        ShipmentEvent(status="label_created", at=at - timedelta(days=400)),
        ShipmentEvent(status=status, at=at, place=place),
    )
    return Shipment(carrier="Colis 24", tracking_code="CX123456789012", status=status, events=events)


def orders() -> list[Order]:
    items = (Item(title="USB-C cable 2 m", quantity=3, price_minor=999), Item(title="O’Neill mug", price_minor=1))
    made = [w.order(f"A-30{n:03}", status, 123456, items=items) for n, status in enumerate(ORDER_STATUSES)]
    for n, (days_ago, place) in enumerate(product((0.5, 9, 380), ("Lyon", "Paris 12e", None))):
        made.append(w.order(f"A-31{n:03}", "shipped", 5, shipment=parcel("in_transit", days_ago, place)))
    for n, currency in enumerate(("EUR", "USD", "GBP", "CHF", "JPY", "KWD", "PLN", "SEK", "CAD", "BRL", "INR", "XYZ")):
        made.append(w.order(f"A-32{n:03}", "refunded", 1234567, refunded=1234567, currency=currency))
    late = w.NOW - timedelta(days=200)
    return [*made, w.order("A-33000", delivered_at=late, placed_at=None), w.order("303-44", delivered_at=None)]


def drafted(step: Answer | Clarify, language: str, owned: Account | None, intent: Intent | None = None) -> Draft:
    return DRAFTER.draft(
        DraftRequest(
            step=step,
            language=language,
            now=w.NOW,
            evidence=w.evidence(owned) if owned else None,
            articles=seed_articles(),
            actions=(w.action(state=ActionState.UNKNOWN), w.action(op="op_2")),
            context=TurnContext(intent=intent),
        )
    )


def checked(draft: Draft, owned: Account | None) -> Checks:
    return check(
        draft,
        evidence=w.evidence(owned) if owned else None,
        articles=seed_articles(),
        actions=[w.action(state=ActionState.UNKNOWN), w.action(op="op_2")],
        customer_id=w.CUSTOMER,
        now=w.NOW,
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("topic", [Topic.ORDER_STATUS, Topic.NOTHING_BEGUN, Topic.NOTHING_TO_REFUND])
def test_a_draft_about_any_order_passes(language: str, topic: Topic) -> None:
    for order in orders():
        owned = w.account(order, w.order("A-99999", "returned", 7))
        draft = drafted(Answer(topic=topic, resource=f"order:{order.id}"), language, owned)
        assert bool(draft.segments) is (topic is not Topic.NOTHING_TO_REFUND or order.refundable_minor == 0)
        assert checked(draft, owned).failed == (), draft.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_draft_of_any_list_passes(language: str) -> None:
    subs = [w.subscription(f"sub_a{n}b", status, plan="Team 2024") for n, status in enumerate(SUB_STATUSES)]
    steps: tuple[Answer | Clarify, ...] = (
        Answer(topic=Topic.ORDERS_OVERVIEW),
        Answer(topic=Topic.NO_DUPLICATE_FOUND),
        *(Clarify(question=q) for q in Question),
    )
    for start in range(0, len(orders()), 4):
        charges = [w.payment(f"pay_{n}x", 123456, 24 * n, order_id="A-1") for n in (1, 30, 500)]
        owned = w.account(*orders()[start : start + 4], *subs[start % 7 :], *charges, w.plan("Team 2"), w.address())
        for step, intent in product(steps, (None, Intent.REFUND_REQUEST)):
            draft = drafted(step, language, owned, intent)
            assert checked(draft, owned).failed == (), draft.text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("owned", [w.account(), None], ids=["empty account", "visitor"])
def test_every_other_draft_passes(language: str, owned: Account | None) -> None:
    answers = (*(Answer(topic=t) for t in Topic), Answer(topic=Topic.ACTION_STATUS, operation_id="op_1"))
    steps: tuple[Answer | Clarify, ...] = (*answers, *(Clarify(question=q) for q in Question))
    for step in steps:
        draft = drafted(step, language, owned)
        assert checked(draft, owned).failed == (), draft.text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", SUB_STATUSES)
def test_a_draft_about_any_subscription_passes(language: str, status: str) -> None:
    owned = w.account(w.subscription("sub_Ab12Cd34", status, plan="Pro"), w.subscription("sub_other1", "active"))
    step = Answer(topic=Topic.ALREADY_CANCELLED, resource="subscription:sub_Ab12Cd34")
    assert checked(drafted(step, language, owned), owned).failed == ()


# told in words that may mean much else, or just as the business system wrote them: these are not compared
UNREAD = {"pending", "placed", "paid", "fulfilled", "completed", "odd-status", "ended"}


def told(status: str) -> set[str]:
    known = status.replace("-", "_")
    return {*IMPLIED.get(known, ()), "refunded"} if known == "partially_refunded" else {known, *IMPLIED.get(known, ())}


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("status", [s for s in ORDER_STATUSES if s not in UNREAD])
def test_a_draft_fails_once_the_order_stands_otherwise(language: str, status: str) -> None:
    owned = w.account(w.order(status=status))
    draft = drafted(Answer(topic=Topic.ORDER_STATUS, resource="order:A-10001"), language, owned)
    for other in ORDER_STATUSES:
        if not told(status) & told(other):
            assert checked(draft, w.account(w.order(status=other))).supported is False, (draft.text, other)


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("status", [s for s in SUB_STATUSES if s not in UNREAD])
def test_a_draft_fails_once_the_subscription_stands_otherwise(language: str, status: str) -> None:
    owned = w.account(w.subscription(status=status))
    draft = drafted(Clarify(question=Question.WHICH_SUBSCRIPTION), language, owned)
    for other in SUB_STATUSES:
        if not told(status) & told(other):
            assert checked(draft, w.account(w.subscription(status=other))).supported is False, (draft.text, other)


@pytest.mark.parametrize("language", SPOKEN)
def test_a_draft_fails_once_an_amount_a_day_a_place_or_an_owner_is_another(language: str) -> None:
    order = w.order(status="shipped", shipment=parcel("in_transit", 1, "Paris 12e"), refunded=3000)
    status = drafted(Answer(topic=Topic.ORDER_STATUS, resource="order:A-10001"), language, w.account(order))
    money = drafted(Answer(topic=Topic.NOTHING_TO_REFUND, resource="order:A-10001"), language, w.account(order))
    later = order.model_copy(update={"shipment": parcel("in_transit", 2, "Paris 12e")})
    moved = order.model_copy(update={"shipment": parcel("in_transit", 1, "Paris 13e")})
    cheaper = order.model_copy(update={"captured_minor": 3001, "refunded_minor": 3001})
    foreign = order.model_copy(update={"id": "A-10002"})
    assert checked(status, w.account(later)).supported is False
    assert checked(status, w.account(moved)).supported is False
    assert checked(money, w.account(cheaper)).supported is False
    for draft in (status, money):
        assert checked(draft, w.account(foreign)).supported is False
        assert checked(draft, w.account(foreign)).authorized is False


SLOTS = {"amount": "12,00 €", "what": "A-1", "subscription": "sub_1", "plan": "Team"}
DONE = [
    *product(("refund", "cancel_subscription"), ("confirmed", "found", "submitted", "sent")),
    *product(sorted(ActionKind), ("confirmed", "found")),
]


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize(("kind", "key"), DONE)
def test_what_the_ledger_says_of_something_done_nobody_else_may_say(language: str, kind: str, key: str) -> None:
    known = texts(language)
    noun = known.get(f"{kind}.noun", "").format_map(SLOTS)
    text = (known.get(f"{kind}.{key}") or known[f"action.{key}"]).format_map({**SLOTS, "noun": noun})
    segment = Segment(text=text, source=Source.TEMPLATE, rests_on=key)
    assert checked(Draft(language=language, segments=(segment,)), None).action_status_truthful is False, text
    evident = Segment(text=text, source=Source.EVIDENCE, rests_on="ev_1")
    assert not checked(Draft(language=language, segments=(evident,)), w.account(w.order())).all_exactly_true, text
