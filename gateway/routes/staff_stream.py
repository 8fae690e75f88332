"""What changes in the whole organisation, as it changes: the staff's pages live by it."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from domain.permission import Tool
from domain.refusal import Forbidden
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of, session_of
from gateway.documents import guarded
from gateway.duties import may_use, require_staff, require_tool
from gateway.refusals import TooManyStreams
from gateway.staff_stream import StaffEvents, StaffStream

router = APIRouter(route_class=GuardedRoute, tags=["queue"])

_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One `changed` for each conversation that has changed, at most ten a second about one. `seq` "
        "is its last event, or 0 where its log has nothing new; `kind` says what it is about: `log`, `tags`, `notes`, "
        "`assignee`, `snooze`, `presence`, `seen`, `rating`, `desk`, or null for several. Where `conversation_id` is "
        "null, anything may have changed. A comment comes every 15 seconds.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'event: changed\ndata: {"conversation_id":"0b8f7c1e","seq":3,"kind":"log"}\n\n',
            }
        },
    }
}


@router.get(
    "/events/staff",
    summary="Follow all that changes",
    responses=_STREAMED | guarded(Forbidden, TooManyStreams),
    response_class=Response,
)
async def follow(
    request: Request,
    last_event_id: Annotated[str | None, Header(description="Of a stream that broke off; any at all.")] = None,
) -> Response:
    """Tell which conversations change, and about what: ids alone, so that each reads what it may."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    may_look = partial(may_use, desk, tool=Tool.READ_QUEUE)
    stream = StaffStream(desk.identity, may_look, session_of(request), resumed=last_event_id is not None)
    return StaffEvents(stream, desk.hub)
