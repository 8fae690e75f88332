"""Which articles are picked, and the articles that a new installation starts with."""

from domain.knowledge import Article
from domain.step import Topic
from language.knowledge import pick_articles, seed_articles


def article(**more: object) -> Article:
    given: dict[str, object] = {"slug": "refunds", "version": 1, "language": "en", "title": "t", "body": "b", **more}
    return Article.model_validate(given)


def test_the_newest_version_in_the_language_of_the_reply_is_picked() -> None:
    shelf = (article(), article(version=3), article(version=2), article(language="de", version=9))
    assert pick_articles(shelf, Topic.NOTHING_TO_REFUND, "en") == (article(version=3),)
    assert pick_articles(shelf, Topic.NOTHING_TO_REFUND, "fr") == ()


def test_what_is_not_public_is_never_picked() -> None:
    assert pick_articles((article(audience="staff"),), Topic.NOTHING_TO_REFUND, "en") == ()


def test_a_topic_without_articles_gets_none() -> None:
    assert pick_articles(seed_articles(), Topic.GREETING, "en") == ()


def test_the_seed_covers_its_subjects_in_four_languages() -> None:
    slugs = {a.slug for a in seed_articles()}
    assert len(slugs) == 6
    assert {(a.slug, a.language) for a in seed_articles()} == {(s, t) for s in slugs for t in ("en", "es", "de", "fr")}
    assert all(a.audience == "public" and len(a.body) < 400 for a in seed_articles())
