"""What a search of the knowledge asks for, what it finds, and how finds by words and by meaning become one order.

Pure; who may read what is part of the question, so that no search can be asked without it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from domain.base import Noun
from domain.knowledge import ArticleKind, Audience, PassageKey, PassageRef

READS: dict[Audience, tuple[Audience, ...]] = {
    Audience.PUBLIC: (Audience.PUBLIC,),
    Audience.SIGNED_IN: (Audience.PUBLIC, Audience.SIGNED_IN),
    Audience.STAFF: (Audience.PUBLIC, Audience.SIGNED_IN, Audience.STAFF),
}


class KnowledgeQuery(Noun):
    """One search. `languages` in order of preference: a page is found in the first of them that it is written in.

    `reader` is who it is for. `product_version` None: the customer's is not known, so only pages count that hold for
    every version; staff who name none find them all.
    """

    text: str
    languages: tuple[str, ...]
    reader: Audience
    at: datetime
    product_version: str | None = None
    kinds: tuple[ArticleKind, ...] = (ArticleKind.ARTICLE,)
    limit: int = 3

    @property
    def audiences(self) -> tuple[Audience, ...]:
        """The audiences whose pages the reader may read."""
        return READS[self.reader]


class Hit(Noun):
    """A passage that a search has looked at. `share`: how much of what was asked, by weight, its words hold (0 to 1).

    `nearness` is the cosine of the embeddings, None where there are none of one model.
    """

    slug: str
    version: int
    language: str
    position: int
    audience: Audience
    effective_from: datetime
    share: float
    nearness: float | None

    @property
    def key(self) -> PassageKey:
        """What it is known by among its tenant's passages."""
        return self.slug, self.language, self.version, self.position


class Found(Noun):
    """A hit in its place, with the reasons for it."""

    hit: Hit
    score: float
    certain: bool
    why: tuple[str, ...]

    @property
    def ref(self) -> PassageRef:
        """Which passage it is, without its words."""
        h = self.hit
        return PassageRef(
            slug=h.slug, version=h.version, language=h.language, position=h.position, certain=self.certain
        )


# Measured by `python -m evals.knowledge`; docs/knowledge.md has the table.
_WORDS_WEIGH = 0.05  # what a passage that holds every word of the question gains over its nearness
_UNRELATED = 0.80  # the nearness of texts that have nothing to do with each other, and so of one without an embedding
_CERTAIN, _LEAD = 0.883, 0.005  # by meaning and words: how near it is, and how far before any other article
_CERTAIN_BY_WORDS, _LEAD_BY_WORDS = 0.5, 0.2  # by words alone, where no model makes embeddings
_BESIDE, _BESIDE_BY_WORDS = 0.005, 0.05  # how far behind, within a page, what is as good an answer


def in_order(query: KnowledgeQuery, hits: Sequence[Hit]) -> tuple[Found, ...]:
    """Return the best of `hits` for the query, likeliest first, with the reasons.

    Only what comes first may be certain: near enough, far enough before every other article, and in the language
    preferred; and with it what is hardly less near of the same page, since there is no telling which of them it is.
    """
    by_meaning = any(hit.nearness is not None for hit in hits)
    ranked = sorted(((_score(hit, by_meaning), hit) for hit in hits), key=lambda one: (-one[0], one[1].key))
    return tuple(
        Found(
            hit=hit,
            score=round(score, 4),
            certain=_is_certain(ranked, score, hit, by_meaning) and hit.language == query.languages[0],
            why=tuple(_reasons(query, hit)),
        )
        for score, hit in ranked[: query.limit]
    )


def _score(hit: Hit, by_meaning: bool) -> float:
    if not by_meaning:
        return hit.share
    return (_UNRELATED if hit.nearness is None else hit.nearness) + _WORDS_WEIGH * hit.share


def _is_certain(ranked: Sequence[tuple[float, Hit]], score: float, hit: Hit, by_meaning: bool) -> bool:
    """Whether `hit` may answer by itself: the first of `ranked`, or the same page where it hardly comes after."""
    enough, lead = (_CERTAIN, _LEAD) if by_meaning else (_CERTAIN_BY_WORDS, _LEAD_BY_WORDS)
    behind = _BESIDE if by_meaning else _BESIDE_BY_WORDS
    best, first = ranked[0]
    rival = next((score for score, hit in ranked if hit.slug != first.slug), 0.0)
    good = hit == first or (hit.key[:3] == first.key[:3] and best - score < behind)
    return good and best >= enough and best - rival >= lead


def _reasons(query: KnowledgeQuery, hit: Hit) -> Iterator[str]:
    if hit.share > 0:
        yield f"full text: {hit.share:.2f} of what was asked"
    if hit.nearness is not None:
        yield f"meaning: {hit.nearness:.2f}"
    yield f"newest version in force, since {hit.effective_from:%Y-%m-%d}"
    yield f"audience: {hit.audience.value}"
    if hit.language != query.languages[0]:
        yield f"in {hit.language}: it is not written in {query.languages[0]}"
