"""Laws of routing: what is certain or goes to a person asks no model, and nothing is asked that may not be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.handoff import HandoffReason
from domain.knowledge import PassageRef
from domain.model import Route
from domain.step import Answer, Clarify, HandOff, Question, Step, Topic
from domain.understanding import Intent, RiskMark, Understanding
from policy.turn.routing import LONG_CHARS, drafts_by, route_for

BOTH = frozenset({Route.SMALL, Route.LARGE})
PASSAGE = PassageRef(slug="returns", version=1, language="en", position=0, certain=True)
KNOWN = Answer(topic=Topic.KNOWLEDGE, passages=(PASSAGE,))
I = Intent  # noqa: E741 — the tables read better so


def told(intent: Intent = I.ORDER_STATUS, **fields: Any) -> Understanding:
    return Understanding.model_validate({"intent": intent, "language": "en", **fields})


def route(
    understood: Understanding, models: frozenset[Route] = BOTH, chars: int = 40, actions: int = 0
) -> Route | None:
    return route_for(understood, models=models, chars=chars, open_actions=actions)


@pytest.mark.parametrize(
    ("understood", "wanted"),
    [
        (told(confidence=0.9), None),
        (told(confidence=0.9, route="classifier"), None),
        (told(confidence=0.6), Route.SMALL),
        (told(confidence=0.6, route="classifier"), Route.SMALL),
        (told(I.OUT_OF_SCOPE, confidence=0.2), Route.SMALL),
        (told(I.AFFIRMATION, confidence=0.88), None),
        (told(confidence=0.6, intents=(I.ORDER_STATUS, I.REFUND_REQUEST)), Route.LARGE),
        (told(confidence=0.9, intents=(I.ORDER_STATUS, I.REFUND_REQUEST)), None),
        (told(confidence=0.9, intents=(I.ORDER_STATUS, I.REFUND_REQUEST, I.CHANGE_ADDRESS)), Route.LARGE),
        (told(confidence=0.9, risks=(RiskMark.CHARGEBACK,)), Route.LARGE),
        (told(confidence=0.2, risks=(RiskMark.LEGAL,)), None),
        (told(confidence=0.2, suspicious=True), None),
        (told(confidence=0.2, asks_for_person=True), None),
        (told(I.ASKS_FOR_PERSON, confidence=0.2), None),
        (told(confidence=0.6, route="small"), None),
    ],
)
def test_a_turn_is_read_by_the_cheapest_that_will_do(understood: Understanding, wanted: Route | None) -> None:
    assert route(understood) is wanted


def test_what_is_long_or_redirects_what_is_open_is_for_the_large_one() -> None:
    assert route(told(confidence=0.9), chars=LONG_CHARS) is Route.LARGE
    unclear = told(I.CORRECTION, confidence=0.6, corrects=True)
    assert route(unclear, actions=1) is Route.LARGE
    assert route(unclear, actions=0) is Route.SMALL
    assert route(told(I.CORRECTION, confidence=0.9, corrects=True), actions=1) is None


@given(
    st.builds(told, st.sampled_from(I), confidence=st.floats(0, 1), corrects=st.booleans()),
    st.frozensets(st.sampled_from([Route.SMALL, Route.LARGE])),
    st.integers(0, 9_000),
    st.integers(0, 3),
)
def test_only_what_may_be_asked_is_asked(
    understood: Understanding, models: frozenset[Route], chars: int, actions: int
) -> None:
    wanted = route(understood, models, chars, actions)
    assert wanted is None or wanted in models
    assert (wanted is None) is (not models or route(understood, BOTH, chars, actions) is None)


@pytest.mark.parametrize(
    ("step", "understood", "wanted"),
    [
        (KNOWN, told(), Route.SMALL),
        (KNOWN, told(risks=(RiskMark.CHARGEBACK,)), Route.LARGE),
        (KNOWN, told(suspicious=True), None),
        (Answer(topic=Topic.KNOWLEDGE), told(), None),
        (Answer(topic=Topic.ORDER_STATUS), told(), None),
        (Answer(topic=Topic.ORDER_STATUS), told(seeks_information=True), Route.SMALL),
        (Answer(topic=Topic.ORDER_STATUS), told(intents=(I.ORDER_STATUS, I.REFUND_REQUEST)), Route.SMALL),
        (Clarify(question=Question.WHICH_ORDER), told(), None),
        (HandOff(reason=HandoffReason.OUT_OF_SCOPE), told(), None),
    ],
)
def test_a_reply_is_drafted_by_a_model_only_where_words_are_free(
    step: Step, understood: Understanding, wanted: Route | None
) -> None:
    assert drafts_by(step, understood, models=BOTH) is wanted


@pytest.mark.parametrize("topic", sorted({*Topic} - {Topic.KNOWLEDGE, Topic.ORDER_STATUS, Topic.ORDERS_OVERVIEW}))
def test_what_the_ledger_or_a_template_says_is_never_a_models(topic: Topic) -> None:
    busy = told(seeks_information=True, intents=(I.ORDER_STATUS, I.REFUND_REQUEST))
    assert drafts_by(Answer(topic=topic, passages=(PASSAGE,)), busy, models=BOTH) is None
