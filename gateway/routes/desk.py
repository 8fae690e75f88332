"""The tenant's service desk: its document, read by all of the staff and set by whoever manages them.

A document counts from the moment that its answer is sent.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, VersionConflict
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.desk_shapes import DeskSet, DeskShown, SetDesk
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from store.desk import read_desk, set_desk

router = APIRouter(route_class=GuardedRoute, tags=["desk"])


@router.get("/desk", summary="Hours, targets, urgency and skills", responses=guarded(Forbidden))
async def show(request: Request) -> DeskShown:
    """Return the document that counts."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return DeskShown.model_validate(await read_desk(desk.db, staff.tenant_id), from_attributes=True)


@router.put("/desk", summary="Set hours, targets, urgency and skills", responses=posted(Forbidden, VersionConflict))
async def put(request: Request, body: SetDesk) -> DeskSet:
    """Let a document count in the place of the version that you have seen; open handoffs keep their urgency."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.MANAGE_STAFF)
    return DeskSet(version=await set_desk(desk.db, staff.tenant_id, body.document, body.expected_version, staff.key))
