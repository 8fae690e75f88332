"""Local understanding: rules where certain, heads for the rest; whatever is written, it stays a proposal."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import language
from domain.understanding import EntityKind, Intent, RiskMark, TurnContext, Understanding
from language.embedding import embedder
from language.routing import CLASSIFIER, RULES, LocalUnderstander
from language.tongues import RULED

UNDERSTANDER = LocalUnderstander()
DATA = Path(language.__file__).parent / "data"
EXAMPLES: dict[str, Any] = json.loads((DATA / "examples.json").read_text(encoding="utf-8"))
BY_MEANING = pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")
A_SECOND_AND_A_HALF = 1.5  # of processor time, on one core


def heard(*texts: str, **context: Any) -> Understanding:
    return UNDERSTANDER.understand(texts, TurnContext(**context))


READ_BY_RULES = [turn for turn in EXAMPLES["turns"] if turn.get("language", "en") in RULED]


@pytest.mark.parametrize("turn", READ_BY_RULES, ids=lambda turn: " / ".join(turn["texts"])[:60])
def test_a_turn_is_read_in_its_context_as_the_rules_read_it(turn: dict[str, Any]) -> None:
    told = heard(*turn["texts"], **turn.get("context", {})).model_dump(mode="json")
    expected = {key: value for key, value in turn.items() if key not in ("texts", "context", "confidence")}
    assert {key: told[key] for key in expected} == expected


@pytest.mark.parametrize("text", EXAMPLES["person"]["asks"])
def test_a_wish_for_a_person_is_heard(text: str) -> None:
    assert heard(text).asks_for_person


@BY_MEANING
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Wanneer wordt mijn bestelling bezorgd?", Intent.ORDER_STATUS),
        ("верните мне деньги за сапоги", Intent.REFUND_REQUEST),
        ("كوب القهوة وصل مكسورا", Intent.DAMAGED_ITEM),
        ("会員を解約したいです", Intent.CANCEL_SUBSCRIPTION),
        ("비밀번호를 잊어버려서 로그인이 안 돼요", Intent.ACCOUNT_ACCESS),
        ("你们招人吗", Intent.OUT_OF_SCOPE),
    ],
)
def test_a_language_that_the_rules_do_not_read_is_understood(text: str, intent: Intent) -> None:
    told = heard(text)
    assert (told.intent, told.route) == (intent, CLASSIFIER)


@BY_MEANING
@pytest.mark.parametrize(
    "text", ["ik wil een mens spreken", "позовите живого человека", "人間と話したい", "أريد التحدث مع موظف"]
)
def test_a_wish_for_a_person_is_heard_in_any_language(text: str) -> None:
    assert heard(text).asks_for_person


@BY_MEANING
@pytest.mark.parametrize(
    "text",
    [
        "hello?? is there a living soul on this line at all",
        "hallo, lebt da wer?",
    ],
)
def test_a_greeting_does_not_hide_a_wish_for_a_person(text: str) -> None:
    assert heard(text).asks_for_person


@BY_MEANING
@pytest.mark.parametrize(
    "text",
    [
        "And how do I send something back?",
        "Your colleague on the phone last night was so kind, thanks",
        "Must I ring my bank about it?",
        "please do not ring me, just write where my parcel is",
    ],
)
def test_words_of_people_and_calls_are_no_wish_for_a_person(text: str) -> None:
    assert not heard(text).asks_for_person


@BY_MEANING
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("The invoice shows two lamps and only one was in the carton", Intent.MISSING_ITEM),  # not about the invoice
        ("ich will das Bett nicht mehr, bitte nicht verschicken", Intent.CANCEL_ORDER),  # nothing was offered
    ],
)
def test_a_word_alone_does_not_outweigh_what_the_whole_says(text: str, intent: Intent) -> None:
    assert heard(text).intent is intent


@BY_MEANING
@pytest.mark.parametrize("text", ["so what now, anything at all", "so, what is it going to be"])
def test_what_is_vague_is_no_small_talk(text: str) -> None:
    assert heard(text).intent not in (Intent.THANKS_GREETING, Intent.AFFIRMATION, Intent.REFUSAL)


@BY_MEANING
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("waar is mijn bestelling {}", Intent.ORDER_STATUS),
        ("注文{}はどこですか", Intent.ORDER_STATUS),
        ("أين الطلب{}", Intent.ORDER_STATUS),
        ("{} siparişi kırık geldi", Intent.DAMAGED_ITEM),
        ("отмените заказ {}", Intent.CANCEL_ORDER),
    ],
)
@pytest.mark.parametrize("ident", ["A-51225", "A-16536", "ORD-7741", "A-90001"])
def test_which_id_is_named_changes_nothing_of_what_is_wanted(text: str, intent: Intent, ident: str) -> None:
    told = heard(text.format(ident))
    assert (told.intent, told.mentions) == (intent, (ident,))


@BY_MEANING
def test_two_wishes_are_both_told_in_the_order_of_saying() -> None:
    told = heard("My parcel A-10482 has not arrived yet. Also, please move my subscription to the yearly plan.")
    assert told.every_intent == (Intent.ORDER_STATUS, Intent.CHANGE_PLAN)


@BY_MEANING
@pytest.mark.parametrize("text", ["да, давайте", "はい、お願いします", "tak, proszę to zrobić"])
def test_a_yes_that_only_the_heads_read_is_never_of_the_rules(text: str) -> None:
    told = heard(text, intent=Intent.REFUND_REQUEST, question="confirm")
    assert told.intent is Intent.AFFIRMATION
    assert told.route == CLASSIFIER


@pytest.mark.parametrize("text", ["yes", "sí", "nein", "thanks", "A-20417", "where is my order A-20417"])
def test_what_rules_read_whole_costs_no_more_than_rules(text: str) -> None:
    assert heard(text).route == RULES


@pytest.mark.parametrize("text", ["", " \n\t ", "🙃🙃🙃", "12 / 44 ...", "\u200b\u200b"])
def test_what_says_nothing_is_not_understood(text: str) -> None:
    told = heard(text)
    assert told.intent is Intent.OUT_OF_SCOPE
    assert told.confidence < 0.5
    assert not told.asks_for_person


@pytest.mark.parametrize(
    "text",
    [
        "I want a r\u0435fund for order A-20417",  # a Cyrillic letter
        "I want a re\u200bfund for order A-20417",  # a hidden one
        "\uff29 want a \uff52\uff45\uff46\uff55\uff4e\uff44 for order A-20417",  # wide ones
        "I want a refuuuuund for order A-20417",
        "I want a refund for order A-20417\n\nOn Mon, 3 Mar 2025 at 10:12, Shop wrote:\n> cancel my subscription",
        "I want a refund for order A-20417 \u202ethanks\u202c",
    ],
)
def test_a_disguise_does_not_change_what_is_wanted(text: str) -> None:
    told = heard(text)
    assert told.intent is Intent.REFUND_REQUEST
    assert told.mentions == ("A-20417",)


@BY_MEANING
def test_a_wish_deep_in_a_long_message_is_heard() -> None:
    tale = "The weather was nice and we walked along the river for a while before we went home again. " * 60
    assert heard(f"{tale}\nI want to speak to a human being about all this.").asks_for_person


def test_ids_amounts_and_risks_are_told_with_their_words() -> None:
    told = heard("My lawyer wants the 20,50 € for order A-10482 back, it's urgent")
    assert {(e.kind, e.value, e.words) for e in told.entities} >= {
        (EntityKind.ORDER, "A-10482", "A-10482"),
        (EntityKind.AMOUNT, "2050 EUR", "20,50 €"),
    }
    assert told.risks == (RiskMark.LEGAL,)
    assert told.urgent


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=3))
def test_no_text_is_too_strange(texts: list[str]) -> None:
    told = heard(*texts)
    assert 0 <= told.confidence <= 1
    assert told.intent in told.every_intent
    assert all(m.lstrip("#").casefold() in "\n".join(texts).casefold() for m in told.mentions)


@pytest.mark.parametrize("text", ["refund " * 3000, "a" * 20_000, "سلام " * 3000, "QUJD" * 4000, "1." * 9000])
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    heard(text)
    assert time.process_time() - began < A_SECOND_AND_A_HALF
