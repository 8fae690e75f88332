"""What waits for people: the queue, the approvals, and the bundle of a handoff.

All of it is for staff, and of their own tenant alone.
"""

from fastapi import APIRouter, Request

from domain.handoff import HandoffBundle
from domain.refusal import Forbidden, NotFound
from gateway.admission import GuardedRoute
from gateway.answers import Approvals, Queue
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import require_staff
from gateway.shapes import Id
from store import queue

router = APIRouter(route_class=GuardedRoute, tags=["queue"])


@router.get("/queue", summary="What waits for a person", responses=guarded(Forbidden))
async def waiting(request: Request) -> Queue:
    """Return open handoffs, and actions whose outcome nobody knows, most urgent first."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    return Queue(items=await queue.queue(desk.db, staff, desk.clock()))


@router.get("/approvals", summary="What waits for consent", responses=guarded(Forbidden))
async def pending(request: Request) -> Approvals:
    """Return the actions that wait for somebody's consent, the soonest to expire first."""
    staff = require_staff(caller_of(request))
    return Approvals(items=await queue.pending_approvals(desk_of(request).db, staff))


@router.get("/handoffs/{handoff_id}", summary="All that one needs to take over", responses=guarded(NotFound, Forbidden))
async def bundle(request: Request, handoff_id: Id) -> HandoffBundle:
    """Return the goal and the open questions, the evidence with its times, what was done and what is in flight."""
    staff = require_staff(caller_of(request))
    return await queue.handoff_bundle(desk_of(request).db, staff, handoff_id)
