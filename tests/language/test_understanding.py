"""What a turn's messages come to: the examples of the package, and laws that hold for any text."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import language
from domain.understanding import Intent, TurnContext
from language.understanding import RulesUnderstander

UNDERSTANDER = RulesUnderstander()
EXAMPLES: dict[str, Any] = json.loads(
    (Path(language.__file__).parent / "data" / "examples.json").read_text(encoding="utf-8")
)
SAID = [(i, tongue, t) for i, tongues in EXAMPLES["intents"].items() for tongue, ts in tongues.items() for t in ts]
WORDS_THAT_TELL_A_LANGUAGE = 2
INTENTS_PER_EXAMPLE_MIN = 15


@pytest.mark.parametrize(("intent", "tongue", "text"), SAID)
def test_an_example_is_understood_as_what_it_means(intent: str, tongue: str, text: str) -> None:
    heard = UNDERSTANDER.understand([text], TurnContext())
    assert heard.intent == intent
    assert heard.asks_for_person is (intent == Intent.ASKS_FOR_PERSON)
    assert not heard.suspicious
    if len(text.split()) > WORDS_THAT_TELL_A_LANGUAGE:
        assert heard.language == tongue


def test_every_intent_has_its_examples_in_every_language() -> None:
    assert set(EXAMPLES["intents"]) == set(Intent)
    for intent, tongues in EXAMPLES["intents"].items():
        assert set(tongues) == {"en", "es", "de", "fr", "pt", "it"}, intent
        assert sum(len(texts) for texts in tongues.values()) >= INTENTS_PER_EXAMPLE_MIN, intent


@pytest.mark.parametrize("turn", EXAMPLES["turns"], ids=lambda turn: " / ".join(turn["texts"])[:60])
def test_a_turn_is_read_in_its_context(turn: dict[str, Any]) -> None:
    heard = UNDERSTANDER.understand(turn["texts"], TurnContext(**turn.get("context", {})))
    told = heard.model_dump(mode="json")
    expected = {key: value for key, value in turn.items() if key not in ("texts", "context")}
    assert {key: told[key] for key in expected} == expected


@pytest.mark.parametrize("text", EXAMPLES["person"]["asks"])
def test_a_wish_for_a_person_is_heard(text: str) -> None:
    assert UNDERSTANDER.understand([text], TurnContext()).asks_for_person


@pytest.mark.parametrize("text", EXAMPLES["person"]["does_not"])
def test_speaking_of_a_person_is_no_wish_for_one(text: str) -> None:
    assert not UNDERSTANDER.understand([text], TurnContext()).asks_for_person


@pytest.mark.parametrize("text", EXAMPLES["suspicious"]["yes"])
def test_what_is_aimed_at_the_machine_is_flagged(text: str) -> None:
    assert UNDERSTANDER.understand([text], TurnContext()).suspicious


@pytest.mark.parametrize("text", EXAMPLES["suspicious"]["no"])
def test_what_only_looks_like_it_is_not_flagged(text: str) -> None:
    assert not UNDERSTANDER.understand([text], TurnContext()).suspicious


@pytest.mark.parametrize("text", ["note 7", "asdf ghjk", "", "🙃", "blue"])
def test_what_is_not_understood_has_a_low_confidence(text: str) -> None:
    heard = UNDERSTANDER.understand([text], TurnContext())
    assert heard.intent is Intent.OUT_OF_SCOPE
    assert heard.confidence < 0.5


@pytest.mark.parametrize(("known", "text"), [("de", "ok"), ("fr", "A-20417"), ("it", "no"), ("es", "A-20417!!")])
def test_a_conversation_keeps_its_language_when_a_text_tells_none(known: str, text: str) -> None:
    assert UNDERSTANDER.understand([text], TurnContext(language=known)).language == known


@pytest.mark.parametrize("known", ["de", "fr", "es"])
def test_a_conversation_changes_its_language_when_a_text_does(known: str) -> None:
    heard = UNDERSTANDER.understand(["Could you tell me where my parcel is, please?"], TurnContext(language=known))
    assert heard.language == "en"


def test_what_was_named_in_vain_is_not_what_was_meant_after_a_correction() -> None:
    heard = UNDERSTANDER.understand(["Refund A-20417.", "No wait, not A-20417. A-20418!"], TurnContext())
    assert (heard.mentions, heard.corrects) == (("A-20418",), True)


@given(st.lists(st.text(max_size=300), max_size=4))
def test_no_text_is_too_strange(texts: list[str]) -> None:
    heard = UNDERSTANDER.understand(texts, TurnContext())
    assert 0 <= heard.confidence <= 1
    assert all(m.lstrip("#").casefold() in "\n".join(texts).casefold() for m in heard.mentions)


@pytest.mark.parametrize(
    "text", ["refund " * 3000, "a" * 20_000, "1." * 9000, "waiting for my " * 1500, '"a b ' * 4000, "QUJD" * 4000]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    UNDERSTANDER.understand([text], TurnContext())
    assert time.perf_counter() - began < 1.0  # measured: at most 0.07 s
