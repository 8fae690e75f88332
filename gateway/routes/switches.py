"""Kill switches: what is stopped for the tenant, and stopping it or letting it go on.

A switch holds from the moment its answer is sent: nothing is reserved or sent after that.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden
from gateway.admission import GuardedRoute
from gateway.answers import SwitchesStand
from gateway.bodies import TurnSwitch
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from store import switches

router = APIRouter(route_class=GuardedRoute, tags=["switches"])


@router.get("/switches", summary="What is stopped", responses=guarded(Forbidden))
async def look(request: Request) -> SwitchesStand:
    """Return whether all dispatch of the organisation is stopped, and which kinds of action are."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return await _stand(desk, staff.tenant_id)


@router.post("/switches", summary="Stop, or let go on", responses=posted(Forbidden))
async def turn(request: Request, body: TurnSwitch) -> SwitchesStand:
    """Stop one kind of action, or everything (`kind` null), or let it go on; it is audited with your reason."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    tool = Tool.STOP_DISPATCH if body.on else Tool.RESUME_DISPATCH
    await require_tool(desk, staff, tool, kind=body.kind.value if body.kind else "")
    await switches.turn(desk.db, staff.tenant_id, body.kind, stopped=body.on, by=staff.key, why=body.reason)
    return await _stand(desk, staff.tenant_id)


async def _stand(desk: Desk, tenant_id: str) -> SwitchesStand:
    found = await switches.switches(desk.db, tenant_id)
    return SwitchesStand(everything=found.everything, kinds=list(found.kinds))
