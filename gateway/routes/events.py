"""The log of a conversation: as a page, or followed as it grows.

Both begin after a seq; what is read is what the reader may see.
"""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from domain.refusal import NotFound
from gateway.admission import GuardedRoute
from gateway.attendance import Attendance
from gateway.desk import Desk, desk_of, session_of
from gateway.documents import guarded
from gateway.duties import may_read, reader_of
from gateway.event_shapes import EventPage
from gateway.refusals import InvalidRequest, TooManyStreams
from gateway.shapes import VERSION_MAX, Id
from gateway.stream import EventStream, Stream
from gateway.wire import flat, to_json
from store.events import PAGE_EVENTS_MAX, events_after

router = APIRouter(route_class=GuardedRoute, tags=["events"])

_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": EventPage,
        "description": "Events in order. With `Accept: text/event-stream`, the same events as they come: `id` is the "
        "seq, `event` the kind, `data` the event as JSON; a comment comes every 15 seconds.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'id: 1\nevent: notice\ndata: {"seq":1,"kind":"notice","text":"Hello"}\n\n',
            }
        },
    }
}

After = Annotated[int, Query(ge=0, le=VERSION_MAX, description="Only events with a greater seq.")]
Limit = Annotated[int, Query(ge=1, le=PAGE_EVENTS_MAX, description="At most so many seqs in one page.")]
LastEventId = Annotated[
    str | None, Header(description="Of a stream that broke off: it goes on after this seq, whatever `after` says.")
]


@router.get(
    "/conversations/{conversation_id}/events",
    summary="Read or follow the log",
    responses=_STREAMED | guarded(NotFound, TooManyStreams),
    response_class=Response,
)
async def read_events(
    request: Request,
    conversation_id: Id,
    after: After = 0,
    limit: Limit = PAGE_EVENTS_MAX,
    last_event_id: LastEventId = None,
) -> Response:
    """Return the events after a seq; where `version` is greater than the last of them, ask for the next page."""
    desk, session = desk_of(request), session_of(request)
    await reader_of(desk, session.principal)
    if "text/event-stream" in request.headers.get("accept", ""):
        return _followed(desk, request, conversation_id, _seen(last_event_id, after))
    page = await events_after(desk.db, session.principal, conversation_id, after, limit)
    content = {"events": [flat(event, session.principal) for event in page.events], "version": page.version}
    return Response(to_json(content), media_type="application/json")


def _followed(desk: Desk, request: Request, conversation_id: str, after: int) -> EventStream:
    attendance = Attendance(desk.db, desk.hub, conversation_id, desk.clock)
    stream = Stream(
        desk.db, desk.identity, partial(may_read, desk), session_of(request), conversation_id, after, attendance
    )
    return EventStream(stream, desk.hub)


def _seen(last_event_id: str | None, after: int) -> int:
    if not last_event_id:
        return after
    if not (last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) <= 10):
        message = "this is no id of an event"
        raise InvalidRequest(
            f"header.Last-Event-ID: {message}", errors=[{"field": "header.Last-Event-ID", "message": message}]
        )
    return min(int(last_event_id), VERSION_MAX)
