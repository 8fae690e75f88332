"""What waits for people: the queue, the approvals, the bundle of a handoff, and who is about to take it.

All of it is for staff, and of their own tenant alone.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from domain.handoff import HandoffBundle
from domain.permission import Tool
from domain.refusal import Forbidden, HandoffClaimed, NotFound, Refusal
from gateway.admission import GuardedRoute
from gateway.answers import Approvals
from gateway.deciding import allows_of
from gateway.desk import caller_of, desk_of
from gateway.desk_shapes import HandoffFree, HandoffTaken, TakeHandoff
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.queue_shapes import Queue, QueueFilters
from gateway.queueing import page_of
from gateway.shapes import Id
from store import handoff_claims
from store.approval_pace import pace_of
from store.approval_queue import pending_approvals
from store.bundle import handoff_bundle

router = APIRouter(route_class=GuardedRoute, tags=["queue"])

_AS_LONG_AS_USUAL = TakeHandoff()


@router.get("/queue", summary="What waits for a person", responses=guarded(Forbidden))
async def waiting(request: Request, wanted: Annotated[QueueFilters, Query()]) -> Queue:
    """Return open handoffs, cases, drafts and approvals: by urgency, then what is due first, then the oldest."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return await page_of(desk.db, desk.boards, staff, wanted, desk.clock())


@router.get("/approvals", summary="What waits for consent", responses=guarded(Forbidden))
async def pending(request: Request) -> Approvals:
    """Return what waits for somebody's consent: what nobody has decided in time, then the soonest to expire."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    allows = await allows_of(desk, staff)
    items = await pending_approvals(desk.db, staff, desk.clock(), allows)
    return Approvals(items=items, pace=await pace_of(desk.db, staff, desk.clock()))


@router.get("/handoffs/{handoff_id}", summary="All that one needs to take over", responses=guarded(NotFound, Forbidden))
async def bundle(request: Request, handoff_id: Id) -> HandoffBundle:
    """Return the goal and the open questions, the evidence with its times, what was done and what is in flight."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return await handoff_bundle(desk.db, staff, handoff_id)


@router.post(
    "/handoffs/{handoff_id}/claim",
    summary="Say that you are about to take a handoff",
    responses=posted(NotFound, Forbidden, HandoffClaimed, Refusal),
)
async def claim(request: Request, handoff_id: Id, body: TakeHandoff = _AS_LONG_AS_USUAL) -> HandoffTaken:
    """Keep others from claiming it for some minutes; it ends by itself, and with a takeover, which stays possible."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.TAKE_OVER)
    taken = await handoff_claims.claim(desk.db, staff, handoff_id, body.minutes, desk.clock())
    return HandoffTaken.model_validate(taken, from_attributes=True)


@router.delete(
    "/handoffs/{handoff_id}/claim",
    summary="Give a handoff back to the queue",
    responses=guarded(NotFound, Forbidden, HandoffClaimed),
)
async def unclaim(request: Request, handoff_id: Id) -> HandoffFree:
    """End your own claim; where you have none, nothing happens."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.TAKE_OVER)
    await handoff_claims.give_back(desk.db, staff, handoff_id, desk.clock())
    return HandoffFree(handoff_id=handoff_id)
