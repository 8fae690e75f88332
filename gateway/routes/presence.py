"""Who is at a conversation: of the staff, as they say; the customer, as their event stream tells.

Nothing of it is kept for longer than it is true, but how far the customer has seen the log.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from domain.teamwork import Present
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, put
from gateway.duties import author_of, staff_of
from gateway.shapes import Id
from gateway.teamwork_shapes import Attend, See, Seen
from store.presence import attend, leave, present, see

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])


@router.put(
    "/conversations/{conversation_id}/presence",
    summary="Say what you are doing here",
    responses=put(NotFound, Forbidden),
)
async def say(request: Request, conversation_id: Id, body: Attend) -> Present:
    """Say that you are looking or typing, which holds for 30 seconds, or that you are gone; see who else is here."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.READ_CONVERSATIONS)
    if body.state == "gone":
        return await leave(desk.db, staff, conversation_id, desk.clock())
    return await attend(desk.db, staff, conversation_id, body.state, desk.clock())


@router.get("/conversations/{conversation_id}/presence", summary="Who is here", responses=guarded(NotFound, Forbidden))
async def look(request: Request, conversation_id: Id) -> Present:
    """Return who of the staff is looking or typing, and whether the customer is here."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.READ_CONVERSATIONS)
    return await present(desk.db, staff, conversation_id, desk.clock())


@router.put(
    "/conversations/{conversation_id}/seen",
    summary="Say how far you have seen it",
    responses=put(NotFound, Forbidden),
)
async def seen(request: Request, conversation_id: Id, body: See) -> Seen:
    """Note how far the customer has seen the log; less than before changes nothing."""
    desk = desk_of(request)
    customer = await author_of(desk, caller_of(request), conversation_id)
    return Seen(seq=await see(desk.db, customer, conversation_id, body.seq, desk.clock()))
