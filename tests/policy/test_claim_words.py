"""The words of a claim, in the languages of our own fixed words: they find what is plain and nothing harmless."""

import json
from itertools import permutations

import pytest

from domain.reply import Author, Draft, Segment, Source
from domain.understanding import Intent
from language.claims_training import EXAMPLES_DIR
from language.next_words import noted_for_later, shall_i_go_on
from language.tongues import SPOKEN
from policy.reply.claim_words import LANGUAGES, OUR_LANGUAGES
from policy.reply.claim_words_more import LANGUAGES as MORE
from policy.reply.claims import claims_in_words, truthful

CLAIMS = {
    "nl": ("Ik heb uw bestelling geannuleerd.", "Het bedrag wordt morgen teruggestort.", "Uw abonnement is opgezegd."),
    "pl": ("Anulowałem Twoje zamówienie.", "Pieniądze zostaną zwrócone jutro.", "Zwrot został zrealizowany."),
    "ru": ("Я отменил ваш заказ.", "Завтра мы вернём вам деньги.", "Возврат выполнен."),
    "tr": ("Siparişinizi iptal ettim.", "Paranız yarın iade edilecek.", "İade işleminiz tamamlandı."),
    "zh": ("我已为您取消订单。", "我们会马上为您退款。", "退款已完成。"),
    "ja": ("ご注文をキャンセルしました。", "明日までに返金いたします。", "返金が完了しました。"),
}
DENIED = {
    "nl": "Uw bestelling is niet geannuleerd.",
    "pl": "Zamówienie nie zostało anulowane.",
    "ru": "Возврат не выполнен.",
    "tr": "İade işlemi tamamlanmadı.",
    "zh": "退款尚未完成。",
    "ja": "返金は完了していません。",
}


def test_our_fixed_words_are_in_languages_whose_claims_are_known() -> None:
    assert set(SPOKEN) == OUR_LANGUAGES
    assert set(CLAIMS) == set(DENIED) == MORE


@pytest.mark.parametrize(("language", "text"), [(t, c) for t, claims in CLAIMS.items() for c in claims])
def test_a_plain_claim_is_found(language: str, text: str) -> None:
    assert claims_in_words(text), language


@pytest.mark.parametrize(("language", "text"), DENIED.items())
def test_what_is_denied_is_no_claim(language: str, text: str) -> None:
    assert not claims_in_words(text), language


@pytest.mark.parametrize("language", sorted(MORE))
def test_no_harmless_example_is_taken_for_a_claim(language: str) -> None:
    lines = (EXAMPLES_DIR / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    harmless = [row["text"] for row in map(json.loads, lines) if not row["claims"]]
    assert len(harmless) >= 30
    assert [text for text in harmless if claims_in_words(text)] == []


@pytest.mark.parametrize("author", Author)
@pytest.mark.parametrize("language", sorted(OUR_LANGUAGES))
def test_without_a_detector_a_model_is_trusted_in_fewer_languages_than_our_own_words(
    language: str, author: Author
) -> None:
    said = Segment(text="…", source=Source.TEMPLATE, rests_on="draft.greeting")
    told = truthful(Draft(language=language, segments=(said,), author=author), ())
    assert told is (True if author is Author.LOCAL or language in LANGUAGES else None)


@pytest.mark.parametrize("language", SPOKEN)
def test_what_waits_is_told_in_words_that_claim_nothing(language: str) -> None:
    needs = [intent for intent in Intent if intent.is_need and intent is not Intent.OUT_OF_SCOPE]
    for told in (*((need,) for need in needs), *permutations(needs, 2)):
        assert not claims_in_words(shall_i_go_on(told, language)), told
        assert not claims_in_words(noted_for_later(told, language)), told
