"""Saved views of the queue: filters under a name, one's own or shared with the staff."""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal
from domain.teamwork import SavedView
from gateway.admission import GuardedRoute
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.identity import Caller
from gateway.shapes import Id
from gateway.teamwork_shapes import SaveView, ViewGone, Views
from store.saved_views import delete_view, save_view, views

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])


async def _reader(desk: Desk, caller: Caller) -> Caller:
    staff = require_staff(caller)
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return staff


@router.get("/views", summary="Your views", responses=guarded(Forbidden))
async def listed(request: Request) -> Views:
    """Return your own views and those that others share, by name."""
    desk = desk_of(request)
    return Views(items=list(await views(desk.db, await _reader(desk, caller_of(request)))))


@router.post("/views", status_code=201, summary="Save a view", responses=posted(Forbidden, Refusal))
async def save(request: Request, body: SaveView) -> SavedView:
    """Keep filters of the queue under a name."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    return await save_view(desk.db, staff, body.name, body.filters, shared=body.shared)


@router.delete("/views/{view_id}", summary="Delete a view", responses=guarded(NotFound, Forbidden))
async def delete(request: Request, view_id: Id) -> ViewGone:
    """Delete a view of your own."""
    desk = desk_of(request)
    await delete_view(desk.db, await _reader(desk, caller_of(request)), view_id)
    return ViewGone(id=view_id)
