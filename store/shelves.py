"""The shelves as staff look at them: every page with its versions, one page whole, and the macros.

Read alone. What a customer may have of it is `store.knowledge`'s to say.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from domain.base import Noun
from domain.knowledge import ArticleKind
from domain.shelf import PageVersion
from store import tables as t
from store.database import Database
from store.pipeline import Row, Statement

VERSIONS_READ_MAX = 20_000
MACROS_MAX = 50

_a = t.articles.c
_KEPT = tuple(_a[name] for name in PageVersion.model_fields)
_ALL = Statement(sa.select(*_KEPT).order_by(_a.slug, _a.language, _a.version).limit(VERSIONS_READ_MAX))
_PAGE = Statement(
    sa.select(*_KEPT, _a.body)
    .where(_a.slug == sa.bindparam("slug", type_=sa.Text))
    .order_by(_a.language, _a.version.desc())
    .limit(VERSIONS_READ_MAX)
)
_MACROS = Statement(
    sa.text(
        """
SELECT slug, language, version, title, body
  FROM (SELECT DISTINCT ON (slug, language) *
          FROM articles
         WHERE effective_from <= :at AND (effective_until IS NULL OR effective_until > :at)
         ORDER BY slug, language, version DESC) AS newest
 WHERE kind = 'macro' AND (:language = '' OR language = :language)
   AND (:words = '' OR strpos(lower(slug || ' ' || title || ' ' || body), :words) > 0)
 ORDER BY NOT (starts_with(slug, :words) OR starts_with(lower(title), :words)), title, language
 LIMIT :most
"""
    )
)


class Written(Noun):
    """One version of a page with its words, in Markdown."""

    page: PageVersion
    body: str


class Macro(Noun):
    """A reply that staff begin from."""

    slug: str
    language: str
    version: int
    title: str
    body: str


async def every_version(db: Database, tenant_id: str) -> tuple[PageVersion, ...]:
    """Return every version of every page, without their words, by slug, language and version."""
    (rows,) = await db.at_once(tenant_id, _ALL())
    return tuple(_page(row) for row in rows)


async def page_versions(db: Database, tenant_id: str, slug: str) -> tuple[Written, ...]:
    """Return every version of one page in every language, the newest first; none where there is no such page."""
    (rows,) = await db.at_once(tenant_id, _PAGE(slug=slug))
    return tuple(Written(page=_page(row), body=row.body) for row in rows)


async def macros(db: Database, tenant_id: str, words: str, language: str, at: datetime) -> Sequence[Macro]:
    """Return the macros that hold `words`, those that begin with them first; in every language where it is empty."""
    asked = _MACROS(at=at, language=language, words=words.strip().lower(), most=MACROS_MAX)
    (rows,) = await db.at_once(tenant_id, asked)
    return [Macro(**row._asdict()) for row in rows]


def _page(row: Row) -> PageVersion:
    known = {name: getattr(row, name) for name in PageVersion.model_fields}
    return PageVersion(**known | {"kind": ArticleKind(row.kind), "product_versions": tuple(row.product_versions)})
