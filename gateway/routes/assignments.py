"""Whose a conversation is among the staff, and until when it is kept out of the queue.

Both are undone by the same route: null takes it back.
"""

from datetime import timedelta

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.documents import put
from gateway.duties import staff_of
from gateway.refusals import InvalidRequest
from gateway.shapes import Id
from gateway.teamwork_shapes import Asleep, Assign, Assigned, Snooze
from store.assignments import assign, snooze

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])

SNOOZE_MAX = timedelta(days=366)


@router.put(
    "/conversations/{conversation_id}/assignee",
    summary="Assign a conversation",
    responses=put(NotFound, Forbidden, Refusal),
)
async def give(request: Request, conversation_id: Id, body: Assign) -> Assigned:
    """Ask a person of the staff to look at it; that changes no owner."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    return Assigned(staff_id=await assign(desk.db, staff, conversation_id, body.staff_id, desk.clock()))


@router.put(
    "/conversations/{conversation_id}/snooze",
    summary="Let a conversation sleep",
    responses=put(NotFound, Forbidden),
)
async def sleep(request: Request, conversation_id: Id, body: Snooze) -> Asleep:
    """Keep it out of the queue until a time, or until the customer writes again."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    now = desk.clock()
    if body.until is not None and not now < body.until <= now + SNOOZE_MAX:
        message = "a time within the next year is needed"
        raise InvalidRequest(f"body.until: {message}", errors=[{"field": "body.until", "message": message}])
    return Asleep(until=await snooze(desk.db, staff, conversation_id, body.until, now))
