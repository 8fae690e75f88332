"""Where two articles that count at the same time say different things on the same matter.

Pure but for the model of the embeddings. What is reported is for a person to look at; nothing is refused for it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from domain.base import Noun
from domain.knowledge import Article
from knowledge.nearness import Nearness
from knowledge.standing import counting, moments, share_a_version
from language.embedding import Embedder
from language.passages import sentences
from language.quantities import content_words, denies, numbers, quantities

# Measured with contradictions put into the seeds in four languages: between 0.41 and 0.71, everything else below 0.39.
_SAME_MATTER = 0.42
_SAME_SENTENCE = 0.60  # so near that a denial in one of them alone turns it round
_SHARED_WORDS = 0.6  # of the words of both together: the same without a model
SENTENCES_MAX = 20_000


class Contradiction(Noun):
    """Two articles, as `slug@version (language)`, and what each says."""

    one: str
    other: str
    one_says: str
    other_says: str


class _Sentence(NamedTuple):
    """A sentence and what it is compared by, read once: each is compared with many."""

    article: Article
    text: str
    words: frozenset[str]
    values: dict[str, frozenset[Decimal]]  # by unit
    denies: bool


def contradictions(
    articles: Sequence[Article], embedder: Embedder | None, now: datetime, among: frozenset[str] | None = None
) -> tuple[Contradiction, ...]:
    """Return each pair once; `articles` are all versions of a tenant's. With `among`, pairs with one of these slugs.

    Two pages of one language are compared sentence by sentence; the languages of one page by their numbers.
    """
    found: dict[Contradiction, None] = {}
    for at in moments(articles, now):
        standing = counting(articles, at)
        for language in sorted({a.language for a in standing}):
            pages = [a for a in standing if a.language == language]
            if among is None or any(a.slug in among for a in pages):
                said = list(_sentences(pages))[:SENTENCES_MAX]
                found |= dict.fromkeys(_between_pages(said, Nearness(embedder, language), among))
        found |= dict.fromkeys(_between_languages(standing, among))
    return tuple(found)


def _sentences(articles: Sequence[Article]) -> Iterator[_Sentence]:
    for article in articles:
        for text in sentences(article.body):
            words = frozenset(w for w in content_words(text) if not w.isdigit())
            if words:
                yield _Sentence(article, text, words, _values(text), denies(text))


def _values(text: str) -> dict[str, frozenset[Decimal]]:
    found = quantities(text)
    return {unit: frozenset(q.value for q in found if q.unit == unit) for unit in {q.unit for q in found}}


def _between_pages(
    said: Sequence[_Sentence], nearness: Nearness, among: frozenset[str] | None
) -> Iterator[Contradiction]:
    nearness.keep([f"{s.article.title}\n{s.text}" for s in said])
    for (n, one), (m, other) in combinations(enumerate(said), 2):
        a, b = one.article, other.article
        if a.slug == b.slug or (among is not None and not {a.slug, b.slug} & among):
            continue
        if _contradict(one, other, nearness.of(n, m)) and share_a_version(a, b):
            yield Contradiction(one=_named(a), other=_named(b), one_says=one.text, other_says=other.text)


def _contradict(one: _Sentence, other: _Sentence, nearness: float | None) -> bool:
    """Whether the two are on the same matter, and have other numbers, or the one denies what the other says."""
    if nearness is not None and nearness < _SAME_MATTER:
        return False
    alike = len(one.words & other.words) >= _SHARED_WORDS * len(one.words | other.words)
    if _differ(one, other) and (alike or nearness is not None):
        return True
    return one.denies is not other.denies and (alike or (nearness or 0.0) >= _SAME_SENTENCE)


def _differ(one: _Sentence, other: _Sentence) -> bool:
    """Whether both speak of some unit, and no value of it stands in both."""
    return any(not one.values[unit] & other.values[unit] for unit in one.values.keys() & other.values.keys())


def _between_languages(articles: Sequence[Article], among: frozenset[str] | None) -> Iterator[Contradiction]:
    """The languages of one page that do not hold the same numbers."""
    for a, b in combinations(articles, 2):
        if a.slug != b.slug or a.language == b.language or (among is not None and a.slug not in among):
            continue
        here, there = numbers(a.body), numbers(b.body)
        if here != there and share_a_version(a, b):
            yield Contradiction(
                one=_named(a), other=_named(b), one_says=_only(here - there), other_says=_only(there - here)
            )


def _only(values: frozenset[object]) -> str:
    return f"{', '.join(sorted(map(str, values))) or 'no number'} that the other does not have"


def _named(article: Article) -> str:
    return f"{article.ref} ({article.language})"
