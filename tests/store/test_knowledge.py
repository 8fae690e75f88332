"""Laws of a search: who may read, what counts then, which version fits, in which language, and nothing of others."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import pytest_asyncio
import sqlalchemy as sa

from domain.knowledge import Article, ArticleKind, Audience, PassageRef
from domain.retrieval import KnowledgeQuery
from language.searchable import asked_words, searchable
from store.articles import NewArticle, NewPassage, add_article, all_articles, articles_to_index, index_article
from store.database import Database
from store.knowledge import ARTICLES, passages_by_ref, search_hits
from store.migrate import migrate
from store.url import driver_url
from store.vectors import use_vectors
from tests.conftest import MakeTenant
from tests.postgres import Postgres, new_database

DAY = timedelta(days=1)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
Vector = tuple[float, ...]


def page(**more: object) -> Article:
    given: dict[str, object] = {
        "slug": "returns",
        "version": 1,
        "language": "en",
        "title": "Returning items",
        "body": "You may return items within 30 days.",
        "effective_from": NOW - 9 * DAY,
        "reviewed_by": "Ada",
        **more,
    }
    return Article.model_validate(given)


def indexed(article: Article, embedding: Vector | None = None, embedder: str = "m") -> NewArticle:
    passage = NewPassage(
        position=0,
        text=article.body,
        title_words=searchable(article.title),
        words=searchable(article.body),
        embedding=embedding,
        embedder=embedder if embedding else None,
    )
    return NewArticle(article=article, passages=(passage,))


@pytest_asyncio.fixture(loop_scope="session")
async def owner_db(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.owner_url, 1)
    yield database
    await database.close()


async def keep(owner_db: Database, tenant: str, *articles: Article | NewArticle) -> None:
    async with owner_db.transaction(tenant) as tx:
        for one in articles:
            await add_article(tx, tenant, indexed(one) if isinstance(one, Article) else one)


async def found(
    db: Database, tenant: str, text: str = "return items", embedding: Vector | None = None, **more: Any
) -> list[tuple[str, int, str]]:
    given: dict[str, Any] = {"languages": ("en",), "reader": Audience.PUBLIC, "at": NOW, "limit": 9, **more}
    query = KnowledgeQuery(text=text, **given)
    hits = await search_hits(db, tenant, query, asked_words(text), embedding, "m" if embedding else None)
    return [(f.hit.slug, f.hit.version, f.hit.language) for f in hits]


@pytest.mark.parametrize(
    ("reader", "slugs"),
    [
        (Audience.PUBLIC, {"public"}),
        (Audience.SIGNED_IN, {"public", "signed_in"}),
        (Audience.STAFF, {"public", "signed_in", "staff"}),
    ],
)
async def test_a_reader_finds_what_is_for_them_and_nothing_else(
    reader: Audience, slugs: set[str], db: Database, tenant: str, owner_db: Database
) -> None:
    await keep(owner_db, tenant, *(page(slug=a.value.replace("_", "-"), audience=a.value) for a in Audience))
    assert {s.replace("-", "_") for s, _, _ in await found(db, tenant, reader=reader)} == slugs


async def test_another_tenant_finds_nothing_of_it(
    db: Database, tenant: str, make_tenant: MakeTenant, owner_db: Database
) -> None:
    await keep(owner_db, tenant, page())
    other = make_tenant()
    ref = PassageRef(slug="returns", version=1, language="en", position=0, certain=True)
    assert await found(db, tenant)
    assert not await found(db, other, reader=Audience.STAFF)
    assert await passages_by_ref(db, other, [ref]) == ()


async def test_the_newest_version_that_counted_then_is_found(db: Database, tenant: str, owner_db: Database) -> None:
    await keep(
        owner_db,
        tenant,
        page(),
        page(version=2, effective_from=NOW - 5 * DAY),
        page(version=3, effective_from=NOW - 5 * DAY, effective_until=NOW - DAY),
        page(version=4, effective_from=NOW + DAY),
    )
    days = {-20: None, -9: 1, -5: 3, -1: 2, 0: 2, 1: 4}
    for day, version in days.items():
        versions = [v for _, v, _ in await found(db, tenant, at=NOW + day * DAY)]
        assert versions == ([] if version is None else [version]), day


async def test_a_page_that_became_staffs_is_not_found_in_its_older_version(
    db: Database, tenant: str, owner_db: Database
) -> None:
    await keep(owner_db, tenant, page(), page(version=2, audience="staff"))
    assert await found(db, tenant) == []
    assert await found(db, tenant, reader=Audience.STAFF) == [("returns", 2, "en")]


async def test_what_nobody_has_reviewed_is_for_staff_and_hides_nothing(
    db: Database, tenant: str, owner_db: Database
) -> None:
    await keep(owner_db, tenant, page(), page(version=2, reviewed_by=None))
    assert await found(db, tenant, reader=Audience.SIGNED_IN) == [("returns", 1, "en")]
    assert await found(db, tenant, reader=Audience.STAFF) == [("returns", 2, "en")]


@pytest.mark.parametrize(
    ("version", "slugs"),
    [(None, {"all"}), ("1.9", {"all"}), ("2", {"all", "two"}), ("2.4.1", {"all", "two", "two-four"}), ("20", {"all"})],
)
async def test_a_page_for_some_versions_is_found_for_these_and_what_is_below_them(
    version: str | None, slugs: set[str], db: Database, tenant: str, owner_db: Database
) -> None:
    two = page(slug="two", product_versions=("2",))
    await keep(owner_db, tenant, page(slug="all"), two, page(slug="two-four", product_versions=("2.4",)))
    assert {slug for slug, _, _ in await found(db, tenant, product_version=version)} == slugs
    assert len(await found(db, tenant, reader=Audience.STAFF)) == 3


async def test_a_page_is_found_in_the_first_of_the_languages_that_it_is_in(
    db: Database, tenant: str, owner_db: Database
) -> None:
    german = page(language="de", title="Artikel return", body="Return items in Deutsch.")
    await keep(owner_db, tenant, page(), german, page(slug="other"))
    assert await found(db, tenant, languages=("de",)) == [("returns", 1, "de")]
    in_both = await found(db, tenant, languages=("de", "en"))
    assert sorted(in_both) == [("other", 1, "en"), ("returns", 1, "de")]
    assert await found(db, tenant, languages=("fr",)) == []


async def test_macros_are_found_only_where_they_are_asked_for(db: Database, tenant: str, owner_db: Database) -> None:
    await keep(owner_db, tenant, page(kind="macro", audience="staff"))
    assert await found(db, tenant, reader=Audience.STAFF) == []
    assert await found(db, tenant, reader=Audience.STAFF, kinds=tuple(ArticleKind)) == [("returns", 1, "en")]


@pytest.mark.parametrize(
    ("language", "title", "asked"),
    [
        ("en", "Returning items", "how do I return an item"),
        ("de", "Rückgaben", "rückgabe"),
        ("es", "Devolución", "devolucion"),  # without its accent
        ("ja", "返品について", "返品したい"),
        ("zh", "如何申请退款", "退款要多久"),
        ("th", "การคืนสินค้า", "อยากคืนสินค้า"),
        ("ru", "Возврат товаров", "возврат товара"),
        ("ar", "إرجاع المنتجات", "إرجاع منتج"),
        ("xx", "Zurgle", "zurgle"),  # a language of which Postgres knows nothing
    ],
)
async def test_words_are_found_by_the_rules_of_their_language(
    language: str, title: str, asked: str, db: Database, tenant: str, owner_db: Database
) -> None:
    other = page(slug="other", language=language, title="Qwxz", body="Qwxz.")
    await keep(owner_db, tenant, page(language=language, title=title, body="—"), other)
    assert await found(db, tenant, asked, languages=(language,)) == [("returns", 1, language)]


async def test_a_rarer_word_of_the_question_counts_for_more(db: Database, tenant: str, owner_db: Database) -> None:
    order = [page(slug=f"order-{n}", title="Order", body=f"Order order number {n}.") for n in range(5)]
    await keep(owner_db, tenant, *order, page(slug="invoice", title="Invoice", body="The invoice is there."))
    assert (await found(db, tenant, "invoice order"))[0][0] == "invoice"


async def test_meaning_finds_what_shares_no_word_and_only_by_the_same_model(
    db: Database, tenant: str, owner_db: Database
) -> None:
    near, far = (0.9, 0.1, 0.0), (0.0, 0.1, 0.9)
    await keep(owner_db, tenant, indexed(page(slug="near"), near), indexed(page(slug="far"), far))
    await keep(owner_db, tenant, indexed(page(slug="foreign"), (1.0, 0.0, 0.0, 0.0), "another"))
    assert [s for s, _, _ in await found(db, tenant, "zzz", (1.0, 0.0, 0.0))] == ["near", "far"]


async def test_text_without_words_finds_nothing_and_hurts_nobody(db: Database, tenant: str, owner_db: Database) -> None:
    await keep(owner_db, tenant, page())
    for text in ("🙂", "' \\ & | ! :*", "\u200b", "-- ; drop table passages", "x" * 10_000):
        assert await found(db, tenant, text) == []


async def test_passages_are_read_by_reference_whatever_counts_now(
    db: Database, tenant: str, owner_db: Database
) -> None:
    await keep(owner_db, tenant, page(), page(version=2))
    ref = PassageRef(slug="returns", version=1, language="en", position=0, certain=True)
    gone = ref.model_copy(update={"version": 9})
    (passage,) = await passages_by_ref(db, tenant, [gone, ref])
    assert (passage.article, passage.text, passage.ref) == (page(), page().body, ref)
    assert await passages_by_ref(db, tenant, []) == ()


async def test_an_article_is_added_to_and_never_changed(
    db: Database, tenant: str, owner: psycopg.Connection[Any], owner_db: Database
) -> None:
    await keep(owner_db, tenant, indexed(page(), (1.0, 0.0, 0.0)))
    await keep(owner_db, tenant, page(title="Other", body="Other."))
    assert [one.article for one in await all_articles(db, tenant)] == [page()]
    for statement in (
        "UPDATE articles SET title = ''",
        "DELETE FROM articles",
        "UPDATE passages SET text = 'x'",
        "INSERT INTO articles SELECT (a).* FROM (SELECT a FROM articles a) AS kept",
        "INSERT INTO passages SELECT (p).* FROM (SELECT p FROM passages p) AS kept",
        "UPDATE passages SET embedding = NULL, embedder = NULL",
    ):
        with pytest.raises(sa.exc.DBAPIError):
            async with db.transaction(tenant) as tx:
                await tx.execute(sa.text(statement))
    assert await articles_to_index(db, tenant, "m") == ()
    assert await articles_to_index(db, tenant, "newer") == (page(),)
    await index_article(owner_db, tenant, indexed(page(), (0.0, 1.0), "newer"))
    assert await articles_to_index(db, tenant, "newer") == ()


async def test_drafts_on_other_things_quote_what_counts_now_for_everybody(
    db: Database, tenant: str, owner_db: Database
) -> None:
    await keep(
        owner_db,
        tenant,
        page(),
        page(version=2, reviewed_by=None),
        page(slug="later", effective_from=datetime.now(UTC) + DAY),
        page(slug="ours", audience="staff"),
        page(slug="macro", kind="macro"),
        page(slug="some", product_versions=("2",)),
    )
    (rows,) = await db.at_once(tenant, ARTICLES())
    assert [(r.slug, r.version) for r in rows] == [("returns", 1)]


async def test_without_pgvector_the_same_is_found_and_a_later_migration_takes_it_up(
    postgres: Postgres,
) -> None:
    with new_database(postgres.admin_url, vectors=False) as database:
        migrate(database.owner_url, database.app_url, database.relay_url)
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("INSERT INTO tenants (id, name, kind) VALUES ('acme', 'Acme', 'saas')")
        db, owner_db = Database(database.app_url, 1), Database(database.owner_url, 1)
        near, far = (0.9, 0.1, 0.0), (0.0, 0.1, 0.9)
        await keep(owner_db, "acme", indexed(page(slug="near"), near), indexed(page(slug="far"), far))
        before = await found(db, "acme", "zzz", (1.0, 0.0, 0.0))
        assert [s for s, _, _ in before] == ["near", "far"]
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            there = admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
            if there is not None:
                admin.execute("CREATE EXTENSION vector")
        engine = sa.create_engine(driver_url(database.owner_url), poolclass=sa.NullPool)
        with engine.connect() as connection:
            assert use_vectors(connection) is (there is not None)
        assert await found(db, "acme", "zzz", (1.0, 0.0, 0.0)) == before
        await db.close()
        await owner_db.close()
