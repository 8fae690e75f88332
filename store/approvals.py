"""Approvals: consent of one entitled person to exactly what was shown, recorded once (INVARIANT 4).

A timer never consents, and a repeated request gets the first answer.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.action import Action, ActionState, ApprovalDecision, ApprovalRole, Cause
from domain.approving import Allows, by_table
from domain.base import Noun
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import ApprovalStale, NotFound, StaleReason
from domain.wake import Wake
from domain.words import Words
from store import tables as t
from store.approval_claims import drop_claim, require_unclaimed
from store.approval_rights import require_other_requester, require_still_staff, role_for
from store.consents import Consent, record_consent, told, void_uncounted
from store.database import Database, Tx
from store.ledger import conversation_of, history, lock_action, move, tell_state, to_action
from store.log import append, last_event, leave_wake, lock_conversation, mine
from store.validity import overtaken, pass_gate, rights_of


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
    role: ApprovalRole | None = None,
    allows: Allows = by_table,
) -> Decided:
    """Record `principal`'s decision on exactly `digest`, in `role` where one is named.

    Raises NotFound, ApprovalStale, ApprovalNotAllowed and ApprovalClaimed. Where the policy or the evidence has changed
    since it was asked for, the action's workflow is woken to judge again and to ask anew.
    """
    async with db.transaction(principal.tenant_id) as tx:
        row = await _lock_visible(tx, await conversation_of(tx, operation_id), principal)
        action = await lock_action(tx, operation_id)
        tenant, now = await pass_gate(tx, principal.tenant_id, now)
        await void_uncounted(tx, action, now)
        if (prior := await _prior(tx, principal, operation_id)) is not None:
            return _first_answer(prior, action, digest, decision, role)
        may = await rights_of(tx, tenant, allows, now)
        await require_still_staff(tx, principal)
        given_as = await role_for(tx, principal, action, role, decision, may)
        require_other_requester(action, principal)
        await _require_current(tx, action, digest, now)
        await require_unclaimed(tx, principal, operation_id, now)
        changed = await overtaken(tx, action, now) if decision is ApprovalDecision.APPROVE else None
        if changed is None:
            consent = Consent(
                approver=principal.key,
                role=given_as,
                staff_role=principal.role.value if principal.is_staff and principal.role else None,
                decision=decision,
                digest=digest,
                expires_at=_expiry(action, given_as, staff_ttl_s, now),
                note=note,
            )
            return await _decided(tx, row, action, principal, consent, words, now)
        wake = await leave_wake(tx, row, await last_event(tx, row), row.owner_epoch, operation_id)
    raise _overtaken(changed, wake)


async def _decided(
    tx: Tx,
    row: sa.Row[Any],
    action: Action,
    principal: VerifiedPrincipal,
    consent: Consent,
    words: Words,
    now: datetime,
) -> Decided:
    """Put a decision on record, into the log, and to work."""
    await record_consent(tx, action, consent, now)
    if principal.is_staff:
        await drop_claim(tx, action.operation_id, principal.id)
    event = await append(tx, row, EventKind.APPROVAL, principal.key, told(action, consent))
    if consent.decision is ApprovalDecision.REJECT:
        action = await move(tx, action, ActionState.REJECTED, Cause.DECLINED, principal.key, now)
        event = await tell_state(tx, row, action, words)
    wakes = (
        await leave_wake(tx, row, event, row.owner_epoch, action.operation_id),
        await leave_wake(tx, row, event, row.owner_epoch),
    )
    return Decided(
        operation_id=action.operation_id,
        role=consent.role,
        decision=consent.decision,
        state=action.state,
        wakes=wakes,
    )


def _overtaken(changed: StaleReason, wake: Wake) -> ApprovalStale:
    what = "another policy is in force" if changed is StaleReason.POLICY_CHANGED else "the account has changed"
    return ApprovalStale(
        f"Since this was asked for, {what}. It is being judged again, and will be asked about anew if need be.",
        changed,
        wakes=(wake,),
    )


async def _lock_visible(tx: Tx, conversation_id: str, principal: VerifiedPrincipal) -> sa.Row[Any]:
    """Lock the conversation of an action; one that is not the principal's is no action at all."""
    try:
        return await lock_conversation(tx, conversation_id, principal)
    except NotFound:
        raise NotFound("There is no such action.") from None


async def _require_current(tx: Tx, action: Action, digest: str, now: datetime) -> None:
    """Pass only what waits for approval, for the digest named, and in time. Raises ApprovalStale."""
    if action.state is not ActionState.AWAITING_APPROVAL:
        raise ApprovalStale(
            f"The action is {action.state.value} ({action.cause.value}); it no longer waits for approval.",
            await _why_not_waiting(tx, action),
            state=action.state.value,
        )
    if digest != action.payload_digest:
        raise ApprovalStale(
            "The digest is not that of the action as it is now. Read it again and decide on what it says.",
            StaleReason.DIGEST_CHANGED,
            payload_digest=action.payload_digest,
        )
    if now >= action.expires_at:
        raise ApprovalStale("The time to approve has run out.", StaleReason.EXPIRED, state=action.state.value)


async def _why_not_waiting(tx: Tx, action: Action) -> StaleReason:
    if action.cause is Cause.EXPIRED:
        return StaleReason.EXPIRED
    p = t.approvals.c
    used = sa.exists().where(p.operation_id == action.operation_id, p.consumed_at.is_not(None))
    return StaleReason.CONSUMED if (await tx.execute(sa.select(used))).scalar_one() else StaleReason.NOT_WAITING


def _expiry(action: Action, role: ApprovalRole, staff_ttl_s: int, now: datetime) -> datetime:
    return action.expires_at if role is ApprovalRole.CUSTOMER else now + timedelta(seconds=staff_ttl_s)


async def _prior(tx: Tx, principal: VerifiedPrincipal, operation_id: str) -> sa.Row[Any] | None:
    p = t.approvals.c
    query = sa.select(t.approvals).where(
        p.operation_id == operation_id, p.approver == principal.key, p.voided_at.is_(None)
    )
    return (await tx.execute(query)).one_or_none()


def _first_answer(
    prior: sa.Row[Any], action: Action, digest: str, decision: ApprovalDecision, role: ApprovalRole | None
) -> Decided:
    if prior.payload_digest != digest:
        raise ApprovalStale(
            "You have decided on another digest than this one.",
            StaleReason.DIGEST_CHANGED,
            payload_digest=action.payload_digest,
        )
    if prior.decision != decision or role not in (None, prior.role):
        raise ApprovalStale(
            f"You have decided this already: {prior.decision}, as {prior.role}.",
            StaleReason.CONSUMED if prior.consumed_at is not None else StaleReason.ALREADY_DECIDED,
            state=action.state.value,
            decision=prior.decision,
        )
    return Decided(
        operation_id=action.operation_id,
        role=ApprovalRole(prior.role),
        decision=ApprovalDecision(prior.decision),
        state=action.state,
    )
