"""Laws of contradictions: other numbers, or a denial, on one matter, at one time, for one version of the product."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.knowledge import Article
from knowledge.contradictions import contradictions
from knowledge.seeds import seed_articles
from language.embedding import Embedder, embedder

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def model() -> Embedder:
    found = embedder()
    if found is None:
        pytest.skip("the extra with embeddings is not installed")
    return found


def page(slug: str, body: str, **more: object) -> Article:
    given: dict[str, object] = {"slug": slug, "version": 1, "language": "en", "title": slug, "body": body, **more}
    return Article.model_validate(given)


THIRTY = page("returns", "You may return items within 30 days of delivery.")
FOURTEEN = page("sending-back", "You may return items within 14 days of delivery.")


def pairs(*articles: Article) -> set[tuple[str, str]]:
    return {(c.one, c.other) for c in contradictions(articles, None, NOW)}


def test_other_numbers_on_one_matter_are_reported_once_with_both_sentences() -> None:
    (found,) = contradictions((THIRTY, FOURTEEN), None, NOW)
    assert (found.one, found.other) == ("returns@1 (en)", "sending-back@1 (en)")
    assert (found.one_says, found.other_says) == (THIRTY.body, FOURTEEN.body)


@pytest.mark.parametrize(
    "other",
    [
        page("b", "You may return items within thirty days of delivery."),
        page("b", "You may return items within 30 days of delivery, on weekdays from 9 to 5."),
        FOURTEEN.model_copy(update={"effective_until": NOW - DAY}),
        FOURTEEN.model_copy(update={"language": "fr"}),
        FOURTEEN.model_copy(update={"slug": "returns", "version": 2}),
    ],
)
def test_what_agrees_or_never_counts_beside_it_is_not_reported(other: Article) -> None:
    assert not pairs(THIRTY, other)


def test_product_versions_that_no_customer_has_both_of_do_not_contradict() -> None:
    old, new = (a.model_copy(update={"product_versions": v}) for a, v in ((THIRTY, ("2",)), (FOURTEEN, ("3",))))
    assert not pairs(old, new)
    assert pairs(old, new.model_copy(update={"product_versions": ("2.4",)}))


def test_what_will_contradict_at_a_time_to_come_is_reported_before() -> None:
    assert pairs(THIRTY, FOURTEEN.model_copy(update={"effective_from": NOW + 9 * DAY}))


def test_a_denial_in_one_of_two_equal_sentences_is_reported() -> None:
    assert pairs(
        page("a", "Opened hygiene products can go back."), page("b", "Opened hygiene products cannot go back.")
    )


def test_the_languages_of_one_page_have_to_hold_the_same_numbers() -> None:
    german = page("returns", "Sie können Artikel innerhalb von 14 Tagen zurückgeben.", language="de")
    assert pairs(THIRTY, german) == {("returns@1 (en)", "returns@1 (de)")}
    assert not pairs(THIRTY, german.model_copy(update={"body": "Innerhalb von 30 Tagen."}))


def test_the_seeds_do_not_contradict_one_another(model: Embedder) -> None:
    english = [a for a in seed_articles() if a.language == "en"]
    assert contradictions(english, model, NOW) == ()
    assert contradictions(seed_articles(), None, NOW) == ()


@pytest.mark.parametrize(
    ("language", "title", "body", "slug"),
    [
        ("en", "Sending things back", "Items can be sent back up to 14 days after delivery.", "returns"),
        ("de", "Gewährleistung", "Jeder Artikel hat 1 Jahr Garantie.", "warranty"),
        ("es", "Envíos", "Los paquetes llegan en 10 días laborables.", "shipping-times"),
    ],
)
def test_the_same_matter_in_other_words_is_found_by_meaning(
    language: str, title: str, body: str, slug: str, model: Embedder
) -> None:
    own = page("house-rules", body, language=language, title=title)
    known = [a for a in seed_articles() if a.language == language and a.slug in (slug, "privacy", "tracking")]
    found = contradictions([*known, own], model, NOW, frozenset({"house-rules"}))
    assert any(slug in c.one + c.other for c in found)
