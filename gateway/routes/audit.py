"""The audit, page by page: each row with all that is hashed, so that whoever reads it can recompute the chain.

For those of the staff whom the policy lets read it.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from domain.permission import Tool
from domain.refusal import Forbidden
from gateway.admission import GuardedRoute
from gateway.answers import AuditShown
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import require_staff, require_tool
from store.record import audit_page

ROWS_MAX = 500

router = APIRouter(route_class=GuardedRoute, tags=["audit"])

After = Annotated[int, Query(ge=0, lt=2**63, description="Only rows with a greater number.")]
Limit = Annotated[int, Query(ge=1, le=ROWS_MAX, description="At most so many rows.")]


@router.get("/audit", summary="What is on record", responses=guarded(Forbidden))
async def look(request: Request, after: After = 0, limit: Limit = 100) -> AuditShown:
    """Return rows of the tenant's audit in order, and the last row there is: ask again until you have come to it."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_AUDIT)
    page = await audit_page(desk.db, staff.tenant_id, after, limit)
    return AuditShown(items=list(page.rows), head=page.head)
