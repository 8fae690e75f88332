"""Which articles are picked for a reply on something else, and what of them is quoted."""

from domain.knowledge import Article
from domain.step import Topic
from language.knowledge import opening, pick_articles


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
    assert pick_articles((article(slug="greeting"),), Topic.GREETING, "en") == ()


def test_the_first_passage_is_quoted_and_no_heading() -> None:
    assert opening(article(body="# Refunds\n\nThey go\nback.\n\nMore.")) == "They go back."
