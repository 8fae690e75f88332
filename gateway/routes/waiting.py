"""What a waiting customer may know: their place in the line, and when people are there.

No number is told that rests on a guess: it is measured, or null.
"""

from datetime import timedelta
from typing import Literal, assert_never

from fastapi import APIRouter, Request

from domain.handoff import QueueStatus
from domain.opening import calendar_of
from domain.refusal import NotFound
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import reader_of
from gateway.queue_shapes import Place
from gateway.shapes import Id
from policy.desk.estimate import WINDOW_S, estimate_s, throughput
from store.waiting_place import standing_place

router = APIRouter(route_class=GuardedRoute, tags=["queue"])


@router.get("/conversations/{conversation_id}/waiting", summary="How long it may take", responses=guarded(NotFound))
async def place(request: Request, conversation_id: Id) -> Place:
    """Return how the conversation stands in the queue: its place, an estimate from what was measured, the hours."""
    desk = desk_of(request)
    reader, now = await reader_of(desk, caller_of(request)), desk.clock()
    stands = await standing_place(desk.db, reader, conversation_id, now - timedelta(seconds=WINDOW_S))
    calendar = calendar_of(stands.document)
    stand, measured = calendar.stand(now), throughput(stands.waits_s, 0, calendar, now)
    ahead = stands.ahead
    return Place(
        queue_status=_told(stands.status),
        position=None if ahead is None else ahead + 1,
        ahead=ahead,
        estimate_s=None if ahead is None else estimate_s(ahead, measured, is_open=stand.open),
        estimate_n=measured.n,
        open=stand.open,
        opens_at=stand.opens_at,
        timezone=stands.document.timezone,
        out_of_hours=not stand.open,
    )


def _told(status: QueueStatus | None) -> Literal["none", "waiting", "claimed"]:
    match status:
        case QueueStatus.WAITING:
            return "waiting"
        case QueueStatus.CLAIMED:
            return "claimed"
        case QueueStatus.DONE | None:
            return "none"
        case _:
            assert_never(status)
