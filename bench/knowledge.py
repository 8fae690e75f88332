"""`python -m bench.knowledge [--json FILE] [--quick]`: how long one search takes among a thousand articles.

With embeddings as vectors of pgvector, with the same as arrays, and by words alone, each with the part of it that is
spent in Postgres. The articles are the seeds over and over, their words shuffled and their embeddings moved a little.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg

from activities.library import Library
from bench.figures import Figures, circumstances, percentile_ms, report
from bench.scratch import Urls, scratch_database
from domain.knowledge import Article, Audience
from domain.retrieval import KnowledgeQuery
from knowledge.indexing import indexed
from knowledge.seeds import seed_articles
from language.embedding import Embedder, embedder
from language.searchable import asked_words
from seeding.tenants import provision
from store.articles import NewArticle, add_article
from store.database import Database
from store.knowledge import search_hits

ARTICLES, ARTICLES_QUICK = 1_000, 100
SEARCHES, SEARCHES_QUICK = 300, 30
TENANT = "bench"
ASKED = (
    "How many days do I have to send something back?",
    "where does the money go when I get a refund",
    "Can I still change the address of my parcel?",
    "Is there a notice period for my subscription?",
)
_TO_ARRAYS = "ALTER TABLE passages ALTER COLUMN embedding TYPE real[] USING embedding::real[]"


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge", description="Measure searches of the articles.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: a look, not a measurement")
    asked = parser.parse_args()
    sizes = (ARTICLES_QUICK, SEARCHES_QUICK) if asked.quick else (ARTICLES, SEARCHES)
    with scratch_database() as urls:
        figures = circumstances() | asyncio.run(_measure(urls, *sizes))
    report(figures, asked.json)
    return 0


async def _measure(urls: Urls, articles: int, searches: int) -> Figures:
    owner, db = Database(urls.owner, 1), Database(urls.app, 2)
    model = embedder()
    try:
        await provision(owner, {"tenants": [{"id": TENANT, "kind": "marketplace"}]})
        passages = await _fill(owner, model, articles)
        figures: Figures = {"articles": articles, "passages": passages, "searches": searches}
        if model is not None:
            figures |= await _searches("vectors", db, model, searches)
            with psycopg.connect(urls.owner, autocommit=True) as connection:
                connection.execute(_TO_ARRAYS)
            figures |= await _searches("arrays", db, model, max(1, searches // 10))
        return figures | await _searches("words", db, None, searches)
    finally:
        await owner.close()
        await db.close()


async def _fill(owner: Database, model: Embedder | None, count: int) -> int:
    """Keep so many articles in one language; return how many passages they have."""
    chance = random.Random(7)  # noqa: S311 (the same articles each time)
    noise = np.random.default_rng(7)
    seeds = [indexed(a, model) for a in seed_articles() if a.language == "en" and a.audience == Audience.PUBLIC]
    async with owner.transaction(TENANT) as tx:
        made = [_variant(seeds[n % len(seeds)], n, chance, noise) for n in range(count)]
        for new in made:
            await add_article(tx, TENANT, new)
    return sum(len(new.passages) for new in made)


def _variant(seed: NewArticle, n: int, chance: random.Random, noise: np.random.Generator) -> NewArticle:
    def moved(embedding: Sequence[float] | None) -> tuple[float, ...] | None:
        if embedding is None:
            return None
        vector = np.asarray(embedding) + noise.normal(0, 0.01, len(embedding))
        return tuple((vector / np.linalg.norm(vector)).tolist())

    def shuffled(words: str) -> str:
        return " ".join(chance.sample(words.split(), len(words.split())))

    article: Article = seed.article.model_copy(update={"slug": f"page-{n}"})
    passages = tuple(
        p.model_copy(update={"words": shuffled(p.words), "embedding": moved(p.embedding)}) for p in seed.passages
    )
    return NewArticle(article=article, passages=passages)


async def _searches(name: str, db: Database, model: Embedder | None, count: int) -> Figures:
    library, now = Library(db, model), datetime.now(UTC)
    whole: list[float] = []
    database: list[float] = []
    for n in range(count + len(ASKED)):
        text = ASKED[n % len(ASKED)]
        began_at = time.perf_counter()
        await library.find(TENANT, text, "en", Audience.PUBLIC, now)
        whole.append(time.perf_counter() - began_at)
        embedding = model.embed_query(text).tolist() if model else None
        query = KnowledgeQuery(text=text, languages=("en",), reader=Audience.PUBLIC, at=now)
        began_at = time.perf_counter()
        await search_hits(db, TENANT, query, asked_words(text), embedding, model.name if model else None)
        database.append(time.perf_counter() - began_at)
    kept = slice(len(ASKED), None)  # the first of each warm up
    return {
        f"{name}_{what}_{quantile}_ms": percentile_ms(samples[kept], q)
        for what, samples in (("search", whole), ("database", database))
        for quantile, q in (("p50", 0.5), ("p95", 0.95))
    }


if __name__ == "__main__":
    sys.exit(main())
