"""Answers that wait for a person to let them out, where the assistant may not speak for itself.

Each is decided once; accepting sends it once, and whoever rejects it has the conversation.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from domain.draft_review import DraftDecision, DraftRequest, DraftState
from domain.permission import Tool
from domain.refusal import DraftStale, Forbidden, NotFound, RequestConflict
from gateway import cursor
from gateway.admission import GuardedRoute, require_short
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.draft_shapes import DecideDraft, DraftDone, DraftFilters, DraftPage, DraftRenewed, RenewDraft
from gateway.duties import bot_may, reader_of, require_staff, require_tool
from gateway.identity import Caller
from gateway.shapes import Id
from store.draft_decisions import DraftDecided, decide_draft, renew_draft
from store.drafts import DraftItem, DraftSearch, list_drafts, one_draft

router = APIRouter(route_class=GuardedRoute, tags=["drafts"])


@router.get("/drafts", summary="Drafts that wait, or have ended", responses=guarded(Forbidden))
async def listed(request: Request, wanted: Annotated[DraftFilters, Query()]) -> DraftPage:
    """Return drafts with what they rest on and the messages that they answer."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    at, ident = cursor.decode(wanted.cursor, "query") if wanted.cursor else (None, None)
    search = DraftSearch(state=wanted.state, after_at=at, after_id=ident, limit=wanted.limit + 1)
    found = await list_drafts(desk.db, staff, search, desk.clock())
    page = found[: wanted.limit]
    return DraftPage(items=page, next_cursor=_place_of(page[-1]) if len(found) > wanted.limit else None)


@router.get("/drafts/{draft_id}", summary="One draft", responses=guarded(NotFound, Forbidden))
async def shown(request: Request, draft_id: Id) -> DraftItem:
    """Return one draft, whatever became of it."""
    desk = desk_of(request)
    staff = await _reviewer(desk, caller_of(request), draft_id, Tool.READ_QUEUE)
    return await one_draft(desk.db, staff, draft_id, desk.clock())


@router.post(
    "/drafts/{draft_id}/decisions",
    summary="Send a draft, or keep it in",
    responses=posted(NotFound, Forbidden, DraftStale, RequestConflict),
)
async def decided(request: Request, draft_id: Id, body: DecideDraft) -> DraftDone:
    """Accept a draft as it is or in other words, or reject it and take the conversation; repeated, the first answer."""
    desk = desk_of(request)
    if body.text is not None:
        require_short(desk, body.text)
    staff = await _reviewer(desk, caller_of(request), draft_id, Tool.REVIEW_DRAFT)
    asked = DraftRequest.model_validate(body.model_dump())
    if asked.decision is DraftDecision.ACCEPT and not await bot_may(desk, staff.tenant, Tool.DRAFT, Tool.ANSWER):
        raise Forbidden("The policy in force lets the assistant say nothing now, not even after a look. Reject it.")
    try:
        done = await decide_draft(desk.db, staff, draft_id, asked, desk.words, desk.clock())
    except DraftStale as stale:
        desk.send(*stale.wakes)
        raise
    return _told(desk, done)


@router.post(
    "/drafts/{draft_id}/renewals",
    summary="Have it drafted anew",
    responses=posted(NotFound, Forbidden, DraftStale),
)
async def renewed(request: Request, draft_id: Id, _: RenewDraft) -> DraftRenewed:
    """End a draft that waits, and have another one made from what is known now."""
    desk = desk_of(request)
    staff = await _reviewer(desk, caller_of(request), draft_id, Tool.REVIEW_DRAFT)
    done = await renew_draft(desk.db, staff, draft_id, desk.clock())
    desk.send(done.wake)
    return DraftRenewed(draft_id=done.draft_id, state=done.state)


async def _reviewer(desk: Desk, caller: Caller, draft_id: str, tool: Tool) -> Caller:
    """The caller, of the staff, who may use `tool`. Raises NotFound for who may not look, else Forbidden."""
    if not caller.is_staff:
        raise NotFound("There is no such draft.")
    staff = await reader_of(desk, caller, "draft")
    await one_draft(desk.db, staff, draft_id, desk.clock())  # what is not there is not forbidden either
    await require_tool(desk, staff, tool)
    return staff


def _told(desk: Desk, done: DraftDecided) -> DraftDone:
    desk.send(done.wake)
    return DraftDone.model_validate(done, from_attributes=True)


def _place_of(item: DraftItem) -> str:
    waits = item.state is DraftState.WAITING
    return cursor.encode(item.made_at if waits or item.ended_at is None else item.ended_at, item.draft_id)
