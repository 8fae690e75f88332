"""A "yes" in words: the customer's approval where the bundle lets it count, and of nothing but what was said last.

The same conditions are looked at when a turn is considered and again, under the locks, when the "yes" is recorded.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.action import Action, ActionState, ApprovalDecision, ApprovalRole
from domain.approving import Allows, Rights
from domain.conversation import EventKind
from domain.permission import Tool, ToolRole
from domain.step import Confirm
from domain.turn import Effect, TurnFence
from store import tables as t
from store.consents import Consent, record_consent, told, void_uncounted
from store.database import Database, Tx
from store.ledger import actions_of, fenced, missing_approvals
from store.log import append, append_behind, last_event, leave_wake, lock_conversation, step_result
from store.ownership import BOT
from store.pipeline import Row
from store.turns import Behind, answer_through, refusal_of
from store.validity import overtaken, pass_gate, rights, rights_of

_e = t.events.c


async def confirmable(
    db: Database, tenant_id: str, conversation_id: str, allows: Allows, now: datetime
) -> Confirm | None:
    """Return what a "yes" would confirm that is the one unanswered message of the conversation, or None.

    The bundle in force has to be open already. Where only another bundle or newer evidence is in the way, the action's
    workflow is woken to judge again and to ask anew.
    """
    c = t.conversations.c
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(sa.select(t.conversations).where(c.id == conversation_id))).one_or_none()
        if row is None:
            return None
        standing = await _standing(tx, row, await actions_of(tx, conversation_id), await rights(tx, allows, now), now)
        if standing is None:
            return None
        if await overtaken(tx, standing, now) is None:
            return Confirm(operation_id=standing.operation_id, said_seq=row.customer_seq)
        row = await lock_conversation(tx, conversation_id)
        await leave_wake(tx, row, await last_event(tx, row), row.owner_epoch, standing.operation_id)
        return None


async def confirm_in_words(
    db: Database,
    fence: TurnFence,
    confirm: Confirm,
    allows: Allows,
    behind: Behind,
    language: str,
    now: datetime,
) -> Effect:
    """Record the "yes" as the customer's approval; it answers their message. OVERTAKEN where it confirms that no more.

    A newer message always drops it: it may say "stop".
    """
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if await step_result(tx, row.id, fence.step_id) is not None:
            return Effect.DONE
        if (refused := await refusal_of(tx, row, fence.model_copy(update={"last_round": False}))) is not None:
            return refused
        actions = await actions_of(tx, row.id, lock=True)
        tenant, now = await pass_gate(tx, fence.tenant_id, now)
        standing = await _standing(tx, row, actions, await rights_of(tx, tenant, allows, now), now)
        if standing is None or await overtaken(tx, standing, now) is not None:
            return Effect.OVERTAKEN
        if (standing.operation_id, row.customer_seq) != (confirm.operation_id, confirm.said_seq):
            return Effect.OVERTAKEN
        await void_uncounted(tx, standing, now)
        consent = _consent(standing, confirm.said_seq)
        await record_consent(tx, standing, consent, now)
        body = {**told(standing, consent), "answers_through": fence.through_seq}
        event = await append(tx, row, EventKind.APPROVAL, consent.approver, body, step_id=fence.step_id)
        await append_behind(tx, row, behind)
        await answer_through(tx, row, fence, event.seq, language)
        await leave_wake(tx, row, event, row.owner_epoch, standing.operation_id)
        return Effect.DONE


def _consent(action: Action, said_seq: int) -> Consent:
    return Consent(
        approver=f"customer:{action.customer_id}",
        role=ApprovalRole.CUSTOMER,
        staff_role=None,
        decision=ApprovalDecision.APPROVE,
        digest=action.payload_digest,
        expires_at=action.expires_at,
        said_seq=said_seq,
    )


async def _standing(tx: Tx, row: Row, actions: list[Action], may: Rights, now: datetime) -> Action | None:
    """Return the one proposal that waits for the customer, was said last, and may be confirmed in words."""
    waiting = [a for a in actions if a.state.unexecuted and ApprovalRole.CUSTOMER in await missing_approvals(tx, a)]
    if len(waiting) != 1:
        return None
    [action] = waiting
    if action.state is not ActionState.AWAITING_APPROVAL or fenced(row, action) or now >= action.expires_at:
        return None
    if not await _said_last(tx, row, action):
        return None
    return action if may.may_use(Tool.CONSENT_IN_WORDS, ToolRole.CUSTOMER, action.payload) else None


async def _said_last(tx: Tx, row: Row, action: Action) -> bool:
    """Whether the one unanswered message came right after the proposal of exactly what `action` is.

    By the bot, in its turn: what the ledger asks anew may cross the customer's words on their way.
    """
    unanswered = sa.select(sa.func.count()).where(
        _e.conversation_id == row.id, _e.kind == EventKind.CUSTOMER_MESSAGE.value, _e.seq > row.answered_seq
    )
    asked = sa.select(_e.body).where(
        _e.conversation_id == row.id,
        _e.seq == row.customer_seq - 1,
        _e.part == 0,
        _e.kind == EventKind.PROPOSAL.value,
        _e.actor == BOT,
    )
    body: dict[str, Any] = (await tx.execute(asked)).scalar_one_or_none() or {}
    shown = (body.get("operation_id"), body.get("payload_digest")) == (action.operation_id, action.payload_digest)
    return shown and (await tx.execute(unanswered)).scalar_one() == 1
