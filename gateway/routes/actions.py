"""Actions of the ledger, and the consent that they wait for.

Consent is to exactly what a digest stands for, given once, by a POST and never by a link.
"""

from fastapi import APIRouter, Request

from domain.refusal import ApprovalClaimed, ApprovalNotAllowed, ApprovalStale, NotFound
from gateway.admission import GuardedRoute
from gateway.answers import ActionAnswer, ApprovalRecorded
from gateway.bodies import Decide
from gateway.deciding import allows_of, decide_one
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import reader_of
from gateway.shapes import Id
from gateway.wire import actor_for
from store import approvals

router = APIRouter(route_class=GuardedRoute, tags=["actions"])


@router.get(
    "/actions/{operation_id}",
    summary="How an action stands",
    responses=guarded(NotFound),
    response_model_exclude_unset=True,
)
async def look(request: Request, operation_id: Id) -> ActionAnswer:
    """Return an action with what it would change, whose consent it needs, and every move that it made."""
    desk = desk_of(request)
    caller = await reader_of(desk, caller_of(request), "action")
    view = await approvals.view_action(desk.db, caller, operation_id)
    action = view.action
    told = {
        "operation_id": action.operation_id,
        "kind": action.kind,
        "state": action.state,
        "payload": action.payload.model_dump(mode="json"),
        "payload_digest": action.payload_digest,
        "required_approvals": list(action.required_approvals),
        "history": [{**move, "actor": actor_for(caller, move["actor"])} for move in view.history],
    }
    if action.external_id:
        told["external_id"] = action.external_id
    if caller.is_staff:
        told["repair"] = action.payload.repair
    return ActionAnswer.model_validate(told)


@router.post(
    "/actions/{operation_id}/approvals",
    summary="Consent, or not",
    responses=posted(NotFound, ApprovalStale, ApprovalNotAllowed, ApprovalClaimed),
)
async def decide(request: Request, operation_id: Id, body: Decide) -> ApprovalRecorded:
    """Record a decision about exactly what the digest stands for; repeated, the first answer."""
    desk = desk_of(request)
    caller = await reader_of(desk, caller_of(request), "action")
    decided = await decide_one(desk, caller, operation_id, body, await allows_of(desk, caller))
    return ApprovalRecorded.model_validate(decided, from_attributes=True)
