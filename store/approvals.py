"""Approvals: consent of one entitled person to exactly what was shown, recorded once (INVARIANT 4).

A timer never consents, and a repeated request gets the first answer.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.action import Action, ActionState, ApprovalDecision, ApprovalRole, Cause
from domain.base import Noun
from domain.conversation import EventKind
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, ApprovalStale, NotFound
from domain.wake import Wake
from domain.words import Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import conversation_of, history, lock_action, move, tell_state, to_action
from store.log import append, leave_wake, lock_conversation, mine, under_lock

_ROLES_OF_STAFF = {
    StaffRole.MANAGER: (ApprovalRole.MANAGER,),
    StaffRole.FINANCE: (ApprovalRole.FINANCE, ApprovalRole.MANAGER),
    StaffRole.ADMIN: (ApprovalRole.MANAGER,),
    StaffRole.AGENT: (),
}


class Decided(Noun):
    """The answer to an approval: what was decided, and how the action stands. `wakes` are empty for a repeat."""

    operation_id: str
    role: ApprovalRole
    decision: ApprovalDecision
    state: ActionState
    wakes: tuple[Wake, ...] = ()


class ActionView(Noun):
    """`GET /actions/{operation_id}`."""

    action: Action
    history: tuple[dict[str, Any], ...]


async def view_action(db: Database, principal: VerifiedPrincipal, operation_id: str) -> ActionView:
    """Return one action with its history. Raises NotFound when it does not exist for `principal`."""
    async with db.transaction(principal.tenant_id) as tx:
        query = (
            sa.select(t.actions)
            .join(t.conversations, t.conversations.c.id == t.actions.c.conversation_id)
            .where(t.actions.c.operation_id == operation_id, mine(principal))
        )
        row = (await tx.execute(query)).one_or_none()
        if row is None:
            raise NotFound("There is no such action.")
        moves = await history(tx, operation_id)
        return ActionView(action=to_action(row), history=tuple(m.model_dump(mode="json") for m in moves))


async def decide(
    db: Database,
    principal: VerifiedPrincipal,
    operation_id: str,
    digest: str,
    decision: ApprovalDecision,
    note: str | None,
    staff_ttl_s: int,
    words: Words,
    now: datetime,
) -> Decided:
    """Record `principal`'s decision on exactly `digest`. Raises NotFound, ApprovalStale, ApprovalNotAllowed."""
    async with db.transaction(principal.tenant_id) as tx:
        conversation_id = await conversation_of(tx, operation_id)
        row = await _lock_visible(tx, conversation_id, principal)
        action = await lock_action(tx, operation_id)
        now = await under_lock(tx, now)
        await _void_expired(tx, action, now)
        if (prior := await _prior(tx, principal, operation_id)) is not None:
            return _first_answer(prior, action, digest, decision)
        role = _role_for(principal, row, action)
        await _require_other_requester(tx, action, principal)
        _require_current(action, digest, now)
        await _record(tx, action, principal, role, digest, decision, note, _expiry(action, role, staff_ttl_s, now), now)
        body = {"operation_id": operation_id, "role": role.value, "decision": decision.value}
        event = await append(tx, row, EventKind.APPROVAL, principal.key, body)
        if decision is ApprovalDecision.REJECT:
            action = await move(tx, action, ActionState.REJECTED, Cause.DECLINED, principal.key, now)
            event = await tell_state(tx, row, action, words)
        wakes = (
            await leave_wake(tx, row, event, row.owner_epoch, operation_id),
            await leave_wake(tx, row, event, row.owner_epoch),
        )
        return Decided(operation_id=operation_id, role=role, decision=decision, state=action.state, wakes=wakes)


async def _lock_visible(tx: Tx, conversation_id: str, principal: VerifiedPrincipal) -> sa.Row[Any]:
    """Lock the conversation of an action; one that is not the principal's is no action at all."""
    try:
        return await lock_conversation(tx, conversation_id, principal)
    except NotFound:
        raise NotFound("There is no such action.") from None


def _role_for(principal: VerifiedPrincipal, row: sa.Row[Any], action: Action) -> ApprovalRole:
    """Return the role in which `principal` may decide on this action. Raises ApprovalNotAllowed."""
    if principal.kind is PrincipalKind.CUSTOMER:
        return ApprovalRole.CUSTOMER
    if not principal.is_staff or principal.role is None:
        raise ApprovalNotAllowed("Only the customer and staff decide approvals.")
    may = [r for r in _ROLES_OF_STAFF[principal.role] if r in action.required_approvals]
    if not may:
        needed = ", ".join(r.value for r in action.required_approvals)
        raise ApprovalNotAllowed(f"This action needs {needed}; your role is {principal.role.value}.")
    return may[0]


async def _require_other_requester(tx: Tx, action: Action, principal: VerifiedPrincipal) -> None:
    """Nobody of the staff approves what they asked for themselves. Raises ApprovalNotAllowed."""
    a = t.actions.c
    query = sa.select(a.requested_by).where(a.operation_id == action.operation_id)
    if principal.is_staff and (await tx.execute(query)).scalar_one() == principal.key:
        raise ApprovalNotAllowed("You asked for this action; somebody else has to decide on it.")


async def _void_expired(tx: Tx, action: Action, now: datetime) -> None:
    """An approval that ran out before it was used makes room for a new one, by anybody entitled."""
    p = t.approvals.c
    if action.state.unexecuted:
        await tx.execute(
            sa.update(t.approvals)
            .where(
                p.operation_id == action.operation_id,
                p.voided_at.is_(None),
                p.consumed_at.is_(None),
                p.expires_at <= now,
            )
            .values(voided_at=now)
        )


def _require_current(action: Action, digest: str, now: datetime) -> None:
    if action.state is not ActionState.AWAITING_APPROVAL:
        raise ApprovalStale(
            f"The action is {action.state.value} ({action.cause.value}); it no longer waits for approval.",
            state=action.state.value,
        )
    if digest != action.payload_digest:
        raise ApprovalStale(
            "The digest is not that of the action as it is now. Read it again and decide on what it says.",
            payload_digest=action.payload_digest,
        )
    if now >= action.expires_at:
        raise ApprovalStale("The time to approve has run out.", state=action.state.value)


def _expiry(action: Action, role: ApprovalRole, staff_ttl_s: int, now: datetime) -> datetime:
    return action.expires_at if role is ApprovalRole.CUSTOMER else now + timedelta(seconds=staff_ttl_s)


async def _prior(tx: Tx, principal: VerifiedPrincipal, operation_id: str) -> sa.Row[Any] | None:
    p = t.approvals.c
    query = sa.select(t.approvals).where(
        p.operation_id == operation_id, p.approver == principal.key, p.voided_at.is_(None)
    )
    return (await tx.execute(query)).one_or_none()


def _first_answer(prior: sa.Row[Any], action: Action, digest: str, decision: ApprovalDecision) -> Decided:
    if prior.payload_digest != digest or prior.decision != decision:
        raise ApprovalStale(
            f"You have decided this already: {prior.decision}.", state=action.state.value, decision=prior.decision
        )
    return Decided(
        operation_id=action.operation_id,
        role=ApprovalRole(prior.role),
        decision=ApprovalDecision(prior.decision),
        state=action.state,
    )


async def _record(
    tx: Tx,
    action: Action,
    principal: VerifiedPrincipal,
    role: ApprovalRole,
    digest: str,
    decision: ApprovalDecision,
    note: str | None,
    expires_at: datetime,
    now: datetime,
) -> None:
    p = t.approvals.c
    taken = sa.select(p.approver).where(
        p.operation_id == action.operation_id, p.role == role.value, p.voided_at.is_(None), p.decision == "approve"
    )
    other = (await tx.execute(taken)).scalar_one_or_none()
    if other is not None and decision is ApprovalDecision.APPROVE:  # a no is heard also after a yes
        raise ApprovalStale(f"The {role.value} approval was given already, by {other}.", approver=other)
    await tx.execute(
        sa.insert(t.approvals).values(
            tenant_id=action.tenant_id,
            operation_id=action.operation_id,
            approver=principal.key,
            role=role.value,
            decision=decision.value,
            payload_digest=digest,
            policy_digest=action.policy_digest,
            evidence_digest=action.evidence_digest,
            note=note,
            decided_at=now,
            expires_at=expires_at,
        )
    )
