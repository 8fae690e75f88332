"""Whoever writes in a language that is answered in gets every fixed word in it, from the first message on."""

from itertools import groupby
from string import Formatter

import pytest
from babel import Locale

from domain.understanding import TurnContext
from domain.words import NoticeKind
from language.ledger_words import notice
from language.tongues import RULED, SPOKEN, identifier, language_of
from language.understanding import RulesUnderstander
from language.words import spoken, texts

RULES = RulesUnderstander()
WRITTEN = {
    "nl": "Ik wil graag met een medewerker spreken over mijn bestelling.",
    "pl": "Chcę porozmawiać z człowiekiem o moim zamówieniu.",
    "ru": "Соедините меня с сотрудником, пожалуйста.",
    "tr": "Siparişim hakkında bir yetkiliyle görüşmek istiyorum.",
    "zh": "我要转人工客服，谢谢。",
    "ja": "担当者につないでください。",
}
SCRIPTS = {"ru": ("\u0400", "\u04ff"), "zh": ("\u4e00", "\u9fff"), "ja": ("\u3040", "\u9fff")}


def test_what_rules_read_is_also_answered() -> None:
    assert set(RULED) < set(SPOKEN)
    assert set(WRITTEN) == set(SPOKEN) - set(RULED)


@pytest.mark.parametrize(("language", "text"), WRITTEN.items())
def test_a_notice_is_in_the_language_of_a_first_message(language: str, text: str) -> None:
    understood = RULES.understand([text], TurnContext())
    assert understood.language == language
    assert notice(NoticeKind.HANDED_TO_PERSON, understood.language) == texts(language)["notice.handed_to_person"]


@pytest.mark.parametrize("language", SPOKEN)
def test_every_part_of_the_words_is_recognised_as_its_language(language: str) -> None:
    parts = groupby(texts(language).items(), key=lambda item: item[0].partition(".")[0])
    for part, items in parts:
        told = " ".join(text for _, text in items if len(text) > 12 or language in SCRIPTS)
        if len(told) > 100:
            assert identifier().classify(told)[0] == language, part


@pytest.mark.parametrize("language", SCRIPTS)
def test_no_text_of_another_script_is_left_in_another_language(language: str) -> None:
    low, high = SCRIPTS[language]
    said = {key: "".join(part[0] for part in Formatter().parse(text)) for key, text in texts(language).items()}
    worded = {key: text for key, text in said.items() if any(c.isalpha() for c in text)}
    assert [key for key, text in worded.items() if not any(low <= c <= high for c in text)] == []


@pytest.mark.parametrize("language", SPOKEN)
def test_every_plural_form_of_the_language_has_its_words(language: str) -> None:
    forms = {*Locale.parse(language).plural_form.tags, "other"}
    for thing in ("orders", "subscriptions"):
        assert {f"draft.{thing}_{form}" for form in forms} <= set(texts(language))


@pytest.mark.parametrize(
    ("text", "known", "language"),
    [("返金", "ja", "ja"), ("返金", None, "zh"), ("Так", "uk", "uk"), ("Так", None, "ru"), ("Да", "en", "ru")],
)
def test_a_few_letters_of_a_shared_script_keep_the_language_that_is_known(
    text: str, known: str | None, language: str
) -> None:
    assert language_of(text, [text.casefold()], known, {}) == language


def test_a_variant_is_answered_in_its_language_and_an_unspoken_one_in_english() -> None:
    assert [spoken(t) for t in ("zh-TW", "nl_BE", "PT-br", "sv", "uk")] == ["zh", "nl", "pt", "en", "en"]
