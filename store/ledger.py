"""The ledger's rows: how an action is read, locked and moved. A move is a transition row; the database refuses others.

The transactions that decide when to move stand in `proposals`, `approvals`, `dispatch` and `settlement`.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from domain.action import Action, ActionKind, ActionState, ApprovalRole, Cause, Move, Payload
from domain.approving import reminder_due_at
from domain.conversation import EventKind, Owner
from domain.refusal import NotFound
from domain.turn import ActionProgress
from domain.words import Words
from store import tables as t
from store.database import Database, Tx
from store.log import Appended, append, leave_wake
from store.pipeline import Row, Statement, run
from store.validity import overtaken, parcels_to_ask_about

_PAYLOAD: TypeAdapter[Payload] = TypeAdapter(Payload)
LEDGER_ACTOR = "ledger:interlock"


def to_action(row: Row) -> Action:
    """Return a ledger row as everybody reads it."""
    return Action(
        operation_id=row.operation_id,
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        customer_id=row.customer_id,
        kind=ActionKind(row.kind),
        state=ActionState(row.state),
        cause=Cause(row.cause),
        payload=_PAYLOAD.validate_python(row.payload),
        payload_digest=row.payload_digest,
        required_approvals=tuple(ApprovalRole(r) for r in row.required_approvals),
        owner_epoch=row.owner_epoch,
        policy_digest=row.policy_digest,
        evidence_digest=row.evidence_digest,
        created_at=row.created_at,
        expires_at=row.expires_at,
        language=row.language,
        reserved_at=row.reserved_at,
        sent_at=row.sent_at,
        last_sent_at=row.last_sent_at,
        send_count=row.send_count,
        settled_at=row.settled_at,
        external_id=row.external_id,
        requested_by=row.requested_by,
        asked_at=row.asked_at,
        reminded_at=row.reminded_at,
        escalated_at=row.escalated_at,
    )


_OF_CONVERSATION = sa.select(t.actions).where(t.actions.c.conversation_id == sa.bindparam("conversation_id"))
# To be run with others in one round trip; locks are taken in the one lock order (by operation id).
ACTIONS_OF = Statement(_OF_CONVERSATION.order_by(t.actions.c.created_at, t.actions.c.operation_id))
LOCK_ACTIONS_OF = Statement(_OF_CONVERSATION.order_by(t.actions.c.operation_id).with_for_update())


async def actions_of(tx: Tx, conversation_id: str, *, lock: bool = False) -> list[Action]:
    """Return a conversation's actions, oldest first; with `lock`, in the one lock order (by operation id)."""
    (rows,) = await run(tx, (LOCK_ACTIONS_OF if lock else ACTIONS_OF)(conversation_id=conversation_id))
    return sorted((to_action(r) for r in rows), key=lambda x: (x.created_at, x.operation_id))


async def lock_action(tx: Tx, operation_id: str) -> Action:
    """Lock and return one action; its conversation's row must be locked already. Raises NotFound."""
    query = sa.select(t.actions).where(t.actions.c.operation_id == operation_id).with_for_update()
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such action.")
    return to_action(row)


async def conversation_of(tx: Tx, operation_id: str) -> str:
    """Return the conversation of an action, unlocked (it never changes). Raises NotFound."""
    query = sa.select(t.actions.c.conversation_id).where(t.actions.c.operation_id == operation_id)
    found = (await tx.execute(query)).scalar_one_or_none()
    if found is None:
        raise NotFound("There is no such action.")
    return str(found)


async def move(
    tx: Tx, action: Action, to: ActionState, cause: Cause, actor: str, at: datetime, **columns: Any
) -> Action:
    """Move a locked action by one transition, set `columns` beside it, and return it as it is now.

    Raises sqlalchemy.exc.IntegrityError when the move is not legal, or its resource is taken (INVARIANT 5).
    """
    if columns:
        await change_action(tx, action.operation_id, **columns)
    await tx.execute(
        sa.insert(t.transitions).values(
            tenant_id=action.tenant_id,
            operation_id=action.operation_id,
            n=0,
            from_state=action.state.value,
            to_state=to.value,
            cause=cause.value,
            actor=actor,
            at=at,
        )
    )
    settled = {"settled_at": at} if to.terminal else {}
    return action.model_copy(update={"state": to, "cause": cause, **columns, **settled})


async def change_action(tx: Tx, operation_id: str, **columns: Any) -> None:
    """Update the progress columns of a locked action."""
    await tx.execute(sa.update(t.actions).where(t.actions.c.operation_id == operation_id).values(**columns))


async def tell_state(tx: Tx, row: sa.Row[Any], action: Action, words: Words, step_id: str | None = None) -> Appended:
    """Put an action's new state into its conversation's log, in the ledger's words (INVARIANT 6)."""
    body = {
        "operation_id": action.operation_id,
        "state": action.state.value,
        "cause": action.cause.value,
        "external_id": action.external_id,
        "text": words.status(action),
    }
    return await append(tx, row, EventKind.ACTION_STATE, LEDGER_ACTOR, body, step_id=step_id)


def proposal_body(action: Action, words: Words) -> dict[str, Any]:
    """Return the body of a proposal event: what would happen, and the digest that an approval must name."""
    return {
        "operation_id": action.operation_id,
        "kind": action.kind.value,
        "summary": words.proposal(action),
        "payload_digest": action.payload_digest,
        "required_approvals": [r.value for r in action.required_approvals],
        "expires_at": action.expires_at.isoformat(),
        "automated": not action.by_staff,
    }


async def reject_unsent(
    tx: Tx, row: sa.Row[Any], action: Action, cause: Cause, actor: str, words: Words, at: datetime
) -> Action:
    """Reject an action that was certainly not sent, tell it in the log, and wake its workflow."""
    moved = await move(tx, action, ActionState.REJECTED, cause, actor, at)
    event = await tell_state(tx, row, moved, words)
    await leave_wake(tx, row, event, row.owner_epoch, action.operation_id)
    return moved


async def withdraw_unsent(tx: Tx, row: sa.Row[Any], words: Words, actor: str, at: datetime) -> list[Action]:
    """Reject every action of a locked conversation that is certainly not sent; return all its actions as they are."""
    now = []
    for action in await actions_of(tx, row.id, lock=True):
        if action.unsent:
            action = await reject_unsent(tx, row, action, Cause.WITHDRAWN, actor, words, at)
        now.append(action)
    return now


def fenced(row: Row, action: Action) -> bool:
    """Whether the epoch of an action has passed: who asked for it must own the conversation still (INVARIANT 3)."""
    owner = Owner.HUMAN if action.by_staff else Owner.BOT
    return bool(row.owner != owner or row.owner_epoch != action.owner_epoch)


async def load_progress(db: Database, tenant_id: str, operation_id: str, now: datetime | None = None) -> ActionProgress:
    """Return what an action's workflow goes by: always the row, never a remembered signal. Raises NotFound.

    Whether it is overtaken by another policy or by newer evidence is told as of `now`, where that is given.
    """
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(sa.select(t.actions).where(t.actions.c.operation_id == operation_id))).one_or_none()
        if row is None:
            raise NotFound("There is no such action.")
        return await progress_of(tx, to_action(row), now)


async def progress_of(tx: Tx, action: Action, now: datetime | None = None) -> ActionProgress:
    """Return an action's progress: labels and times, no text."""
    person = await has_case(tx, action.operation_id)
    missing = await missing_approvals(tx, action) if action.state.unexecuted else ()
    of_staff = any(role is not ApprovalRole.CUSTOMER for role in missing)
    return ActionProgress(
        operation_id=action.operation_id,
        kind=action.kind.value,
        state=action.state.value,
        cause=action.cause.value,
        owner_epoch=action.owner_epoch,
        missing=tuple(r.value for r in missing),
        expires_at=action.expires_at,
        reserved_at=action.reserved_at,
        sent_at=action.sent_at,
        last_sent_at=action.last_sent_at,
        send_count=action.send_count,
        created_at=action.created_at,
        person_has_it=person,
        overtaken=bool(missing) and now is not None and await overtaken(tx, action, now) is not None,
        refresh=await parcels_to_ask_about(tx, action, now) if now is not None else (),
        remind_at=reminder_due_at(action) if of_staff else None,
    )


async def has_case(tx: Tx, operation_id: str) -> bool:
    """Whether an unknown outcome waits with a person."""
    k = t.cases.c
    query = sa.select(sa.exists().where(k.operation_id == operation_id, k.queue_status != "done"))
    return bool((await tx.execute(query)).scalar_one())


async def granted(tx: Tx, action: Action, at: datetime | None = None) -> tuple[ApprovalRole, ...]:
    """Return the roles whose approvals fit exactly what the action is now, and have not expired by `at`."""
    query = sa.select(t.approvals.c.role).where(fitting(action, at))
    return tuple(ApprovalRole(r) for r in (await tx.execute(query)).scalars())


async def with_given(tx: Tx, action: Action) -> Action:
    """Return an action with the consent that it has so far, so that nobody is asked again for what they have given."""
    if not action.state.unexecuted:
        return action
    return action.model_copy(update={"given": await granted(tx, action)})


def fitting(action: Action, at: datetime | None = None) -> sa.ColumnElement[bool]:
    """Return the condition under which an approval may be used for exactly what `action` is, at `at` (INVARIANT 4)."""
    p = t.approvals.c
    return sa.and_(
        p.operation_id == action.operation_id,
        p.decision == "approve",
        p.voided_at.is_(None),
        p.consumed_at.is_(None),
        p.payload_digest == action.payload_digest,
        p.policy_digest == action.policy_digest,
        p.evidence_digest == action.evidence_digest,
        p.expires_at > (at if at is not None else sa.func.now()),
        still_entitled(),
    )


def still_entitled() -> sa.ColumnElement[bool]:
    """Whether who approved is still who they were: one whose role was changed or taken away consents to nothing.

    What the role may give is fixed by the bundle that the approval is bound to.
    """
    p, s = t.approvals.c, t.staff.c
    of_staff = sa.exists().where(
        s.tenant_id == p.tenant_id, p.approver == "staff:" + s.id, s.revoked_at.is_(None), s.role == p.staff_role
    )
    return sa.or_(p.role == ApprovalRole.CUSTOMER.value, of_staff)


async def hold_people(tx: Tx, action: Action) -> None:
    """Lock the staff who asked for an action or approved it: what was counted is not revoked before it is used."""
    p, s = t.approvals.c, t.staff.c
    approved = sa.exists().where(
        p.operation_id == action.operation_id, p.approver == "staff:" + s.id, p.voided_at.is_(None)
    )
    asked = "staff:" + s.id == action.requested_by
    await tx.execute(sa.select(s.id).where(sa.or_(approved, asked)).order_by(s.id).with_for_update(read=True))


async def missing_approvals(tx: Tx, action: Action) -> tuple[ApprovalRole, ...]:
    """Return whose approval an unexecuted action still waits for."""
    have = await granted(tx, action)
    return tuple(r for r in action.required_approvals if r not in have)


async def history(tx: Tx, operation_id: str) -> list[Move]:
    """Return an action's transitions in order."""
    x = t.transitions.c
    rows = (await tx.execute(sa.select(t.transitions).where(x.operation_id == operation_id).order_by(x.n))).all()
    return [
        Move(
            from_state=ActionState(r.from_state) if r.from_state else None,
            to_state=ActionState(r.to_state),
            cause=Cause(r.cause),
            actor=r.actor,
            at=r.at,
        )
        for r in rows
    ]
