"""Who may decide on an action, and in which role: the customer whose it is, and people whom the bundle in force lets.

Every no has its own reason, so that a console can say what to do instead.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from domain.action import Action, ApprovalDecision, ApprovalRole
from domain.approving import Rights
from domain.permission import Tool, ToolRole
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, ApprovalStale, NotAllowedReason, StaleReason
from store import tables as t
from store.database import Tx
from store.ledger import missing_approvals

CUSTOMER = ApprovalRole.CUSTOMER


async def role_for(
    tx: Tx,
    principal: VerifiedPrincipal,
    action: Action,
    named: ApprovalRole | None,
    decision: ApprovalDecision,
    may: Rights,
) -> ApprovalRole:
    """Return the role in which `principal` decides: the one named, else the first that is missing still.

    A customer says no to anything of theirs, and yes to what asks for it. Raises ApprovalNotAllowed.
    """
    if principal.kind is PrincipalKind.CUSTOMER:
        wrong = named not in (None, CUSTOMER)
        unasked = decision is ApprovalDecision.APPROVE and CUSTOMER not in action.required_approvals
        if wrong or unasked:
            raise ApprovalNotAllowed(_needs(action, "you are its customer"), NotAllowedReason.WRONG_ROLE)
        if decision is ApprovalDecision.APPROVE and not may.may_use(
            Tool.CONFIRM_OWN, ToolRole.CUSTOMER, action.payload
        ):
            raise ApprovalNotAllowed("The policy in force takes no confirmation.", NotAllowedReason.NOT_ENTITLED)
        return CUSTOMER
    if not principal.is_staff or principal.role is None:
        raise ApprovalNotAllowed("Only the customer and staff decide approvals.", NotAllowedReason.NOT_ENTITLED)
    roles = roles_open_to(principal.role, action, may)
    if named is not None:
        return _named(named, principal.role, action, roles)
    if not roles:
        told = _needs(action, f"your role is {principal.role.value}")
        raise ApprovalNotAllowed(told, NotAllowedReason.WRONG_ROLE)
    missing = await missing_approvals(tx, action)
    return next((role for role in roles if role in missing), roles[0])


def roles_open_to(staff: StaffRole, action: Action, may: Rights) -> list[ApprovalRole]:
    """Return the approvals of those that `action` needs which a person in this role may give."""
    return [role for role in action.required_approvals if may.may_give(role, staff, action)]


def require_other_requester(action: Action, principal: VerifiedPrincipal) -> None:
    """Nobody of the staff approves what they asked for themselves. Raises ApprovalNotAllowed."""
    if principal.is_staff and action.requested_by == principal.key:
        told = "You asked for this action; somebody else has to decide on it."
        raise ApprovalNotAllowed(told, NotAllowedReason.OWN_PROPOSAL)


async def require_still_staff(tx: Tx, principal: VerifiedPrincipal) -> None:
    """Pass who is still what their session says, and stays it until the commit. Raises ApprovalNotAllowed."""
    s = t.staff.c
    query = sa.select(s.role).where(s.id == principal.id, s.revoked_at.is_(None)).with_for_update(read=True)
    if principal.is_staff and (await tx.execute(query)).scalar_one_or_none() != principal.role:
        raise ApprovalNotAllowed("Your role has just changed. Sign in again.", NotAllowedReason.NOT_ENTITLED)


async def require_missing(tx: Tx, action: Action, roles: Sequence[ApprovalRole]) -> None:
    """Pass where one of `roles` has not approved yet. Raises ApprovalStale, which says who has."""
    missing = await missing_approvals(tx, action)
    if any(role in missing for role in roles):
        return
    other = await approver_of(tx, action, roles[0])
    raise ApprovalStale(
        f"The {roles[0].value} approval was given already, by {other}.", StaleReason.ALREADY_DECIDED, approver=other
    )


async def approver_of(tx: Tx, action: Action, role: ApprovalRole) -> str | None:
    """Return who has approved in `role`, if somebody has."""
    p = t.approvals.c
    query = sa.select(p.approver).where(
        p.operation_id == action.operation_id,
        p.role == role.value,
        p.voided_at.is_(None),
        p.decision == ApprovalDecision.APPROVE.value,
    )
    return (await tx.execute(query)).scalar_one_or_none()


def _named(named: ApprovalRole, staff: StaffRole, action: Action, roles: list[ApprovalRole]) -> ApprovalRole:
    if named in roles:
        return named
    if named not in action.required_approvals:
        raise ApprovalNotAllowed(_needs(action, f"you named {named.value}"), NotAllowedReason.WRONG_ROLE)
    told = f"The policy in force does not let {staff.value} give the {named.value} approval of this action."
    raise ApprovalNotAllowed(told, NotAllowedReason.NOT_ENTITLED)


def _needs(action: Action, but: str) -> str:
    return f"This action needs {', '.join(role.value for role in action.required_approvals) or 'no approval'}; {but}."
