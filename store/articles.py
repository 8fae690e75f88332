"""Articles and their passages as they are kept: added to, listed, and indexed anew; never changed, never deleted.

One transaction each; what is written, the owner of the tables writes. Who may read is `store.knowledge`'s to say.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.knowledge import Article
from store import tables as t
from store.database import Database, Tx
from store.full_text import configuration
from store.knowledge import to_article
from store.pipeline import Statement, run


class NewPassage(Noun):
    """A passage to keep. `words` is what full text finds it by; `embedding` is by `embedder`, both None without one."""

    position: int
    text: str
    title_words: str  # of its title and headings, which count for more
    words: str
    embedding: tuple[float, ...] | None = None
    embedder: str | None = None


class NewArticle(Noun):
    """An article with its passages; without `effective_from` it counts from when it is kept."""

    article: Article
    passages: tuple[NewPassage, ...]


class ListedArticle(Noun):
    """An article with what has been kept about it."""

    article: Article
    imported_at: datetime
    passages: int


_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(hashtextextended('interlock.knowledge:' || :tenant_id, 0))")
_a, _p = t.articles.c, t.passages.c
_ITS_OWN = sa.and_(  # with the tenant, since the owner sees those of all
    _p.tenant_id == _a.tenant_id, _p.slug == _a.slug, _p.language == _a.language, _p.version == _a.version
)


async def hold_shelves(tx: Tx, tenant_id: str) -> tuple[Article, ...]:
    """Return every article of the tenant, all versions, and let nobody else add one until the transaction ends."""
    await tx.execute(_ONE_AT_A_TIME, {"tenant_id": tenant_id})
    query = sa.select(t.articles).where(_a.tenant_id == tenant_id).order_by(_a.slug, _a.language, _a.version)
    return tuple(to_article(row) for row in await tx.execute(query))


async def add_article(tx: Tx, tenant_id: str, new: NewArticle) -> None:
    """Keep an article and its passages. Where that version is there already, nothing is changed."""
    row = new.article.model_dump(exclude_none=True) | {"tenant_id": tenant_id}
    row |= {"kind": new.article.kind.value, "product_versions": list(new.article.product_versions)}
    kept = insert(t.articles).values(**row).on_conflict_do_nothing().returning(_a.version)
    if (await tx.execute(kept)).one_or_none() is not None:
        await _add_passages(tx, tenant_id, new)


_ADD_PASSAGE = Statement(
    sa.text(
        """
INSERT INTO passages (tenant_id, slug, language, version, position, text, words, embedding, embedder)
VALUES (:tenant_id, :slug, :language, :version, :position, :text,
        setweight(to_tsvector(CAST(:rules AS regconfig), :title_words), 'A')
            || to_tsvector(CAST(:rules AS regconfig), :words),
        CAST(:embedding AS real[]), :embedder)
    ON CONFLICT DO NOTHING
"""
    )
)


async def _add_passages(tx: Tx, tenant_id: str, new: NewArticle) -> None:
    article = new.article
    of = {"slug": article.slug, "language": article.language, "version": article.version}
    rules = configuration(article.language)
    added = [_ADD_PASSAGE(tenant_id=tenant_id, **of, rules=rules, **_row(one)) for one in new.passages]
    await run(tx, *added)


def _row(one: NewPassage) -> dict[str, Any]:
    return one.model_dump() | {"embedding": list(one.embedding) if one.embedding is not None else None}


async def articles_to_index(db: Database, tenant_id: str, embedder: str | None) -> tuple[Article, ...]:
    """Return the articles that have no passages, or passages whose embeddings are not by `embedder`."""
    other = sa.exists().where(_ITS_OWN, _p.embedder.is_distinct_from(embedder) if embedder else sa.false())
    missing = sa.and_(_a.tenant_id == tenant_id, sa.or_(~sa.exists().where(_ITS_OWN), other))
    query = sa.select(t.articles).where(missing).order_by(_a.slug, _a.language, _a.version)
    async with db.transaction(tenant_id) as tx:
        return tuple(to_article(row) for row in await tx.execute(query))


async def index_article(owner: Database, tenant_id: str, new: NewArticle) -> None:
    """Keep the passages of an article that is there, where it has none, and the embeddings of all of them."""
    article = new.article
    async with owner.transaction(tenant_id) as tx:
        await _add_passages(tx, tenant_id, new)
        for one in new.passages:
            if one.embedding is not None:
                of = (_p.slug == article.slug, _p.language == article.language, _p.version == article.version)
                there = sa.and_(_p.tenant_id == tenant_id, *of, _p.position == one.position, _p.text == one.text)
                known = sa.update(t.passages).where(there)
                await tx.execute(known.values(embedding=list(one.embedding), embedder=one.embedder))


_LISTED = Statement(
    sa.select(t.articles, sa.func.count(_p.position).label("passages"))
    .outerjoin(t.passages, _ITS_OWN)
    .group_by(_a.tenant_id, _a.slug, _a.language, _a.version)
    .order_by(_a.slug, _a.language, _a.version.desc())
)


async def all_articles(db: Database, tenant_id: str) -> tuple[ListedArticle, ...]:
    """Return every article of the tenant, all versions, the newest first within a slug and a language."""
    (rows,) = await db.at_once(tenant_id, _LISTED())
    return tuple(ListedArticle(article=to_article(r), imported_at=r.imported_at, passages=r.passages) for r in rows)
