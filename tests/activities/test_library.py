"""Laws of the library: a search is made anew each time, and only the words of a version are remembered."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from activities.library import Library
from domain.knowledge import Article, Audience, Passage
from knowledge.indexing import indexed
from knowledge.seeds import seed_articles
from language.embedding import embedder
from store.articles import add_article
from store.database import Database
from tests.conftest import MakeTenant
from tests.postgres import Postgres

NOW = datetime.now(UTC)
SHELF = [a for a in seed_articles() if a.language in ("en", "de") and a.slug in ("returns", "privacy", "store-credit")]


@pytest.fixture
async def db(postgres: Postgres) -> AsyncIterator[Database]:
    opened = Database(postgres.app_url)
    yield opened
    await opened.close()


@pytest.fixture
async def shelves(postgres: Postgres) -> AsyncIterator[Database]:
    opened = Database(postgres.owner_url)
    yield opened
    await opened.close()


@pytest.fixture
async def tenant(shelves: Database, make_tenant: MakeTenant) -> str:
    tenant = make_tenant()
    await add(shelves, tenant, *SHELF)
    return tenant


async def add(shelves: Database, tenant: str, *articles: Article) -> None:
    async with shelves.transaction(tenant) as tx:
        for article in articles:
            await add_article(tx, tenant, indexed(article, embedder()))


def names(passages: tuple[Passage, ...]) -> list[str]:
    return [f"{p.article.ref} {p.article.language}" for p in passages]


async def test_a_question_in_other_words_finds_its_passage_with_why(db: Database, tenant: str) -> None:
    asked = "How many days do I have to return an item?"
    (best, *_) = await Library(db, embedder()).find(tenant, asked, "en", Audience.PUBLIC, NOW)
    assert best.article.slug == "returns"
    assert best.text in best.article.body
    assert best.certain
    assert any(reason.startswith("full text: ") for reason in best.why)


async def test_without_a_model_words_alone_find_it(db: Database, tenant: str) -> None:
    (best, *_) = await Library(db, None).find(tenant, "return items 30 days delivery", "en", Audience.PUBLIC, NOW)
    assert best.article.slug == "returns"
    assert not any(reason.startswith("meaning") for reason in best.why)


async def test_a_visitor_is_never_given_what_the_library_remembers_of_others(db: Database, tenant: str) -> None:
    library, asked = Library(db, embedder()), "Does my store credit expire?"
    signed_in = await library.find(tenant, asked, "en", Audience.SIGNED_IN, NOW)
    visitor = await library.find(tenant, asked, "en", Audience.PUBLIC, NOW)
    assert "store-credit@1 en" in names(signed_in)
    assert "store-credit@1 en" not in names(visitor)


async def test_a_new_version_is_found_at_once_and_the_old_one_as_of_then(
    db: Database, shelves: Database, tenant: str
) -> None:
    library, asked = Library(db, embedder()), "How many days do I have to return an item?"
    await library.find(tenant, asked, "en", Audience.PUBLIC, NOW)
    (first,) = [a for a in SHELF if a.slug == "returns" and a.language == "en"]
    newer = first.model_copy(update={"version": 2, "body": "Within 14 days.", "effective_from": NOW})
    await add(shelves, tenant, newer)
    now = await library.find(tenant, asked, "en", Audience.PUBLIC, NOW)
    before = await library.find(tenant, asked, "en", Audience.PUBLIC, NOW - timedelta(days=1))
    assert "returns@2 en" in names(now)
    assert "returns@1 en" in names(before)
    assert await library.recall(tenant, [before[0].ref]) == (before[0].model_copy(update={"score": 0.0, "why": ()}),)


async def test_a_language_without_the_page_gets_another_only_where_that_was_asked_for(
    db: Database, tenant: str
) -> None:
    library, asked = Library(db, embedder()), "返品は何日以内ですか"
    assert await library.find(tenant, asked, "ja", Audience.PUBLIC, NOW) == ()
    found = await library.find(tenant, asked, "ja", Audience.PUBLIC, NOW, also=("en",))
    assert bool(found) is (embedder() is not None)
    assert not any(p.certain for p in found)


async def test_nothing_asked_is_nothing_found(db: Database, tenant: str) -> None:
    assert await Library(db, embedder()).find(tenant, " \n", "en", Audience.PUBLIC, NOW) == ()


async def test_what_a_full_library_forgets_for_one_turn_another_is_given_all_the_same(
    db: Database, tenant: str
) -> None:
    words, reader = "return items delivery refund privacy", Audience.SIGNED_IN
    refs = [p.ref for p in await Library(db, None).find(tenant, words, "en", reader, NOW)]
    assert len(refs) >= 2
    library = Library(db, None, kept_max=len(refs))
    await library.recall(tenant, refs[:1])
    found, nothing = await asyncio.gather(library.recall(tenant, refs), library.recall("t-nobody", refs))
    assert [p.ref.key for p in found] == [r.key for r in refs]
    assert nothing == ()
