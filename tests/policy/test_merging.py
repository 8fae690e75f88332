"""Laws of a model's reading merged in: whatever it says, it un-says nothing, invents no name and makes no consent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.model import Route
from domain.model_reading import Certainty, ModelReading, NamedThing, ThingKind
from domain.understanding import Entity, EntityKind, Intent, RiskMark, Understanding
from policy.turn.hearing import CONFIDENCE_MIN
from policy.turn.merging import CONFIDENCE_OF, merged, stands_in

TEXT = "Refund A-10482 please, and what about SUB-7? 注文B-2の件です"
INTENTS = st.sampled_from(Intent)
RISKS = st.lists(st.sampled_from(RiskMark), max_size=3).map(tuple)
WORDS = st.sampled_from(["A-10482", "A-1", "10482", "SUB-7", "B-2", "A-99999", "Refund", "efund", "注文"]) | st.text(
    min_size=1, max_size=12
)
LOCAL = st.builds(
    Understanding,
    intent=INTENTS,
    intents=st.lists(INTENTS, max_size=3).map(tuple),
    language=st.just("en"),
    mentions=st.sampled_from([(), ("A-10482",)]),
    asks_for_person=st.booleans(),
    corrects=st.booleans(),
    suspicious=st.booleans(),
    confidence=st.floats(0, 1),
    route=st.sampled_from(["rules", "classifier"]),
    entities=st.sampled_from([(), (Entity(kind=EntityKind.AMOUNT, value="2000 EUR", words="20 EUR"),)]),
    urgent=st.booleans(),
    risks=RISKS,
)
READ = st.builds(
    ModelReading,
    intents=st.lists(INTENTS, min_size=1, max_size=4).map(tuple),
    names=st.lists(st.builds(NamedThing, kind=st.sampled_from(ThingKind), words=WORDS), max_size=4).map(tuple),
    asks_for_person=st.booleans(),
    corrects_earlier=st.booleans(),
    seeks_information=st.booleans(),
    urgent=st.booleans(),
    risks=RISKS,
    instructs_machine=st.booleans(),
    certainty=st.sampled_from(Certainty),
)
ROUTES = st.sampled_from([Route.SMALL, Route.LARGE])


def reading(*intents: Intent, certainty: Certainty = Certainty.SURE, machine: bool = False) -> ModelReading:
    return ModelReading(
        intents=intents,
        names=(),
        asks_for_person=False,
        corrects_earlier=False,
        seeks_information=False,
        urgent=False,
        risks=(),
        instructs_machine=machine,
        certainty=certainty,
    )


@given(LOCAL, READ, ROUTES)
def test_a_model_un_asks_for_no_person_and_clears_no_mark(
    local: Understanding, read: ModelReading, route: Route
) -> None:
    both = merged(local, read, TEXT, route)
    assert both.asks_for_person >= local.asks_for_person
    assert both.asks_for_person or local.intent is not Intent.ASKS_FOR_PERSON
    assert both.suspicious >= local.suspicious
    assert both.corrects >= local.corrects
    assert both.urgent >= local.urgent
    assert {*local.risks, *read.risks} == {*both.risks}
    assert both.language == local.language


@given(LOCAL, READ, ROUTES)
def test_a_model_names_only_what_stands_in_the_text(local: Understanding, read: ModelReading, route: Route) -> None:
    both = merged(local, read, TEXT, route)
    assert {*both.mentions} <= {*local.mentions} | {n.words.strip() for n in read.names if n.words.strip() in TEXT}
    assert not {"A-1", "10482", "A-99999", "efund"} & {*both.mentions}
    assert {*local.entities} <= {*both.entities}
    assert all(e.words == e.value and e.words in TEXT for e in both.entities if e not in local.entities)


@given(LOCAL, READ, ROUTES)
def test_a_model_makes_no_consent(local: Understanding, read: ModelReading, route: Route) -> None:
    both = merged(local, read, TEXT, route)
    if both.route == "rules":
        assert (both.intent, both.intents, both.confidence) == (local.intent, local.intents, local.confidence)
    else:
        assert both.confidence <= max(CONFIDENCE_OF.values()) < 0.85 or both.route == local.route


@given(LOCAL.flatmap(lambda u: st.just(u.model_copy(update={"seeks_information": True}))), READ, ROUTES)
def test_a_model_makes_no_request_of_a_question(local: Understanding, read: ModelReading, route: Route) -> None:
    assert merged(local, read, TEXT, route).seeks_information


@given(LOCAL, READ, ROUTES)
def test_a_no_stays_a_no(local: Understanding, read: ModelReading, route: Route) -> None:
    if Intent.REFUSAL in local.every_intent:
        assert merged(local, read, TEXT, route).every_intent == local.every_intent


@pytest.mark.parametrize(("route", "first"), [("rules", Intent.ACTION_STATUS), ("classifier", Intent.REFUND_REQUEST)])
def test_who_was_surely_heard_to_ask_how_a_request_stands_is_told_so_first(route: str, first: Intent) -> None:
    local = Understanding(intent=Intent.ACTION_STATUS, language="en", confidence=0.76, route=route)
    both = merged(local, reading(Intent.REFUND_REQUEST), "Where is my refund?", Route.SMALL)
    assert both.intent is first
    assert Intent.REFUND_REQUEST in both.intents


@pytest.mark.parametrize(
    ("read", "intent", "route"),
    [
        (reading(Intent.REFUND_REQUEST), Intent.REFUND_REQUEST, "small"),
        (reading(Intent.REFUND_REQUEST, certainty=Certainty.UNSURE), Intent.OUT_OF_SCOPE, "classifier"),
        (reading(Intent.REFUND_REQUEST, machine=True), Intent.OUT_OF_SCOPE, "classifier"),
    ],
)
def test_what_was_understood_locally_stands_where_the_model_is_unsure_or_was_spoken_to(
    read: ModelReading, intent: Intent, route: str
) -> None:
    local = Understanding(intent=Intent.OUT_OF_SCOPE, language="en", confidence=0.3, route="classifier")
    both = merged(local, read, TEXT, Route.SMALL)
    assert (both.intent, both.route) == (intent, route)
    assert both.suspicious is read.instructs_machine
    assert (both.confidence >= CONFIDENCE_MIN) is (route == "small")


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        ("A-10482", True),
        ("A-1", False),
        ("10482", False),
        ("SUB-7", True),
        ("B-2", True),
        ("注文", True),
        ("a-10482", False),
    ],
)
def test_words_stand_in_a_text_as_a_whole_in_any_script(words: str, stands: bool) -> None:
    assert stands_in(words, TEXT) is stands
