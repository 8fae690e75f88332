"""Reservation and claim: the two transactions between an approved action and the wire.

INVARIANTS 3, 4, 5, 9: fence, approvals, resource, evidence, policy and kill switch are checked under one set of locks.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.account import Evidence
from domain.action import MONEY_KINDS, Action, ActionState, ApprovalRole, Cause, evidence_digest
from domain.base import Noun
from domain.connector import ConnectorContract
from domain.conversation import EventKind
from domain.parcels import rests_on_stale_tracking
from domain.refusal import NotFound
from domain.turn import ClaimResult, ReserveResult
from domain.verdict import BOT, Actor, Judgement, PolicyQuestion, Verdict, VerdictKind
from domain.words import Words
from store import tables as t
from store.audit import record_verdict
from store.circumstances import circumstances, lock_money, lock_tenant, policy_in_force, stopped, tenant_row
from store.database import Database, Tx
from store.ledger import (
    change_action,
    conversation_of,
    fenced,
    fitting,
    granted,
    hold_people,
    lock_action,
    move,
    proposal_body,
    tell_state,
    to_action,
)
from store.log import append, append_behind, leave_wake, lock_conversation, under_lock
from store.pipeline import Row

Judge = Callable[[str, PolicyQuestion], Judgement]  # under the bundle of that digest
_EXECUTOR = "executor:interlock"
REVOKED = "revoked"  # the role in which somebody acts whose role was taken away: no rule knows it


class ReservationFacts(Noun):
    """What an attempt to reserve begins with, outside the locks: all of it is checked again under them."""

    conversation_id: str
    customer_id: str
    policy_digest: str
    refused: ReserveResult | None = None  # what stands in the way already, whatever the account says


async def reservation_facts(db: Database, tenant_id: str, operation_id: str, now: datetime) -> ReservationFacts:
    """Return whose account to read and which bundle to open, or what stands in the way already. Raises NotFound."""
    a, c = t.actions.c, t.conversations.c
    async with db.transaction(tenant_id) as tx:
        found = (await tx.execute(sa.select(t.actions).where(a.operation_id == operation_id))).one_or_none()
        if found is None:
            raise NotFound("There is no such action.")
        row = (await tx.execute(sa.select(t.conversations).where(c.id == found.conversation_id))).one()
        tenant = await tenant_row(tx)
        return ReservationFacts(
            conversation_id=found.conversation_id,
            customer_id=found.customer_id,
            policy_digest=await policy_in_force(tx, tenant_id, now),
            refused=None if stopped(tenant, found.kind) else _in_the_way(row, to_action(found)),
        )


def _in_the_way(row: Row, action: Action) -> ReserveResult | None:
    """What keeps an action that waits from being reserved; a switch comes first, and is judged."""
    if action.state is not ActionState.AWAITING_APPROVAL:
        return None
    if fenced(row, action):
        return ReserveResult.FENCED
    return ReserveResult.UNCONSIDERED if row.customer_seq > row.answered_seq else None


async def reserve(
    db: Database,
    tenant_id: str,
    operation_id: str,
    step_id: str,
    found: Evidence,
    judge: Judge,
    words: Words,
    now: datetime,
    staff_ttl_s: int,
) -> ReserveResult:
    """Move an approved action to `submitted`, or say why not. `found` was read for this attempt.

    Where a person of the staff is newly needed, they have `staff_ttl_s` from then on.
    """
    try:
        async with db.transaction(tenant_id) as tx:
            row = await lock_conversation(tx, await conversation_of(tx, operation_id))
            action = await lock_action(tx, operation_id)
            return await _reserve(tx, row, action, step_id, found, judge, words, now, staff_ttl_s)
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
    staff_ttl_s: int,
) -> ReserveResult:
    if action.state is not ActionState.AWAITING_APPROVAL:
        return await _already(tx, action, step_id)
    if fenced(row, action):
        return ReserveResult.FENCED
    if action.kind in MONEY_KINDS:  # first, so that what waits for its turn keeps nobody from turning a switch
        await lock_money(tx, action.tenant_id)
    tenant = await lock_tenant(tx, action.tenant_id)
    now = await under_lock(tx, now)
    if stopped(tenant, action.kind.value):
        judged = await _judged(tx, tenant, action, found, judge, now)  # so that the rule that stops it is on record
        told = judged.verdict if judged.verdict.kind is VerdictKind.FORBID else None
        return await _reject(tx, row, action, Cause.DENIED, words, now, told)
    if now >= action.expires_at:
        return await _reject(tx, row, action, Cause.EXPIRED, words, now)
    if row.customer_seq > row.answered_seq:
        return ReserveResult.UNCONSIDERED
    if not found.fresh(now) or found.observed_at <= await _last_settlement(tx, action):
        return ReserveResult.STALE_EVIDENCE
    if rests_on_stale_tracking(action.payload, found.account, now):
        return ReserveResult.STALE_EVIDENCE  # its workflow has the carrier asked, and tries again
    if await _resource_taken(tx, action):
        return ReserveResult.BUSY
    judged = await _judged(tx, tenant, action, found, judge, now)
    verdict = judged.verdict
    if verdict.kind is VerdictKind.FORBID:
        return await _reject(tx, row, action, Cause.DENIED, words, now, verdict)
    if verdict.kind is VerdictKind.ASK or not await _as_consented(tx, action, verdict, found, now):
        await _ask_again(tx, row, action, verdict, found, staff_ttl_s, words, now)
        return ReserveResult.ASK_AGAIN
    await _consume(tx, action, now)
    submitted = await move(
        tx, action, ActionState.SUBMITTED, Cause.RESERVED, _EXECUTOR, now, reserved_at=now, reserved_step=step_id
    )
    await tell_state(tx, row, submitted, words, step_id=step_id)
    await append_behind(tx, row, [_verdict_fact(verdict, action)])
    return ReserveResult.RESERVED


async def _as_consented(tx: Tx, action: Action, verdict: Verdict, found: Evidence, now: datetime) -> bool:
    """Whether what is permitted now is what was asked about, and everybody who was asked has consented to it."""
    rests_on = evidence_digest(found.source, action.payload, found.account)
    if (verdict.policy_digest, rests_on) != (action.policy_digest, action.evidence_digest):
        return False
    return set(action.required_approvals) <= set(await granted(tx, action, now))


async def _already(tx: Tx, action: Action, step_id: str) -> ReserveResult:
    """The same step, run again after a crash, finds its own reservation."""
    query = sa.select(t.actions.c.reserved_step).where(t.actions.c.operation_id == action.operation_id)
    mine = (await tx.execute(query)).scalar_one() == step_id and action.state is ActionState.SUBMITTED
    return ReserveResult.RESERVED if mine else ReserveResult.MOVED


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


async def _judged(
    tx: Tx, tenant: sa.Row[Any], action: Action, found: Evidence, judge: Judge, now: datetime
) -> Judgement:
    """Judge again over all that policy may look at, read under the locks, and put the verdict on record.

    Approvals count only while what they rest on is unchanged.
    """
    around = await circumstances(tx, tenant, action.customer_id, action.conversation_id, action.payload, now, action)
    digest = evidence_digest(found.source, action.payload, found.account)
    unchanged = digest == action.evidence_digest and around.policy_digest == action.policy_digest
    await hold_people(tx, action)
    actor = await actor_of(tx, action)
    given = await granted(tx, action, now) if unchanged else ()
    judged = judge(around.policy_digest, around.question(action.payload, found, now, actor, given))
    await record_verdict(
        tx, action.tenant_id, action.conversation_id, action.operation_id, "reserve", actor, judged, found, digest
    )
    return judged


async def actor_of(tx: Tx, action: Action) -> Actor:
    """Return who acts, in the role of now: a person whose role was taken away acts in none."""
    if not action.by_staff:
        return BOT
    ident = action.requested_by.partition(":")[2]
    s = t.staff.c
    query = sa.select(s.role).where(s.id == ident, s.revoked_at.is_(None))
    return Actor(kind="staff", role=(await tx.execute(query)).scalar_one_or_none() or REVOKED, id=ident)


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
    tx: Tx,
    row: sa.Row[Any],
    action: Action,
    verdict: Verdict,
    found: Evidence,
    staff_ttl_s: int,
    words: Words,
    now: datetime,
) -> None:
    """Bind the action to what holds now; approvals that were given for something else are void (INVARIANT 4).

    Where anything of it is new, it is shown again: nobody consents to a question that was another one.
    """
    digest = evidence_digest(found.source, action.payload, found.account)
    timing = _time_for_staff(action, verdict, staff_ttl_s, now)
    bound = action.model_copy(
        update={
            "required_approvals": verdict.required,
            "policy_digest": verdict.policy_digest,
            "evidence_digest": digest,
            **timing,
        }
    )
    voided = await _void(tx, bound, now)
    await change_action(
        tx,
        action.operation_id,
        required_approvals=[r.value for r in verdict.required],
        policy_digest=verdict.policy_digest,
        evidence_id=found.evidence_id,
        evidence_digest=digest,
        **timing,
    )
    if voided or bound != action:
        await append(tx, row, EventKind.PROPOSAL, "policy:engine", proposal_body(bound, words))
        await append_behind(tx, row, [_verdict_fact(verdict, action)])


def _time_for_staff(action: Action, verdict: Verdict, staff_ttl_s: int, now: datetime) -> dict[str, datetime | None]:
    """The times of an action that newly needs somebody of the staff: they have theirs, and are reminded within it."""
    if not set(verdict.required) - set(action.required_approvals) - {ApprovalRole.CUSTOMER}:
        return {}
    until = max(action.expires_at, now + timedelta(seconds=staff_ttl_s))
    return {"expires_at": until, "asked_at": now, "reminded_at": None, "escalated_at": None}


async def _void(tx: Tx, bound: Action, now: datetime) -> int:
    """Void what does not count for `bound` and was not used; return how many approvals that were."""
    p = t.approvals.c
    counts = sa.and_(fitting(bound, now), p.role.in_([role.value for role in bound.required_approvals]))
    unused = sa.and_(p.operation_id == bound.operation_id, p.voided_at.is_(None), p.consumed_at.is_(None))
    voided = await tx.execute(sa.update(t.approvals).where(unused, ~counts).values(voided_at=now))
    return voided.rowcount


async def _consume(tx: Tx, action: Action, now: datetime) -> None:
    needed = t.approvals.c.role.in_([role.value for role in action.required_approvals])
    await tx.execute(sa.update(t.approvals).where(fitting(action, now), needed).values(consumed_at=now))


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
        tenant = await lock_tenant(tx, tenant_id)
        now = await under_lock(tx, now)  # past the gate: a wait for it makes a reservation older
        if action.state is not ActionState.SUBMITTED:
            return Claim(result=ClaimResult.MOVED)
        if action.send_count > 0:
            return Claim(result=ClaimResult.ALREADY_SENT)
        late = action.reserved_at is None or now - action.reserved_at > timedelta(seconds=claim_ttl_s)
        revoked = (await actor_of(tx, action)).role == REVOKED
        if fenced(row, action) or stopped(tenant, action.kind.value) or late or revoked:
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
        tenant = await lock_tenant(tx, tenant_id)
        now = await under_lock(tx, now)
        if action.state is not ActionState.UNKNOWN:
            return Claim(result=ClaimResult.MOVED)
        unheard = row.customer_seq > row.answered_seq  # it may say "stop"
        if (
            fenced(row, action)
            or unheard
            or stopped(tenant, action.kind.value)
            or (await actor_of(tx, action)).role == REVOKED
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
