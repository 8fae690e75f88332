"""The knowledge as staff read it: the pages with their versions, a search with its reasons, and the macros.

Who looks at it may read conversations, too; what is told to customers is written elsewhere.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query, Request

from domain.knowledge import ArticleKind, Audience, Passage
from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from domain.retrieval import KnowledgeQuery
from domain.shelf import PageVersion, shelved, state_of, timeline
from gateway.admission import GuardedRoute, require_short
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.identity import Caller
from gateway.knowledge_shapes import (
    LANGUAGE,
    KnowledgeFound,
    KnowledgeHit,
    Macros,
    PageShown,
    SearchKnowledge,
    Shelf,
    VersionShown,
)
from gateway.refusals import Unavailable
from gateway.shapes import Id
from store.shelves import every_version, macros, page_versions

router = APIRouter(route_class=GuardedRoute, tags=["knowledge"])

InLanguage = Annotated[str | None, Query(pattern=LANGUAGE, description="In this language alone.")]
Typed = Annotated[str, Query(max_length=100, pattern=r"^[^\x00]*$", description="What the macro holds.")]


async def _reader(desk: Desk, caller: Caller) -> Caller:
    staff = require_staff(caller)
    await require_tool(desk, staff, Tool.READ_CONVERSATIONS)
    return staff


@router.get("/knowledge", summary="The pages there are", responses=guarded(Forbidden))
async def listed(
    request: Request,
    kind: ArticleKind | None = None,
    language: InLanguage = None,
    audience: Audience | None = None,
) -> Shelf:
    """Return each page in each language with the version that counts now or, where none does, the newest."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    known = await every_version(desk.db, staff.tenant_id)
    pages = [shelved(versions, desk.clock()) for versions in _by_page(known)]
    return Shelf(
        items=[
            page
            for page in pages
            if (kind is None or page.shown.kind is kind)
            and (language is None or page.shown.language == language)
            and (audience is None or page.shown.audience is audience)
        ]
    )


def _by_page(known: Sequence[PageVersion]) -> list[list[PageVersion]]:
    return [list(versions) for _, versions in groupby(known, lambda one: (one.slug, one.language))]


@router.get("/knowledge/{slug}", summary="A page with its versions", responses=guarded(NotFound, Forbidden))
async def shown(request: Request, slug: Id, language: InLanguage = None) -> PageShown:
    """Return every version of a page, how each stands, and which of them counts when."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    every = await page_versions(desk.db, staff.tenant_id, slug)
    written = [one for one in every if language in (None, one.page.language)]
    if not written:
        raise NotFound("There is no such page.")
    pages = _by_page([one.page for one in written])
    states = {(p.language, p.version): state_of(p, of_page, desk.clock()) for of_page in pages for p in of_page}
    return PageShown(
        slug=slug,
        versions=[
            VersionShown(page=one.page, state=states[one.page.language, one.page.version], body=one.body)
            for one in written
        ],
        timeline=[span for of_page in pages for span in timeline(of_page)],
    )


@router.post("/knowledge/search", summary="Search the knowledge", responses=posted(Forbidden))
async def search(request: Request, body: SearchKnowledge) -> KnowledgeFound:
    """Search as a reader would, in one language or in that of the text first, and say why each passage was chosen."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    require_short(desk, body.text)
    if desk.library is None:
        raise Unavailable("The knowledge cannot be searched here.")
    languages: tuple[str, ...] = (body.language,) if body.language else ()
    if not languages:
        known = {one.language for one in await every_version(desk.db, staff.tenant_id)}
        languages = desk.library.languages(body.text, known)
    if not languages:
        return KnowledgeFound(items=[])
    found = await desk.library.search(staff.tenant_id, _query(body, languages, body.at or desk.clock()))
    return KnowledgeFound(items=[_hit(p) for p in found])


def _query(body: SearchKnowledge, languages: tuple[str, ...], at: datetime) -> KnowledgeQuery:
    return KnowledgeQuery(
        text=body.text,
        languages=languages,
        reader=body.audience,
        at=at,
        kinds=tuple(ArticleKind) if body.audience is Audience.STAFF else (ArticleKind.ARTICLE,),
        limit=body.limit,
    )


def _hit(passage: Passage) -> KnowledgeHit:
    a = passage.article
    return KnowledgeHit(
        slug=a.slug,
        version=a.version,
        language=a.language,
        title=a.title,
        kind=a.kind,
        audience=Audience(a.audience),
        position=passage.position,
        text=passage.text,
        score=passage.score,
        certain=passage.certain,
        why=list(passage.why),
    )


@router.get("/macros", summary="Replies to begin from", responses=guarded(Forbidden))
async def offered(request: Request, q: Typed = "", language: InLanguage = None) -> Macros:
    """Return the macros that hold what was typed, 50 at most; those that begin with it first."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    return Macros(items=list(await macros(desk.db, staff.tenant_id, q, language or "", desk.clock())))
