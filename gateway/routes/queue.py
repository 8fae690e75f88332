"""What waits for people: the queue, the approvals, and the bundle of a handoff.

All of it is for staff, and of their own tenant alone.
"""

from fastapi import APIRouter, Request

from domain.handoff import HandoffBundle
from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from gateway.admission import GuardedRoute
from gateway.answers import Approvals, Queue
from gateway.deciding import allows_of
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import require_staff, require_tool
from gateway.shapes import Id
from store import queue
from store.approval_queue import pending_approvals

router = APIRouter(route_class=GuardedRoute, tags=["queue"])


@router.get("/queue", summary="What waits for a person", responses=guarded(Forbidden))
async def waiting(request: Request) -> Queue:
    """Return open handoffs, and actions whose outcome nobody knows, most urgent first."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return Queue(items=await queue.queue(desk.db, staff, desk.clock()))


@router.get("/approvals", summary="What waits for consent", responses=guarded(Forbidden))
async def pending(request: Request) -> Approvals:
    """Return what waits for somebody's consent: what nobody has decided in time, then the soonest to expire."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    allows = await allows_of(desk, staff)
    return Approvals(items=await pending_approvals(desk.db, staff, desk.clock(), allows))


@router.get("/handoffs/{handoff_id}", summary="All that one needs to take over", responses=guarded(NotFound, Forbidden))
async def bundle(request: Request, handoff_id: Id) -> HandoffBundle:
    """Return the goal and the open questions, the evidence with its times, what was done and what is in flight."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return await queue.handoff_bundle(desk.db, staff, handoff_id)
