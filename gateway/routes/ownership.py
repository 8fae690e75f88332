"""Who has a conversation: it is handed to people, taken over by one of them, and given back.

Each change raises the epoch in the transaction that tells the customer; a repeated request gets its first answer.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, NotOwned, RequestConflict
from gateway.admission import GuardedRoute
from gateway.answers import HandoffRequested, Released, TakenOver
from gateway.bodies import AskForPerson, Release, TakeOver
from gateway.desk import caller_of, desk_of
from gateway.documents import posted
from gateway.duties import person_of, staff_of
from gateway.shapes import Id
from store import ownership

router = APIRouter(route_class=GuardedRoute, tags=["ownership"])


@router.post(
    "/conversations/{conversation_id}/handoff",
    summary="Ask for a person",
    responses=posted(NotFound, Forbidden, RequestConflict),
)
async def hand_off(request: Request, conversation_id: Id, body: AskForPerson) -> HandoffRequested:
    """Hand the conversation to a person; while one handoff is open, asking again gives the same."""
    desk = desk_of(request)
    caller = await person_of(desk, caller_of(request), conversation_id)
    change = await ownership.request_handoff(
        desk.db, caller, conversation_id, body.request_id, desk.words, desk.clock(), body.reason
    )
    desk.send(change.wake)
    return HandoffRequested.model_validate(change, from_attributes=True)


@router.post(
    "/conversations/{conversation_id}/takeover",
    summary="Take over",
    responses=posted(NotFound, Forbidden, RequestConflict),
)
async def take_over(request: Request, conversation_id: Id, body: TakeOver) -> TakenOver:
    """Take the conversation at once: the assistant does nothing more in it, and what was not sent is withdrawn."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.TAKE_OVER)
    change = await ownership.take_over(desk.db, staff, conversation_id, body.request_id, desk.words, desk.clock())
    desk.send(change.wake)
    return TakenOver.model_validate({**change.model_dump(), "in_flight": list(change.in_flight)})


@router.post(
    "/conversations/{conversation_id}/release",
    summary="Give back to the assistant",
    responses=posted(NotFound, Forbidden, NotOwned, RequestConflict),
)
async def release(request: Request, conversation_id: Id, body: Release) -> Released:
    """Give back a conversation that you hold; what you dealt with is not answered again."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.RELEASE)
    change = await ownership.release(
        desk.db, staff, conversation_id, body.request_id, body.owner_epoch, desk.words, desk.clock()
    )
    desk.send(change.wake)
    return Released.model_validate(change, from_attributes=True)
