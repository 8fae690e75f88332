"""Articles and their passages as a reader may have them: searched by words and by meaning, and read by reference.

Who may read, what counts at a moment and which version fits the product are decided by the one statement that searches.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on

from domain.knowledge import Article, ArticleKind, Audience, Passage, PassageRef
from domain.retrieval import Found, Hit, KnowledgeQuery, in_order
from store import tables as t
from store.database import Database
from store.full_text import configuration
from store.pipeline import Row, Statement

CANDIDATES_MAX = 40
_HITS = Statement(
    sa.text(
        """
WITH asked AS MATERIALIZED (
    SELECT language, preference, CAST(config AS regconfig) AS config
      FROM unnest(CAST(:languages AS text[]), CAST(:configs AS text[])) WITH ORDINALITY
           AS l (language, config, preference)
), newest AS (
    SELECT DISTINCT ON (slug, language) slug, language, version, audience, kind, effective_from
      FROM articles
     WHERE language = ANY (CAST(:languages AS text[]))
       AND effective_from <= :at AND (effective_until IS NULL OR effective_until > :at)
       AND (reviewed_by IS NOT NULL OR :for_staff)
       AND (product_versions = '{}' OR (:product_version = '' AND :for_staff)
            OR EXISTS (SELECT FROM unnest(product_versions) AS v
                        WHERE v = :product_version OR starts_with(:product_version, v || '.')))
     ORDER BY slug, language, version DESC
), readable AS (
    SELECT DISTINCT ON (slug) newest.*
      FROM newest JOIN asked USING (language)
     WHERE audience = ANY (CAST(:audiences AS text[])) AND kind = ANY (CAST(:kinds AS text[]))
     ORDER BY slug, preference
), candidates AS MATERIALIZED (
    SELECT slug, language, version, position, audience, effective_from, words,
           CASE WHEN embedder = :embedder
                THEN nearness(embedding, (SELECT as_kept(CAST(:embedding AS real[])))) END AS nearness
      FROM readable JOIN passages USING (slug, language, version)
), weights AS MATERIALIZED (
    SELECT language, term, ln(1 + (passages + 1.0) / (holding + 0.5)) AS weight
      FROM asked
     CROSS JOIN unnest(to_tsvector(config, :words)) AS found
     CROSS JOIN CAST(quote_literal(lexeme) AS tsquery) AS term
     CROSS JOIN LATERAL (SELECT count(*) AS passages, count(*) FILTER (WHERE words @@ term) AS holding
                           FROM candidates WHERE candidates.language = asked.language) AS of_all
), scored AS MATERIALIZED (
    SELECT candidates.*, coalesce((SELECT sum(weight) FILTER (WHERE words @@ term) / sum(weight)
                                     FROM weights WHERE weights.language = candidates.language), 0) AS share
      FROM candidates
), hits AS (
    SELECT *, row_number() OVER (ORDER BY share DESC) AS by_words,
           row_number() OVER (ORDER BY nearness DESC NULLS LAST) AS by_meaning
      FROM scored
)
SELECT slug, language, version, position, audience, effective_from, nearness, share
  FROM hits
 WHERE (by_words <= :candidates_max AND share > 0) OR (by_meaning <= :candidates_max AND nearness IS NOT NULL)
"""
    )
)
_PASSAGES = Statement(
    sa.text(
        """
SELECT a.*, p.position, p.text AS passage
  FROM unnest(CAST(:slugs AS text[]), CAST(:languages AS text[]), CAST(:versions AS int[]), CAST(:positions AS int[]))
       AS r (slug, language, version, position)
  JOIN articles a USING (slug, language, version)
  JOIN passages p USING (slug, language, version, position)
"""
    )
)


async def search_hits(
    db: Database,
    tenant_id: str,
    query: KnowledgeQuery,
    words: str,
    embedding: Sequence[float] | None = None,
    embedder: str | None = None,
) -> tuple[Found, ...]:
    """Return what fits the query, likeliest first, at most `query.limit`, without its text.

    `words` is the text as `language.searchable` gives it; `embedding` that of the text, by the model `embedder`.
    """
    (rows,) = await db.at_once(
        tenant_id,
        _HITS(
            languages=list(query.languages),
            configs=[configuration(language) for language in query.languages],
            audiences=[a.value for a in query.audiences],
            kinds=[k.value for k in query.kinds],
            at=query.at,
            for_staff=query.reader is Audience.STAFF,
            product_version=query.product_version or "",
            words=words,
            embedding=list(embedding) if embedding is not None else None,
            embedder=embedder,
            candidates_max=CANDIDATES_MAX,
        ),
    )
    return in_order(query, [Hit(**row._asdict()) for row in rows])


def chosen(passage: Passage, found: Found) -> Passage:
    """Return the passage as a search has chosen it."""
    return passage.model_copy(update={"score": found.score, "certain": found.certain, "why": found.why})


async def passages_by_ref(db: Database, tenant_id: str, refs: Sequence[PassageRef]) -> tuple[Passage, ...]:
    """Return the passages of `refs` that there are, in their order; each is as certain as its reference says."""
    if not refs:
        return ()
    (rows,) = await db.at_once(
        tenant_id,
        _PASSAGES(
            slugs=[r.slug for r in refs],
            languages=[r.language for r in refs],
            versions=[r.version for r in refs],
            positions=[r.position for r in refs],
        ),
    )
    found = {(r.slug, r.language, r.version, r.position): r for r in rows}
    return tuple(_to_passage(found[ref.key], ref.certain) for ref in refs if ref.key in found)


def _to_passage(row: Row, certain: bool) -> Passage:
    return Passage(article=to_article(row), position=row.position, text=row.passage, score=0.0, certain=certain)


_a = t.articles.c
_NEWEST = (
    sa.select(t.articles)
    .ext(distinct_on(_a.slug, _a.language))
    .where(
        _a.effective_from <= sa.func.now(),
        sa.or_(_a.effective_until.is_(None), _a.effective_until > sa.func.now()),
        _a.reviewed_by.is_not(None),
        _a.kind == ArticleKind.ARTICLE.value,
        _a.product_versions == sa.cast(sa.literal("{}"), ARRAY(sa.Text)),
    )
    .order_by(_a.slug, _a.language, _a.version.desc())
    .subquery()
)
ARTICLES = Statement(sa.select(_NEWEST).where(_NEWEST.c.audience != Audience.STAFF.value))


def to_article(row: Row) -> Article:
    """Return a row of `articles` as the noun."""
    return Article(**{name: getattr(row, name) for name in Article.model_fields})
