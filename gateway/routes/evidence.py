"""The evidence beside a conversation, for the staff: what a system of record said, where it stands, and as of when."""

from fastapi import APIRouter, Request

from domain.account import Evidence
from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from gateway.admission import GuardedRoute
from gateway.answers import Answer
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import staff_of
from gateway.shapes import Id
from store.evidence import last_evidence

router = APIRouter(route_class=GuardedRoute, tags=["conversations"])


class LastRead(Answer):
    """The customer's account as it was last read for this conversation; null where it never was."""

    evidence: Evidence | None


@router.get(
    "/conversations/{conversation_id}/evidence",
    summary="What was last read of the account",
    responses=guarded(NotFound, Forbidden),
)
async def look(request: Request, conversation_id: Id) -> LastRead:
    """Return the account as it was last read, with its source, its time and for how long a decision may rest on it."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.READ_CONVERSATIONS)
    return LastRead(evidence=await last_evidence(desk.db, staff, conversation_id))
