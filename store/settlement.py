"""Settlement: how a submitted action becomes confirmed, rejected or visibly unknown, and who has it then.

INVARIANT 7: nothing stays unknown without a person responsible after its deadline; a late answer still settles it.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.action import Action, ActionState, Cause
from domain.connector import ConnectorContract, Lookup, LookupKind, OutcomeKind, WriteOutcome
from domain.conversation import Owner
from domain.handoff import HandoffReason, QueueStatus
from domain.refusal import Refusal
from domain.words import Words
from store import tables as t
from store.cases import UNKNOWN_ACTION, responsible
from store.comparison import Difference, DifferenceKind, record, same_money
from store.database import Database, Tx
from store.dispatch import may_resend
from store.ledger import conversation_of, fenced, lock_action, move, tell_state
from store.log import leave_wake, lock_conversation
from store.ownership import BOT, hand_over

_EXECUTOR = "executor:interlock"
_RECONCILER = "reconciler:interlock"


async def settle_write(
    db: Database,
    tenant_id: str,
    operation_id: str,
    outcome: WriteOutcome,
    contract: ConnectorContract,
    words: Words,
    now: datetime,
) -> ActionState:
    """Write a connector's answer into the ledger and return the state now; a settled action stays as it is.

    A refusal settles only what was sent once, or whose provider keeps refusals (design §5). A success of what was
    rejected is a violated invariant: a case, and no dispatch until a person has looked.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if not action.state.in_flight:
            if outcome.kind is OutcomeKind.SUCCESS:
                await _effect_of_settled(tx, action, outcome.external_id)
            return action.state
        match outcome.kind:
            case OutcomeKind.SUCCESS:
                return await _settle(
                    tx, row, action, ActionState.CONFIRMED, Cause.SUCCEEDED, _EXECUTOR, words, now, outcome.external_id
                )
            case OutcomeKind.REFUSAL if action.send_count == 1 or contract.refusals_kept:
                return await _settle(tx, row, action, ActionState.REJECTED, Cause.REFUSED, _EXECUTOR, words, now)
            case _:
                return await _unknown(tx, row, action, words, now)


async def settle_lookup(
    db: Database,
    tenant_id: str,
    operation_id: str,
    found: Lookup,
    contract: ConnectorContract,
    looked_at: datetime,
    words: Words,
    now: datetime,
) -> ActionState:
    """Write what a look-up (begun at `looked_at`) found into the ledger and return the state now.

    Not found proves nothing before D + L has passed since the last send, and nothing at all where D or L is unknown.
    What is found with another amount is confirmed, and a violated invariant.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if action.state is not ActionState.UNKNOWN:
            if action.state.terminal and found.kind is LookupKind.COMMITTED:
                await _effect_of_settled(tx, action, found.external_id)
            return action.state
        match found.kind:
            case LookupKind.COMMITTED:
                await _other_amount(tx, action, found)
                return await _settle(
                    tx, row, action, ActionState.CONFIRMED, Cause.FOUND, _RECONCILER, words, now, found.external_id
                )
            case LookupKind.REFUSED if action.send_count == 1 or contract.refusals_kept:
                return await _settle(tx, row, action, ActionState.REJECTED, Cause.REFUSED, _RECONCILER, words, now)
            case LookupKind.NOT_FOUND if absence_is_final(action, contract, looked_at):
                return await _settle(tx, row, action, ActionState.REJECTED, Cause.NOT_FOUND, _RECONCILER, words, now)
            case _:
                return action.state


def absence_is_final(action: Action, contract: ConnectorContract, looked_at: datetime) -> bool:
    """Whether a look-up begun at `looked_at` that found nothing proves that nothing happened or ever will."""
    if contract.late_effect_s is None or contract.lookup_lag_s is None or action.last_sent_at is None:
        return False
    age_s = (looked_at - action.last_sent_at).total_seconds()
    return age_s > contract.late_effect_s + contract.lookup_lag_s


async def settle_by_person(
    db: Database,
    tenant_id: str,
    operation_id: str,
    outcome: ActionState,
    staff_id: str,
    external_id: str | None,
    contract: ConnectorContract,
    words: Words,
    now: datetime,
) -> ActionState:
    """Record what a member of staff has found outside of an unknown action, and return the state now.

    `outcome` is confirmed or rejected; rejected only once the last send can take effect no more. Raises NotFound,
    Forbidden, and Refusal for what is not unknown, or not yet certain.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        await responsible(tx, staff_id)
        if action.state is not ActionState.UNKNOWN:
            raise Refusal(f"Only an unknown action is settled by a person; this one is {action.state.value}.")
        actor = f"staff:{staff_id}"
        match outcome:
            case ActionState.CONFIRMED:
                return await _settle(tx, row, action, outcome, Cause.FOUND, actor, words, now, external_id)
            case ActionState.REJECTED:
                _may_be_absent(action, contract, now)
                return await _settle(tx, row, action, outcome, Cause.NOT_FOUND, actor, words, now)
            case _:
                raise ValueError(f"nothing is settled as {outcome.value}")


def _may_be_absent(action: Action, contract: ConnectorContract, now: datetime) -> None:
    """Pass only when nothing of the action can happen any more. Raises Refusal, which says how long that takes."""
    if contract.late_effect_s is None or action.last_sent_at is None:
        raise Refusal("This provider names no bound for late effects, so that absence is never certain.")
    left_s = contract.late_effect_s - (now - action.last_sent_at).total_seconds()
    if left_s >= 0:
        wait_s = int(left_s) + 1
        raise Refusal(
            f"It can still take effect. Look again in {wait_s} s, and record then what you see.", wait_s=wait_s
        )


async def _effect_of_settled(tx: Tx, action: Action, external_id: str | None) -> None:
    """Record proof of an effect that the settled row does not stand for: it was rejected, or stands for another."""
    other = external_id is not None and action.external_id is not None and external_id != action.external_id
    if action.state is ActionState.REJECTED or (action.state is ActionState.CONFIRMED and other):
        await record(tx, action.tenant_id, [_violation(DifferenceKind.EFFECT_WITHOUT_ROW, action, f"{external_id}")])


async def _other_amount(tx: Tx, action: Action, found: Lookup) -> None:
    """Record that the provider moved another amount than was approved; one that names no amount says nothing."""
    told = found.amount_minor is not None or found.currency is not None
    if told and not same_money(action, found.amount_minor, found.currency):
        effect = f"{found.external_id} {found.amount_minor} {found.currency}"
        await record(tx, action.tenant_id, [_violation(DifferenceKind.OTHER_AMOUNT, action, effect)])


def _violation(kind: DifferenceKind, action: Action, effect: str) -> Difference:
    ledger = f"{action.state.value} {action.kind.value} {action.payload.amount_minor} {action.payload.currency}"
    return Difference(kind=kind, operation_id=action.operation_id, violates=True, ledger=ledger, effect=effect)


async def after_dispatch(
    db: Database, tenant_id: str, operation_id: str, claim_ttl_s: int, words: Words, now: datetime
) -> ActionState:
    """Return what a dispatch that gave no answer has come to. Claimed is unknown.

    Never claimed is certainly not sent: it stays submitted while a claim could still be made, then it is rejected.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if action.state is not ActionState.SUBMITTED:
            return action.state
        if action.send_count > 0:
            return await _unknown(tx, row, action, words, now)
        if action.reserved_at is not None and now - action.reserved_at <= timedelta(seconds=claim_ttl_s):
            return action.state
        return await _settle(tx, row, action, ActionState.REJECTED, Cause.NEVER_SENT, _EXECUTOR, words, now)


async def resend_allowed(
    db: Database, tenant_id: str, operation_id: str, contract: ConnectorContract, sends_max: int, now: datetime
) -> bool:
    """Whether a re-send would be claimed if it were tried now; the claim itself has the last word."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        heard = row.customer_seq <= row.answered_seq
        unknown = action.state is ActionState.UNKNOWN
        return bool(unknown and heard and not fenced(row, action) and may_resend(action, contract, sends_max, now))


async def expire(db: Database, tenant_id: str, operation_id: str, words: Words, now: datetime) -> ActionState:
    """Reject an action whose time to be approved has run out, and return the state now. A timer never consents."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if action.state.unexecuted and now >= action.expires_at:
            return await _settle(tx, row, action, ActionState.REJECTED, Cause.EXPIRED, _EXECUTOR, words, now)
        return action.state


async def withdraw_fenced(db: Database, tenant_id: str, operation_id: str, words: Words, now: datetime) -> ActionState:
    """Reject an unexecuted action whose epoch has passed: nothing of before a change of owner is done after it."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if action.state.unexecuted and fenced(row, action):
            return await _settle(tx, row, action, ActionState.REJECTED, Cause.WITHDRAWN, _EXECUTOR, words, now)
        return action.state


async def open_case(db: Database, tenant_id: str, operation_id: str, words: Words, now: datetime) -> ActionState:
    """Give an unknown that has reached its deadline to a person, with everything known, and return the state now.

    The case is a queue item of its own that neither release nor close ends; the conversation goes to a person too.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id))
        action = await lock_action(tx, operation_id)
        if action.state is not ActionState.UNKNOWN:
            return action.state
        case_id = str(uuid4())
        opened = await tx.execute(
            insert(t.cases)
            .values(
                id=case_id,
                tenant_id=tenant_id,
                conversation_id=action.conversation_id,
                operation_id=operation_id,
                kind=UNKNOWN_ACTION,
                detail=_known(action),
                opened_at=now,
            )
            .on_conflict_do_nothing()
            .returning(t.cases.c.id)
        )
        if opened.one_or_none() is not None and row.owner == Owner.BOT:
            await hand_over(tx, row, BOT, f"case:{case_id}", HandoffReason.UNKNOWN_OUTCOME, words, now)
        return action.state


def _known(action: Action) -> dict[str, Any]:
    return action.model_dump(
        mode="json",
        include={"kind", "payload", "payload_digest", "reserved_at", "sent_at", "last_sent_at", "send_count", "cause"},
    )


async def _unknown(tx: Tx, row: sa.Row[Any], action: Action, words: Words, now: datetime) -> ActionState:
    if action.state is ActionState.SUBMITTED:
        moved = await move(tx, action, ActionState.UNKNOWN, Cause.RESPONSE_LOST, _EXECUTOR, now)
        event = await tell_state(tx, row, moved, words)
        await leave_wake(tx, row, event, row.owner_epoch)
    return ActionState.UNKNOWN


async def _settle(
    tx: Tx,
    row: sa.Row[Any],
    action: Action,
    to: ActionState,
    cause: Cause,
    actor: str,
    words: Words,
    now: datetime,
    external_id: str | None = None,
) -> ActionState:
    columns = {"external_id": external_id} if external_id else {}
    moved = await move(tx, action, to, cause, actor, now, **columns)
    k = t.cases.c
    await tx.execute(
        sa.update(t.cases)
        .where(
            k.operation_id == action.operation_id, k.kind == UNKNOWN_ACTION, k.queue_status != QueueStatus.DONE.value
        )
        .values(queue_status=QueueStatus.DONE.value, done_at=now)
    )
    event = await tell_state(tx, row, moved, words)
    await leave_wake(tx, row, event, row.owner_epoch)
    return to
