"""Ratings: of an answer by the customer who got it, of a handoff by the person who received it."""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal
from domain.teamwork import AnswerRating, HandoffRating
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import author_of, reader_of, require_staff, require_tool
from gateway.shapes import Id
from gateway.teamwork_shapes import RateAnswer, RateHandoff, Ratings
from store.ratings import rate_answer, rate_handoff, ratings

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])


@router.post(
    "/conversations/{conversation_id}/ratings",
    summary="Rate an answer",
    responses=posted(NotFound, Forbidden, Refusal),
)
async def rate(request: Request, conversation_id: Id, body: RateAnswer) -> AnswerRating:
    """Rate one answer from 1 to 5; for an hour you can think again."""
    desk = desk_of(request)
    customer = await author_of(desk, caller_of(request), conversation_id)
    return await rate_answer(desk.db, customer, conversation_id, body.seq, body.score, body.comment, desk.clock())


@router.get("/conversations/{conversation_id}/ratings", summary="What was rated", responses=guarded(NotFound))
async def rated(request: Request, conversation_id: Id) -> Ratings:
    """Return the ratings of a conversation that you may see."""
    desk = desk_of(request)
    reader = await reader_of(desk, caller_of(request))
    return Ratings(items=list(await ratings(desk.db, reader, conversation_id)))


@router.post(
    "/handoffs/{handoff_id}/rating",
    summary="Rate a handoff",
    responses=posted(NotFound, Forbidden, Refusal),
)
async def rate_received(request: Request, handoff_id: Id, body: RateHandoff) -> HandoffRating:
    """Say how well a handoff that you received told you what you needed, and whether it was right to call a person."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.REPLY)
    return await rate_handoff(desk.db, staff, handoff_id, body.score, body.right_to_escalate, body.note, desk.clock())
