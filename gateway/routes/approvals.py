"""Who is at an approval, and several decided at once: for people of the staff who may decide them.

A claim keeps two people from deciding one item; a batch is of equal low-risk items, each decided on its own.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import ApprovalClaimed, ApprovalNotAllowed, ApprovalStale, Forbidden, NotFound, Refusal
from gateway.admission import GuardedRoute
from gateway.answers import ApprovalFree, ApprovalTaken, BatchAnswered, BatchDecided, BatchRefused
from gateway.bodies import BatchItem, Decide, DecideBatch, TakeApproval
from gateway.deciding import allows_of, decide_one
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import reader_of, require_staff, require_tool, staff_on
from gateway.shapes import Id
from store.approval_batches import require_batch
from store.approval_claims import claim_approval, give_back
from store.approval_dossier import Dossier, dossier

router = APIRouter(route_class=GuardedRoute, tags=["approvals"])


@router.post(
    "/actions/{operation_id}/claim",
    summary="Take an approval for yourself",
    responses=posted(NotFound, Forbidden, ApprovalStale, ApprovalNotAllowed, ApprovalClaimed),
)
async def claim(request: Request, operation_id: Id, body: TakeApproval) -> ApprovalTaken:
    """Keep others of the staff from deciding it for some minutes; the customer decides all the same."""
    desk = desk_of(request)
    staff = await staff_on(desk, caller_of(request), operation_id)
    allows = await allows_of(desk, staff)
    taken = await claim_approval(desk.db, staff, operation_id, body.minutes, desk.clock(), allows)
    return ApprovalTaken.model_validate(taken, from_attributes=True)


@router.delete(
    "/actions/{operation_id}/claim",
    summary="Give an approval back",
    responses=guarded(NotFound, Forbidden, ApprovalClaimed),
)
async def unclaim(request: Request, operation_id: Id) -> ApprovalFree:
    """End your own claim; where you have none, nothing happens."""
    desk = desk_of(request)
    staff = await staff_on(desk, caller_of(request), operation_id)
    await give_back(desk.db, staff, operation_id, desk.clock())
    return ApprovalFree(operation_id=operation_id)


@router.get(
    "/approvals/{operation_id}",
    summary="All that an approver looks at",
    responses=guarded(NotFound, Forbidden),
)
async def look(request: Request, operation_id: Id) -> Dossier:
    """Return what would happen, the facts and rules that it rests on, who has said what, and what you may decide."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    return await dossier(desk.db, staff, operation_id, desk.clock(), await allows_of(desk, staff))


@router.post(
    "/approvals/batch",
    summary="Decide equal low-risk items together",
    responses=posted(NotFound, Forbidden, ApprovalNotAllowed),
)
async def decide_batch(request: Request, body: DecideBatch) -> BatchAnswered:
    """Decide each item in a transaction of its own; a batch that is not of equal low-risk items is refused whole."""
    desk = desk_of(request)
    staff = await reader_of(desk, require_staff(caller_of(request)), "action")
    allows = await allows_of(desk, staff)
    await require_batch(desk.db, staff, [item.operation_id for item in body.items], allows, desk.clock())
    answered: list[BatchDecided | BatchRefused] = []
    for item in body.items:
        try:
            decided = await decide_one(desk, staff, item.operation_id, _decision(body, item), allows)
            answered.append(BatchDecided.model_validate(decided.model_dump(exclude={"wakes"})))
        except Refusal as refusal:
            answered.append(_refused(item, refusal))
    return BatchAnswered(items=answered)


def _decision(body: DecideBatch, item: BatchItem) -> Decide:
    return Decide(payload_digest=item.payload_digest, decision=body.decision, note=body.note)


def _refused(item: BatchItem, refusal: Refusal) -> BatchRefused:
    reason = refusal.fields.get("reason")
    return BatchRefused(
        operation_id=item.operation_id,
        problem=refusal.slug,
        detail=refusal.detail,
        reason=str(reason) if reason is not None else None,
    )
