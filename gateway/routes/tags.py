"""Tags of a conversation: put on and taken off by the staff, one at a time.

What the assistant understood is a tag, too; taking one of those off says that it was wrong.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool, staff_of
from gateway.shapes import Id
from gateway.teamwork_shapes import TagName, TagsInUse, TagsStand
from store.tags import add_tag, remove_tag, tags_in_use

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])


@router.post(
    "/conversations/{conversation_id}/tags/{tag}",
    summary="Put a tag on",
    responses=posted(NotFound, Forbidden, Refusal),
)
async def put_on(request: Request, conversation_id: Id, tag: TagName) -> TagsStand:
    """Put a tag on, once, and return all that the conversation has."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    return TagsStand(items=list(await add_tag(desk.db, staff, conversation_id, tag)))


@router.delete(
    "/conversations/{conversation_id}/tags/{tag}",
    summary="Take a tag off",
    responses=guarded(NotFound, Forbidden),
)
async def take_off(request: Request, conversation_id: Id, tag: TagName) -> TagsStand:
    """Take a tag off, whoever put it on; where it is not on, nothing happens."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    return TagsStand(items=list(await remove_tag(desk.db, staff, conversation_id, tag, desk.clock())))


@router.get("/tags", summary="The tags in use", responses=guarded(Forbidden))
async def in_use(request: Request) -> TagsInUse:
    """Return the tenant's tags with the number of conversations that have each."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return TagsInUse(items=list(await tags_in_use(desk.db, staff.tenant_id)))
