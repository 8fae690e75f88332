"""The commands on knowledge: bring articles in, look at them, search them as a reader would, take them out again.

Mounted by `cli`; rooms are imported inside the commands.
"""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli_ends import Databases, failed, in_databases, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

    from domain.knowledge import Article, Passage
    from knowledge.contradictions import Contradiction
    from knowledge.importing import Imported
    from store.articles import ListedArticle
    from store.database import Database

app = typer.Typer(name="knowledge", help="Articles and macros: import, list, search, export.", no_args_is_help=True)

Tenant = Annotated[str, typer.Option("--tenant", help="The tenant's id.")]
Stack = Annotated[Path | None, typer.Option("--data-dir", help="In the stack of this data folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Language = Annotated[str | None, typer.Option("--language", help="A language code, such as pt. Default: all.")]


@app.command("import")
def importing(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Markdown files, or folders of them.")],
    tenant: Tenant,
    check: Annotated[bool, typer.Option("--check", help="Only say what would be done.")] = False,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """Import articles; where one file is wrong, none is imported. What says nothing new makes no new version.

    Articles that contradict one another are warned about, and imported all the same. It needs the tables' owner.
    Exit status: 0 imported, 1 nothing was imported, 2 an option is wrong.
    """
    import json

    from knowledge.importing import NotImported, import_articles, preview_import, read_files
    from language.embedding import embedder

    async def work(at: Databases) -> "tuple[tuple[Imported, ...], tuple[Contradiction, ...]]":
        await _hold_tenant(at, tenant)
        if check:
            done = await preview_import(at.db, tenant, sources, at.now)
        else:
            async with _as_owner("knowledge import", data_dir) as owner:
                done = await import_articles(owner, tenant, sources, embedder(), at.now)
        return done, await _contradictions(at, tenant, done)

    try:
        sources = read_files(paths)
        done, contradicting = in_databases("knowledge import", data_dir, work)
    except NotImported as fault:
        for line in fault.faults:
            typer.echo(line, err=True)
        raise failed("knowledge import", ValueError("nothing was imported"), 1) from None
    if as_json:
        rows = [_brief(one.article) | {"file": one.file, "outcome": one.outcome.value} for one in done]
        told = [c.model_dump(mode="json") for c in contradicting]
        typer.echo(json.dumps({"articles": rows, "contradictions": told}, ensure_ascii=False))
        return
    for one in done:
        would = "would be " if check else ""
        typer.echo(f"{would}{one.outcome.value:<9} {one.article.ref} ({one.article.language})  {one.file}")
        for remark in one.remarks:
            typer.echo(f"warning: {one.file}: {remark}", err=True)
    _warn(contradicting)


@app.command("list")
def listing(
    tenant: Tenant,
    language: Language = None,
    every: Annotated[bool, typer.Option("--all", help="All versions, not the newest of each page alone.")] = False,
    contradictions: Annotated[
        bool, typer.Option("--contradictions", help="Instead: the articles that contradict one another.")
    ] = False,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """List a tenant's articles; an asterisk marks what counts now.

    Exit status: 0 listed, 1 there is no such tenant, or the database could not be reached.
    """
    import json

    from knowledge.exporting import newest
    from knowledge.standing import counting

    if contradictions:
        _tell_contradictions("knowledge list", tenant, data_dir, as_json)
        return

    async def work(at: Databases) -> "tuple[tuple[ListedArticle, ...], datetime]":
        return await _shelf(at, tenant), at.now

    shelf, now = in_databases("knowledge list", data_dir, work)
    articles = [one.article for one in shelf]
    now_counting, latest = set(counting(articles, now)), set(newest(articles))
    chosen = [
        one
        for one in shelf
        if (every or one.article in latest or one.article in now_counting) and language in (None, one.article.language)
    ]
    if as_json:
        rows = [
            _brief(one.article)
            | {"counts": one.article in now_counting, "imported_at": one.imported_at.isoformat()}
            | {"passages": one.passages}
            for one in chosen
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    for one in chosen:
        a = one.article
        name = f"{a.ref} ({a.language})"
        kind = f"{a.audience} {a.kind.value}" + ("" if a.reviewed_by else ", not reviewed")
        typer.echo(f"{'*' if a in now_counting else ' '} {name:<36} {kind:<18} {_span(a)}  {a.title}")


@app.command()
def show(
    slug: Annotated[str, typer.Argument(help="The article's slug.")],
    tenant: Tenant,
    version: Annotated[int | None, typer.Option("--version", help="Default: the newest.")] = None,
    language: Language = None,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """Show an article as the Markdown that it was imported from, in each language or in one.

    Exit status: 0 shown, 1 there is no such article, or the database could not be reached.
    """
    import json

    from knowledge.exporting import newest
    from knowledge.markdown import write_article

    async def work(at: Databases) -> "list[Article]":
        known = [one.article for one in await _shelf(at, tenant)]
        named = [a for a in known if a.slug == slug and language in (None, a.language)]
        found = [a for a in named if a.version == version] if version is not None else list(newest(named))
        return found or _no_article(slug, version, language, known)

    found = in_databases("knowledge show", data_dir, work)
    if as_json:
        typer.echo(json.dumps([a.model_dump(mode="json") for a in found], ensure_ascii=False))
    else:
        typer.echo("\n".join(write_article(a) for a in found), nl=False)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What somebody asks.")],
    tenant: Tenant,
    reader: Annotated[
        Literal["public", "signed_in", "staff"], typer.Option("--as", help="Who asks; an anonymous visitor is public.")
    ] = "public",
    language: Language = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="As of then. Default: now.")] = None,
    product_version: Annotated[str | None, typer.Option("--product-version", help="The customer's version.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=20, help="How many passages.")] = 5,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """Search as a reader would, and say why each passage was chosen; `certain` is what the bot would answer with.

    Exit status: 0 searched, also where nothing was found, 1 there is no such tenant, 2 an option is wrong.
    """
    import json

    from activities.library import Library
    from domain.knowledge import ArticleKind, Audience
    from domain.retrieval import KnowledgeQuery
    from knowledge.fields import READERS
    from language.embedding import embedder
    from language.tongues import nearest_first

    try:
        moment = READERS["effective_from"](at) if at is not None else None
    except ValueError as wrong:
        raise failed("knowledge search", ValueError(f"--at: {wrong}"), 2) from None

    async def work(bases: Databases) -> "tuple[Passage, ...]":
        known = {one.article.language for one in await _shelf(bases, tenant)}
        asked = KnowledgeQuery(
            text=query,
            languages=(language,) if language else nearest_first(query, known or {"en"}),
            reader=Audience(reader),
            at=moment or bases.now,
            product_version=product_version,
            kinds=tuple(ArticleKind) if reader == "staff" else (ArticleKind.ARTICLE,),
            limit=limit,
        )
        return await Library(bases.db, embedder()).search(tenant, asked) if query.strip() else ()

    found = in_databases("knowledge search", data_dir, work)
    if as_json:
        typer.echo(json.dumps([_hit(p) for p in found], ensure_ascii=False))
        return
    for p in found:
        typer.echo(
            f"{p.score:.3f} {'certain' if p.certain else '       '} {p.article.ref} ({p.article.language})  {p.text}"
        )
        typer.echo(f"      {'; '.join(p.why)}")
    if not found:
        typer.echo("nothing was found")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, made where it is not there.")],
    tenant: Tenant,
    every: Annotated[bool, typer.Option("--all", help="All versions, not the newest of each page alone.")] = False,
    data_dir: Stack = None,
) -> None:
    """Write the articles as Markdown files, DIR/LANGUAGE/SLUG.md, which import again as what they were.

    Exit status: 0 written, 1 a file was there already or could not be written, or there is no such tenant.
    """
    from knowledge.exporting import export_articles, newest

    async def work(at: Databases) -> "Sequence[Article]":
        articles = [one.article for one in await _shelf(at, tenant)]
        return articles if every else newest(articles)

    try:
        files = export_articles(in_databases("knowledge export", data_dir, work), folder)
    except OSError as fault:
        raise failed("knowledge export", fault, 1) from None
    typer.echo(f"{len(files)} files in {folder}")


@app.command()
def check(tenant: Tenant, data_dir: Stack = None, as_json: AsJson = False) -> None:
    """Report the articles that contradict one another, now or at a time to come.

    Exit status: 0 none do, 1 there is no such tenant, or the database could not be reached, 3 some do.
    """
    if _tell_contradictions("knowledge check", tenant, data_dir, as_json):
        raise typer.Exit(3)


@app.command()
def index(tenant: Tenant, data_dir: Stack = None) -> None:
    """Make the passages and the embeddings that are missing, or that another model has made. Safe to run again.

    Exit status: 0 done, 1 there is no such tenant, or the database could not be reached.
    """
    from knowledge.indexing import index_missing
    from language.embedding import embedder

    async def work(at: Databases) -> int:
        await _hold_tenant(at, tenant)
        async with _as_owner("knowledge index", data_dir) as owner:
            return await index_missing(owner, [tenant], embedder())

    count = in_databases("knowledge index", data_dir, work)
    typer.echo(f"{count} articles indexed" + ("" if embedder() else "; without embeddings: the extra is not installed"))


@asynccontextmanager
async def _as_owner(command: str, data_dir: Path | None) -> "AsyncIterator[Database]":
    """Give the database as the owner of the tables, who alone may write knowledge. Raises SettingsFault."""
    from store.database import Database

    owner = Database(settings_of(command, data_dir).owner_url, 1)
    try:
        yield owner
    finally:
        await owner.close()


async def _shelf(at: Databases, tenant_id: str) -> "tuple[ListedArticle, ...]":
    from store.articles import all_articles

    await _hold_tenant(at, tenant_id)
    return await all_articles(at.db, tenant_id)


async def _hold_tenant(at: Databases, tenant_id: str) -> None:
    """Raise NotFound, with those that there are, where a tenant is none of them."""
    from domain.refusal import NotFound
    from store.comparison import all_tenants

    known = await all_tenants(at.relay)
    if tenant_id not in known:
        raise NotFound(f"There is no tenant {tenant_id!r}; there are {', '.join(known) or 'none'}.")


def _no_article(slug: str, version: int | None, language: str | None, known: "Sequence[Article]") -> "list[Article]":
    from domain.refusal import NotFound

    like = [f"{a.ref} ({a.language})" for a in known if a.slug == slug] or sorted({a.slug for a in known})
    what = slug + (f"@{version}" if version else "") + (f" in {language}" if language else "")
    raise NotFound(f"There is no article {what}; there are {', '.join(like) or 'none'}.")


async def _contradictions(
    at: Databases, tenant_id: str, done: "Sequence[Imported] | None" = None
) -> "tuple[Contradiction, ...]":
    """Those in the whole knowledge, or those that an import has a part in."""
    from knowledge.contradictions import contradictions
    from knowledge.importing import Outcome
    from language.embedding import embedder
    from store.articles import all_articles

    known = {(a.slug, a.language, a.version): a for a in (o.article for o in await all_articles(at.db, tenant_id))}
    if done is None:
        return contradictions(tuple(known.values()), embedder(), at.now)
    new = [one.article for one in done if one.outcome is Outcome.NEW]
    known |= {(a.slug, a.language, a.version): a for a in new}
    among = frozenset(a.slug for a in new)
    return contradictions(tuple(known.values()), embedder(), at.now, among) if among else ()


def _tell_contradictions(command: str, tenant: str, data_dir: Path | None, as_json: bool) -> int:
    import json

    async def work(at: Databases) -> "tuple[Contradiction, ...]":
        await _hold_tenant(at, tenant)
        return await _contradictions(at, tenant)

    found = in_databases(command, data_dir, work)
    if as_json:
        typer.echo(json.dumps([c.model_dump(mode="json") for c in found], ensure_ascii=False))
    else:
        _warn(found, err=False)
        typer.echo(f"{len(found) or 'no'} contradictions")
    return len(found)


def _warn(found: "Sequence[Contradiction]", *, err: bool = True) -> None:
    for c in found:
        typer.echo(f"{'warning: ' if err else ''}{c.one} and {c.other} contradict each other", err=err)
        typer.echo(f"    {c.one}: {c.one_says}\n    {c.other}: {c.other_says}", err=err)


def _brief(a: "Article") -> dict[str, object]:
    return a.model_dump(mode="json", exclude={"body"})


def _hit(p: "Passage") -> dict[str, object]:
    found = p.model_dump(mode="json", exclude={"article"})
    return _brief(p.article) | found


def _span(a: "Article") -> str:
    begins = f"{a.effective_from:%Y-%m-%d}" if a.effective_from else ""
    return begins + (f" to {a.effective_until:%Y-%m-%d}" if a.effective_until else "")
