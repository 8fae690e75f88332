"""The staff as colleagues see them: who works here, and what each can do.

Roles and revocations are dealt with elsewhere; what somebody can do decides no permission.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from gateway.admission import GuardedRoute
from gateway.desk import caller_of, desk_of
from gateway.desk_shapes import SetSkills, Staff, StaffMember
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.shapes import Id
from store.desk import colleagues, set_skills

router = APIRouter(route_class=GuardedRoute, tags=["desk"])


@router.get("/staff", summary="Who works here", responses=guarded(Forbidden))
async def everybody(request: Request) -> Staff:
    """Return everybody of the staff, with what they can do."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    found = await colleagues(desk.db, staff.tenant_id)
    return Staff(items=[StaffMember.model_validate(one, from_attributes=True) for one in found])


@router.put("/staff/{staff_id}/skills", summary="Say what somebody can do", responses=posted(NotFound, Forbidden))
async def skills(request: Request, staff_id: Id, body: SetSkills) -> StaffMember:
    """Set somebody's skills and languages, which decide what the queue puts first for them."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.MANAGE_STAFF)
    one = await set_skills(desk.db, staff.tenant_id, staff_id, body.skills, body.languages, staff.key)
    return StaffMember.model_validate(one, from_attributes=True)
