"""Which knowledge articles belong to a reply on something else, and what of them is quoted.

Pure selection over what the store gives; nothing is ranked here.
"""

from collections.abc import Sequence

from domain.knowledge import Article
from domain.step import Topic
from language.passages import split
from language.words import spoken

_SLUGS: dict[Topic, tuple[str, ...]] = {
    Topic.ORDER_STATUS: ("shipping-times",),
    Topic.NOTHING_TO_REFUND: ("refunds",),
    Topic.NO_DUPLICATE_FOUND: ("duplicate-charges",),
    Topic.ALREADY_CANCELLED: ("subscription-cancellation",),
    Topic.ACCOUNT_ACCESS: ("account-access",),
}

TOPICS_WITH_ARTICLES = frozenset(_SLUGS)


def pick_articles(articles: Sequence[Article], topic: Topic, language: str, limit: int = 1) -> tuple[Article, ...]:
    """Return at most `limit` public articles on `topic`, the newest version of each.

    Only in the language of the reply: one in two languages helps nobody.
    """
    tongue = spoken(language)
    found = [a for slug in _SLUGS.get(topic, ()) if (a := _newest(articles, slug, tongue))]
    return tuple(found[:limit])


def opening(article: Article) -> str:
    """Return its first passage, which says the most important thing, word for word."""
    passages = split(article.body)
    return passages[0].text if passages else ""


def _newest(articles: Sequence[Article], slug: str, language: str) -> Article | None:
    fitting = [a for a in articles if a.slug == slug and a.language == language and a.audience == "public"]
    return max(fitting, key=lambda a: a.version, default=None)
