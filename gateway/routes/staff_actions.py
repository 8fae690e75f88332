"""Actions that people of the staff ask for, in a conversation that they hold: the same ledger, the same gates.

Nothing is sent from here; what is proposed waits for whatever consent policy asks for.
"""

from fastapi import APIRouter, Request

from domain.catalogue.wish import Wish
from domain.fault import OperationalFault
from domain.permission import Tool
from domain.refusal import (
    ActionInFlight,
    CannotPropose,
    Forbidden,
    NotFound,
    NotOwned,
    PolicyForbids,
    RequestConflict,
    VersionConflict,
)
from gateway.admission import GuardedRoute
from gateway.answers import ActionProposed, ActionWithdrawn
from gateway.bodies import CallOff, ProposeAction
from gateway.desk import caller_of, desk_of
from gateway.documents import posted
from gateway.duties import require_tool, staff_of, staff_on
from gateway.refusals import Unavailable
from gateway.shapes import Id
from store import withdrawals
from store.approvals import view_action
from store.staff_proposals import StaffRequest

router = APIRouter(route_class=GuardedRoute, tags=["actions"])


@router.post(
    "/conversations/{conversation_id}/actions",
    status_code=201,
    summary="Propose an action as a person",
    responses=posted(
        NotFound,
        Forbidden,
        NotOwned,
        RequestConflict,
        VersionConflict,
        CannotPropose,
        PolicyForbids,
        ActionInFlight,
    ),
)
async def propose(request: Request, conversation_id: Id, body: ProposeAction) -> ActionProposed:
    """Propose an action for the customer whose conversation you hold; repeated, the first answer.

    The account is read anew, policy judges what you ask for in your role, and the customer sees the proposal.
    """
    desk = desk_of(request)
    staff = await staff_of(
        desk,
        caller_of(request),
        conversation_id,
        Tool.PROPOSE,
        kind=body.kind.value,
        amount_minor=body.amount_minor or 0,
        currency=body.currency or "",
    )
    asked = StaffRequest(
        request_id=body.request_id,
        wish=Wish(**body.model_dump(exclude={"request_id", "seen_version"})),
        seen_version=body.seen_version,
    )
    try:
        proposed = await desk.acting.propose(staff, conversation_id, asked)
    except OperationalFault:
        raise Unavailable(
            "The customer's account cannot be read at the moment; nothing was proposed.", retry_after_s=5
        ) from None
    desk.send(*proposed.wakes)
    return ActionProposed.model_validate(
        {
            **proposed.model_dump(exclude={"forbidden", "wakes"}),
            "required_approvals": list(proposed.required_approvals),
            "rules": list(proposed.rules),
        }
    )


@router.post(
    "/actions/{operation_id}/withdrawals",
    summary="Call off an action that was not sent",
    responses=posted(NotFound, Forbidden, NotOwned, ActionInFlight),
)
async def withdraw(request: Request, operation_id: Id, _: CallOff) -> ActionWithdrawn:
    """Withdraw an action in a conversation that you hold; what may have been sent cannot be called off."""
    desk = desk_of(request)
    staff = await staff_on(desk, caller_of(request), operation_id)
    await view_action(desk.db, staff, operation_id)  # what is not there is not forbidden either
    await require_tool(desk, staff, Tool.PROPOSE)
    done = await withdrawals.withdraw(desk.db, staff, operation_id, desk.words, desk.clock())
    return ActionWithdrawn.model_validate(done, from_attributes=True)
