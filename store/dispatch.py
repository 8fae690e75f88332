"""Reservation and claim: the two transactions between an approved action and the wire.

INVARIANTS 3, 4, 5, 9: fence, approvals, resource, evidence, policy and kill switch are checked under one set of locks.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.account import Evidence, evidence_digest
from domain.action import Action, ActionState, Cause
from domain.base import Noun
from domain.connector import ConnectorContract
from domain.conversation import EventKind, Owner
from domain.refusal import NotFound
from domain.turn import ClaimResult, ReserveResult
from domain.verdict import PolicyQuestion, Verdict, VerdictKind
from domain.words import Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import change_action, conversation_of, fitting, granted, lock_action, move, proposal_body, tell_state
from store.log import append, append_behind, leave_wake, lock_conversation, under_lock
from store.tenancy import customer_status, refunds_30d

Judge = Callable[[str, PolicyQuestion], Verdict]  # under the bundle of that digest
_EXECUTOR = "executor:interlock"


class ReservationFacts(Noun):
    """What an attempt to reserve begins with, outside the locks: all of it is checked again under them."""

    conversation_id: str
    customer_id: str
    policy_digest: str


async def reservation_facts(db: Database, tenant_id: str, operation_id: str) -> ReservationFacts:
    """Return whose account to read and which bundle to open. Raises NotFound."""
    a = t.actions.c
    query = sa.select(a.conversation_id, a.customer_id, t.tenants.c.policy_digest).join(
        t.tenants, t.tenants.c.id == a.tenant_id
    )
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(query.where(a.operation_id == operation_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such action.")
    return ReservationFacts(
        conversation_id=row.conversation_id, customer_id=row.customer_id, policy_digest=row.policy_digest
    )


async def reserve(
    db: Database,
    tenant_id: str,
    operation_id: str,
    step_id: str,
    found: Evidence,
    judge: Judge,
    words: Words,
    now: datetime,
) -> ReserveResult:
    """Move an approved action to `submitted`, or say why not. `found` was read for this attempt."""
    try:
        async with db.transaction(tenant_id) as tx:
            row = await lock_conversation(tx, await conversation_of(tx, operation_id))
            action = await lock_action(tx, operation_id)
            now = await under_lock(tx, now)
            return await _reserve(tx, row, action, step_id, found, judge, words, now)
    except IntegrityError as taken:
        if "actions_in_flight" in str(taken.orig):
            return ReserveResult.BUSY
        raise


async def _reserve(
    tx: Tx,
    row: sa.Row[Any],
    action: Action,
    step_id: str,
    found: Evidence,
    judge: Judge,
    words: Words,
    now: datetime,
) -> ReserveResult:
    if action.state is not ActionState.AWAITING_APPROVAL:
        return await _already(tx, action, step_id)
    if row.owner != Owner.BOT or row.owner_epoch != action.owner_epoch:
        return ReserveResult.FENCED
    tenant = await _lock_tenant(tx)
    if tenant.dispatch_halted:
        return await _reject(tx, row, action, Cause.DENIED, words, now)
    if now >= action.expires_at:
        return await _reject(tx, row, action, Cause.EXPIRED, words, now)
    if row.customer_seq > row.answered_seq:
        return ReserveResult.UNCONSIDERED
    if not found.fresh(now) or found.observed_at <= await _last_settlement(tx, action):
        return ReserveResult.STALE_EVIDENCE
    if await _resource_taken(tx, action):
        return ReserveResult.BUSY
    question = await _question(tx, tenant, row, action, found, now)
    verdict = judge(tenant.policy_digest, question)
    if verdict.kind is VerdictKind.FORBID:
        return await _reject(tx, row, action, Cause.DENIED, words, now, verdict)
    if verdict.kind is VerdictKind.ASK or verdict.policy_digest != action.policy_digest:
        await _ask_again(tx, row, action, verdict, found, words, now)
        return ReserveResult.ASK_AGAIN
    await _consume(tx, action, now)
    submitted = await move(
        tx, action, ActionState.SUBMITTED, Cause.RESERVED, _EXECUTOR, now, reserved_at=now, reserved_step=step_id
    )
    await tell_state(tx, row, submitted, words, step_id=step_id)
    await append_behind(tx, row, [_verdict_fact(verdict, action)])
    return ReserveResult.RESERVED


async def _already(tx: Tx, action: Action, step_id: str) -> ReserveResult:
    """The same step, run again after a crash, finds its own reservation."""
    query = sa.select(t.actions.c.reserved_step).where(t.actions.c.operation_id == action.operation_id)
    mine = (await tx.execute(query)).scalar_one() == step_id and action.state is ActionState.SUBMITTED
    return ReserveResult.RESERVED if mine else ReserveResult.MOVED


async def _lock_tenant(tx: Tx) -> sa.Row[Any]:
    """Kill switch and policy in force, locked against change until this transaction ends."""
    return (await tx.execute(sa.select(t.tenants).with_for_update(read=True))).one()


async def _last_settlement(tx: Tx, action: Action) -> datetime:
    a = t.actions.c
    query = sa.select(sa.func.max(a.settled_at)).where(
        a.resource == action.payload.resource, a.send_count > 0, a.settled_at.is_not(None)
    )
    found = (await tx.execute(query)).scalar_one_or_none()
    return found or datetime.min.replace(tzinfo=action.created_at.tzinfo)


async def _resource_taken(tx: Tx, action: Action) -> bool:
    a = t.actions.c
    query = sa.exists().where(
        a.resource == action.payload.resource,
        a.state.in_(["submitted", "unknown"]),
        a.operation_id != action.operation_id,
    )
    return bool((await tx.execute(sa.select(query))).scalar_one())


async def _question(
    tx: Tx, tenant: sa.Row[Any], row: sa.Row[Any], action: Action, found: Evidence, now: datetime
) -> PolicyQuestion:
    """All that policy may look at, read under the locks; approvals count only while what they rest on is unchanged."""
    digest = evidence_digest(found.source, action.payload.resource, found.account)
    unchanged = digest == action.evidence_digest and tenant.policy_digest == action.policy_digest
    count, amount = await refunds_30d(tx, action.customer_id, now)
    return PolicyQuestion(
        tenant_id=action.tenant_id,
        tenant_kind=tenant.kind,
        customer_id=action.customer_id,
        customer_status=await customer_status(tx, action.customer_id),
        payload=action.payload,
        account=found.account,
        evidence_observed_at=found.observed_at,
        evidence_max_age_s=found.max_age_s,
        now=now,
        granted=await granted(tx, action, now) if unchanged else (),
        stage=tenant.stage,
        refunds_30d_minor=amount,
        refunds_30d_count=count,
    )


async def _reject(
    tx: Tx, row: sa.Row[Any], action: Action, cause: Cause, words: Words, now: datetime, verdict: Verdict | None = None
) -> ReserveResult:
    moved = await move(tx, action, ActionState.REJECTED, cause, "policy:engine", now)
    event = await tell_state(tx, row, moved, words)
    if verdict is not None:
        await append_behind(tx, row, [_verdict_fact(verdict, action)])
    await leave_wake(tx, row, event, row.owner_epoch)
    return ReserveResult.REJECTED


def _verdict_fact(verdict: Verdict, action: Action) -> Any:
    return EventKind.VERDICT, {"operation_id": action.operation_id, **verdict.model_dump(mode="json")}


async def _ask_again(
    tx: Tx, row: sa.Row[Any], action: Action, verdict: Verdict, found: Evidence, words: Words, now: datetime
) -> None:
    """Bind the action to what holds now; approvals that were given for something else are void (INVARIANT 4)."""
    p = t.approvals.c
    digest = evidence_digest(found.source, action.payload.resource, found.account)
    stale = sa.or_(p.policy_digest != verdict.policy_digest, p.evidence_digest != digest, p.expires_at <= now)
    voided = await tx.execute(
        sa.update(t.approvals)
        .where(p.operation_id == action.operation_id, p.voided_at.is_(None), p.consumed_at.is_(None), stale)
        .values(voided_at=now)
    )
    required = verdict.required or action.required_approvals
    await change_action(
        tx,
        action.operation_id,
        required_approvals=[r.value for r in required],
        policy_digest=verdict.policy_digest,
        evidence_id=found.evidence_id,
        evidence_digest=digest,
    )
    if voided.rowcount:
        asked = action.model_copy(update={"required_approvals": required, "policy_digest": verdict.policy_digest})
        await append(tx, row, EventKind.PROPOSAL, "policy:engine", proposal_body(asked, words))
        await append_behind(tx, row, [_verdict_fact(verdict, action)])


async def _consume(tx: Tx, action: Action, now: datetime) -> None:
    await tx.execute(sa.update(t.approvals).where(fitting(action, now)).values(consumed_at=now))


class Claim(Noun):
    """The answer to a claim; `action` is what may be written to the wire, now, and only when it was claimed."""

    result: ClaimResult
    action: Action | None = None


async def claim(
    db: Database, tenant_id: str, operation_id: str, claim_ttl_s: int, words: Words, now: datetime
) -> Claim:
    """Take the right to send a submitted action, once. What may not be sent any more is rejected as never sent."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        now = await under_lock(tx, now)
        if action.state is not ActionState.SUBMITTED:
            return Claim(result=ClaimResult.MOVED)
        if action.send_count > 0:
            return Claim(result=ClaimResult.ALREADY_SENT)
        tenant = await _lock_tenant(tx)
        late = action.reserved_at is None or now - action.reserved_at > timedelta(seconds=claim_ttl_s)
        if _fenced(row, action) or tenant.dispatch_halted or late:
            moved = await move(tx, action, ActionState.REJECTED, Cause.NEVER_SENT, _EXECUTOR, now)
            event = await tell_state(tx, row, moved, words)
            await leave_wake(tx, row, event, row.owner_epoch)
            return Claim(result=ClaimResult.NOT_SENT)
        sent = {"sent_at": now, "last_sent_at": now, "send_count": 1}
        await change_action(tx, operation_id, **sent)
        return Claim(result=ClaimResult.CLAIMED, action=action.model_copy(update=sent))


async def claim_resend(
    db: Database, tenant_id: str, operation_id: str, contract: ConnectorContract, sends_max: int, now: datetime
) -> Claim:
    """Take the right to send an unknown action again under its own key, where contract and fence allow it."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        now = await under_lock(tx, now)
        if action.state is not ActionState.UNKNOWN:
            return Claim(result=ClaimResult.MOVED)
        tenant = await _lock_tenant(tx)
        unheard = row.customer_seq > row.answered_seq  # it may say "stop"
        if (
            _fenced(row, action)
            or unheard
            or tenant.dispatch_halted
            or not may_resend(action, contract, sends_max, now)
        ):
            return Claim(result=ClaimResult.REFUSED)
        sent = {"last_sent_at": now, "send_count": action.send_count + 1}
        await change_action(tx, operation_id, **sent)
        return Claim(result=ClaimResult.CLAIMED, action=action.model_copy(update=sent))


def may_resend(action: Action, contract: ConnectorContract, sends_max: int, now: datetime) -> bool:
    """Whether a re-send would still arrive inside the key's life, the bound on late commits included."""
    if contract.key_window_s is None or contract.late_effect_s is None or action.sent_at is None:
        return False
    age_s = (now - action.sent_at).total_seconds()
    return action.send_count < sends_max and age_s + contract.late_effect_s <= contract.key_window_s


def _fenced(row: sa.Row[Any], action: Action) -> bool:
    return bool(row.owner != Owner.BOT or row.owner_epoch != action.owner_epoch)
