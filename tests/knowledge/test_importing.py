"""Laws of an import: all or nothing, nothing new makes no version, and nothing that is there is ever changed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from domain.knowledge import Article
from knowledge.exporting import export_articles, newest
from knowledge.importing import NotImported, Outcome, import_articles, planned, preview_import, read_files
from knowledge.indexing import index_missing
from knowledge.markdown import Source, read_article
from store.articles import all_articles
from store.database import Database
from tests.conftest import MakeTenant
from tests.postgres import Postgres

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PAGE = "---\nslug: {slug}\nlanguage: en\ntitle: Returns\nreviewed_by: Ada\n{more}---\n{body}\n"


@pytest.fixture
async def owner_db(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.owner_url, 1)
    yield database
    await database.close()


def source(body: str = "Within 30 days.", more: str = "", slug: str = "returns") -> Source:
    return read_article(PAGE.format(slug=slug, body=body, more=more), f"{slug}.md")


def shelf(*sources: Source) -> tuple[Article, ...]:
    known: tuple[Article, ...] = ()
    for one in sources:
        known += tuple(p.article for p in planned([one], known, "acme", NOW) if p.outcome is Outcome.NEW)
    return known


def test_the_same_again_is_no_new_version_and_anything_else_is_the_next() -> None:
    known = shelf(source(), source())
    assert [(a.version, a.effective_from) for a in known] == [(1, NOW)]
    later = planned([source("Within 14 days.")], known, "acme", NOW + timedelta(days=1))
    assert [(p.outcome, p.article.version) for p in later] == [(Outcome.NEW, 2)]
    back = planned([source()], (*known, later[0].article), "acme", NOW)
    assert [(p.outcome, p.article.version) for p in back] == [(Outcome.NEW, 3)]


@pytest.mark.parametrize(
    ("sources", "what"),
    [
        ([source("Within 14 days.", "version: 1\n")], "version 1 of returns (en) is there and says something else"),
        ([source(more="tenant: other\n")], "it is for the tenant 'other', not for 'acme'"),
        ([source(slug="x"), source("Else.", slug="x")], "a page comes once, or names versions"),
        ([source("Else.", "effective_until: 2026-01-01\n")], "it would never count"),
    ],
)
def test_what_cannot_be_is_refused_with_its_file(sources: list[Source], what: str) -> None:
    with pytest.raises(NotImported) as raised:
        planned(sources, shelf(source()), "acme", NOW)
    assert what in raised.value.faults[0]
    assert raised.value.faults[0].startswith(sources[0].file)


def test_who_wrote_it_is_told_what_customers_will_not_see_or_will_see_raw() -> None:
    text = PAGE.format(slug="a", body="Send it **now**.", more="").replace("reviewed_by: Ada\n", "")
    (one,) = planned([read_article(text, "a.md")], (), "acme", NOW)
    assert len(one.remarks) == 2


def remarks(text: str, *before: str) -> tuple[str, ...]:
    known: tuple[Article, ...] = ()
    for n, one in enumerate(before):
        known += tuple(p.article for p in planned([read_article(one, "a.md")], known, "acme", NOW + timedelta(days=n)))
    (last,) = planned([read_article(text, "a.md")], known, "acme", NOW + timedelta(days=9))
    return last.remarks


def test_whoever_takes_a_page_back_is_told_what_customers_are_given_instead() -> None:
    first = PAGE.format(slug="a", body="Within 30 days.", more="")
    ends = PAGE.format(slug="a", body="Within 30 days.", more="effective_until: 2026-09-01\n")
    assert remarks(ends, first) == ("it ends on 2026-09-01 00:00 UTC; version 1 counts again",)
    assert remarks(ends) == ()
    unread = PAGE.format(slug="a", body="Ours.", more="audience: staff\n").replace("reviewed_by: Ada\n", "")
    (told,) = remarks(unread, first)
    assert told.endswith("only staff find it; version 1 goes on to count for customers")
    assert remarks(PAGE.format(slug="a", body="Ours.", more="audience: staff\n"), first) == ()


async def test_where_one_file_is_broken_none_is_imported(tmp_path: Path, db: Database, make_tenant: MakeTenant) -> None:
    tenant = make_tenant()
    (tmp_path / "good.md").write_text(PAGE.format(slug="good", body="Good.", more=""))
    (tmp_path / "bad.md").write_text("no header")
    (tmp_path / "worse.md").write_bytes(b"---\nslug: w\n\xff\n")
    with pytest.raises(NotImported) as raised:
        read_files([tmp_path])
    assert [f.removeprefix(str(tmp_path))[:8] for f in raised.value.faults] == ["/bad.md,", "/worse.m"]
    assert "line 3: this is not UTF-8" in raised.value.faults[1]
    assert await all_articles(db, tenant) == ()


async def test_what_is_exported_imports_again_as_what_it_was(
    tmp_path: Path, db: Database, make_tenant: MakeTenant, owner_db: Database
) -> None:
    tenant, other = make_tenant(), make_tenant()
    for body in ("Within 30 days.", "Within 14 days."):
        await import_articles(owner_db, tenant, [source(body), source("- One\n- Two", slug="list")], None, NOW)
    articles = [one.article for one in await all_articles(db, tenant)]
    assert [(a.slug, a.version) for a in articles] == [("list", 1), ("returns", 2), ("returns", 1)]
    export_articles(articles, tmp_path / "all")
    export_articles(newest(articles), tmp_path / "newest")
    again = await preview_import(db, tenant, read_files([tmp_path / "newest"]), NOW)
    assert [p.outcome for p in again] == [Outcome.UNCHANGED, Outcome.UNCHANGED]
    await import_articles(owner_db, other, read_files([tmp_path / "all"]), None, NOW + timedelta(days=9))
    assert [one.article for one in await all_articles(db, other)] == articles
    with pytest.raises(FileExistsError):
        export_articles(articles, tmp_path / "all")


async def test_what_has_no_passages_is_indexed_once(db: Database, make_tenant: MakeTenant, owner_db: Database) -> None:
    tenant = make_tenant()
    await import_articles(owner_db, tenant, [source("One.\n\nTwo.")], None, NOW)
    assert [one.passages for one in await all_articles(db, tenant)] == [2]
    assert await index_missing(owner_db, [tenant], None) == 0
