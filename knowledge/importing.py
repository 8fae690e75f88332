"""Takes Markdown files into a tenant's knowledge: all of them, or none where one of them is wrong.

What says nothing new is left as it is; what does becomes the next version, or the one that its file names.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from domain.base import Noun
from domain.knowledge import Article, ArticleKind, Audience
from knowledge.indexing import indexed
from knowledge.markdown import ArticleInvalid, Source, read_article
from knowledge.standing import counting
from language.embedding import Embedder
from store.articles import NewArticle, add_article, hold_shelves
from store.database import Database

FILE_BYTES_MAX = 400_000
FILES_MAX = 10_000
_MARKUP = re.compile(r"\*\*|__|`|!?\[[^\]]*\]\(")


class Outcome(StrEnum):
    """What becomes of a file."""

    NEW = "new"
    UNCHANGED = "unchanged"


class Imported(Noun):
    """One file and what became of it; `remarks` are for whoever wrote it."""

    file: str
    outcome: Outcome
    article: Article
    remarks: tuple[str, ...] = ()


class NotImported(Exception):
    """Nothing was imported; `faults` say what is wrong, each with its file."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def read_files(paths: Iterable[Path]) -> tuple[Source, ...]:
    """Return the articles of files, and of every `*.md` below folders. Raises NotImported with all that is wrong."""
    found: list[Source] = []
    faults: list[str] = []
    files = [file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else (path,))]
    if not files or len(files) > FILES_MAX:
        raise NotImported([f"there are {len(files)} files to import; there have to be 1 to {FILES_MAX}"])
    for file in files:
        try:
            found.append(read_article(_text(file), str(file)))
        except ArticleInvalid as fault:
            faults.append(str(fault))
    if faults:
        raise NotImported(faults)
    return tuple(found)


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            raise ArticleInvalid(str(file), 1, f"the file is larger than {FILE_BYTES_MAX} bytes")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        line = file.read_bytes()[: fault.start].count(b"\n") + 1
        raise ArticleInvalid(str(file), line, "this is not UTF-8; save the file in that encoding") from None
    except OSError as fault:
        raise ArticleInvalid(str(file), 1, f"it cannot be read: {fault.strerror}") from None


def planned(sources: Sequence[Source], shelf: Sequence[Article], tenant_id: str, now: datetime) -> tuple[Imported, ...]:
    """Return what becomes of each file, beside what is there already. Raises NotImported with all that is wrong."""
    plan: list[Imported] = []
    faults: list[str] = []
    known = list(shelf)
    for source in sorted(sources, key=lambda s: s.version or 0):
        try:
            imported = _planned(source, known, tenant_id, now)
        except ArticleInvalid as fault:
            faults.append(str(fault))
            continue
        twin = next((p for p in plan if _page(p.article) == _page(imported.article)), None)
        if twin and source.version is None:
            faults.append(
                f"{source.file}, line 1: the page that {twin.file} has too; a page comes once, or names versions"
            )
        plan.append(imported)
        known.append(imported.article)
    if faults:
        raise NotImported(faults)
    return tuple(plan)


def _planned(source: Source, known: Sequence[Article], tenant_id: str, now: datetime) -> Imported:
    article = source.article
    if source.tenant not in (None, tenant_id):
        raise ArticleInvalid(source.file, 1, f"it is for the tenant {source.tenant!r}, not for {tenant_id!r}")
    same_page = [a for a in known if _page(a) == _page(article)]
    newest = max(same_page, key=lambda a: a.version, default=None)
    there = newest if source.version is None else next((a for a in same_page if a.version == source.version), None)
    if there is not None and _says_the_same(article, there):
        return Imported(file=source.file, outcome=Outcome.UNCHANGED, article=there, remarks=_remarks(there, same_page))
    if there is not None and source.version is not None:
        what = f"version {source.version} of {article.slug} ({article.language}) is there and says something else; "
        raise ArticleInvalid(source.file, 1, what + "leave version out, and the next one is taken")
    version = source.version or (newest.version + 1 if newest else 1)
    new = article.model_copy(update={"version": version, "effective_from": article.effective_from or now})
    if new.effective_until is not None and new.effective_from is not None and new.effective_until <= new.effective_from:
        raise ArticleInvalid(source.file, 1, "effective_until has passed, so it would never count; give a later one")
    return Imported(file=source.file, outcome=Outcome.NEW, article=new, remarks=_remarks(new, same_page))


def _page(article: Article) -> tuple[str, str]:
    return article.slug, article.language


def _says_the_same(article: Article, there: Article) -> bool:
    """Whether importing it would change nothing; a file that names no beginning fits any."""
    begins = article.effective_from or there.effective_from
    return article.model_copy(update={"version": there.version, "effective_from": begins}) == there


def _remarks(article: Article, same_page: Sequence[Article]) -> tuple[str, ...]:
    remarks = []
    if article.reviewed_by is None:
        beside = _named(_older(article, same_page, article.effective_from), "goes on to count for customers")
        remarks.append(f"nobody has reviewed it (reviewed_by), so only staff find it{beside}")
    elif article.effective_until is not None:
        again = _named(_older(article, same_page, article.effective_until), "counts again")
        if again:
            remarks.append(f"it ends on {article.effective_until:%Y-%m-%d %H:%M} UTC{again}")
    if article.audience != Audience.STAFF and article.kind is ArticleKind.ARTICLE and _MARKUP.search(article.body):
        remarks.append("bold, code and links are quoted to customers as they are typed")
    return tuple(remarks)


def _older(article: Article, same_page: Sequence[Article], at: datetime | None) -> tuple[Article, ...]:
    """What customers are given of the page at a moment in its place: versions before it that somebody has reviewed."""
    older = [a for a in same_page if a.version < article.version and a.reviewed_by is not None]
    return counting(older, at) if at is not None else ()


def _named(older: Sequence[Article], what: str) -> str:
    return "".join(f"; version {a.version} {what}" for a in older if a.audience != Audience.STAFF)


async def preview_import(
    db: Database, tenant_id: str, sources: Sequence[Source], now: datetime
) -> tuple[Imported, ...]:
    """Return what an import would do, and do nothing. Raises NotImported where it would be refused."""
    async with db.transaction(tenant_id) as tx:
        return planned(sources, await hold_shelves(tx, tenant_id), tenant_id, now)


async def import_articles(
    owner: Database, tenant_id: str, sources: Sequence[Source], embedder: Embedder | None, now: datetime
) -> tuple[Imported, ...]:
    """Import files, as the owner of the tables, and return what became of each. Raises NotImported: nothing was."""
    new = {p.file for p in await preview_import(owner, tenant_id, sources, now) if p.outcome is Outcome.NEW}
    made = {
        s.file: indexed(s.article, embedder if s.file in new else None) for s in sources
    }  # long: not under the lock
    async with owner.transaction(tenant_id) as tx:
        plan = planned(sources, await hold_shelves(tx, tenant_id), tenant_id, now)
        for one in plan:
            if one.outcome is Outcome.NEW:
                await add_article(tx, tenant_id, NewArticle(article=one.article, passages=made[one.file].passages))
    return plan
