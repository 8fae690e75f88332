"""The bundle of a handoff: all that the person who takes over needs, so that nothing has to be asked twice.

Everything here is read.
"""

from typing import Any

import sqlalchemy as sa

from domain.action import Action, ActionState
from domain.conversation import EventKind
from domain.handoff import HandoffBundle, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from store import tables as t
from store.database import Database, Tx
from store.handoffs import left_open
from store.ledger import actions_of
from store.reading import load_evidence


async def handoff_bundle(db: Database, staff: VerifiedPrincipal, handoff_id: str) -> HandoffBundle:
    """Return all that the person who takes over needs (design §8). Raises NotFound."""
    async with db.transaction(staff.tenant_id) as tx:
        h = t.handoffs.c
        row = (await tx.execute(sa.select(t.handoffs).where(h.id == handoff_id))).one_or_none()
        if row is None:
            raise NotFound("There is no such handoff.")
        actions = await actions_of(tx, row.conversation_id)
        owner, holder = await _owner(tx, row.conversation_id)
        left = await left_open(tx, row.conversation_id, row.through_seq)
        questions = (*await _open_questions(tx, row), *left)
        return HandoffBundle(
            handoff_id=row.id,
            conversation_id=row.conversation_id,
            goal=row.goal,
            open_questions=questions,
            evidence=await _evidence(tx, row.evidence_id),
            confirmed_actions=tuple(_told(a) for a in actions if a.state is ActionState.CONFIRMED),
            pending_actions=tuple(_told(a) for a in actions if not a.state.terminal),
            reason=row.reason,
            note=row.note,
            owner=f"staff:{holder}" if holder else owner,
            next_step=_next_step(row, actions, questions),
            transcript_url=f"/conversations/{row.conversation_id}/events?after=0",
            queue_status=QueueStatus(row.queue_status),
            opened_at=row.opened_at,
        )


async def _owner(tx: Tx, conversation_id: str) -> tuple[str, str | None]:
    c = t.conversations.c
    row = (await tx.execute(sa.select(c.owner, c.holder).where(c.id == conversation_id))).one()
    return str(row.owner), row.holder


async def _open_questions(tx: Tx, row: sa.Row[Any]) -> tuple[str, ...]:
    """What the customer wrote that no answer has dealt with when the handoff opened, and since."""
    e = t.events.c
    query = (
        sa.select(e.body["text"].astext)
        .where(
            e.conversation_id == row.conversation_id,
            e.seq > row.open_from_seq,
            e.kind == EventKind.CUSTOMER_MESSAGE.value,
        )
        .order_by(e.seq)
        .limit(50)
    )
    return tuple((await tx.execute(query)).scalars())


async def _evidence(tx: Tx, evidence_id: str | None) -> tuple[dict[str, Any], ...]:
    if evidence_id is None:
        return ()
    found = await load_evidence(tx, evidence_id)
    return (found.model_dump(mode="json"),)


def _told(action: Action) -> dict[str, Any]:
    fields = {"operation_id", "kind", "state", "cause", "payload", "external_id", "sent_at", "settled_at", "created_at"}
    return {**action.model_dump(mode="json", include=fields), "repair": action.payload.repair}


def _next_step(row: sa.Row[Any], actions: list[Action], questions: tuple[str, ...]) -> str:
    """One plain sentence on what is expected of the person."""
    unknown = [a for a in actions if a.state is ActionState.UNKNOWN]
    if unknown:
        which, them = ("an action", "it") if len(unknown) == 1 else (f"{len(unknown)} actions", "them")
        return (
            f"Establish whether {which} took effect before promising or repeating anything; "
            f"reconciliation goes on and settles {them} when it knows."
        )
    if any(a.state is ActionState.SUBMITTED for a in actions):
        return "An action is in flight; its outcome will appear in the log. Answer the open questions meanwhile."
    if row.queue_status == QueueStatus.WAITING.value:
        return "Take over and answer the open questions; then release it to the assistant, or keep it."
    if not questions:
        return "Say what is left to say, then release to the assistant."
    return "Answer the open questions, then release to the assistant."
