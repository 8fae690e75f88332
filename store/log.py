"""The log's own moves, used inside every transaction: lock the row, append an event, leave a wake-up.

Locks are always taken in one order: conversation row, action rows, resource (design §4).
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from domain.conversation import EventKind
from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.refusal import NotFound
from domain.wake import Wake
from store import tables as t
from store.database import Tx

_APPEND = sa.insert(t.events).returning(t.events.c.seq, t.events.c.event_id)
_LEAVE = sa.insert(t.outbox).returning(t.outbox.c.id)


@dataclass(frozen=True)
class Appended:
    """Where an event stands."""

    seq: int
    event_id: str


def mine(principal: VerifiedPrincipal) -> sa.ColumnElement[bool]:
    """Return the condition under which a conversation exists for `principal` (INVARIANT 8)."""
    c = t.conversations.c
    own_tenant = c.tenant_id == principal.tenant_id
    if principal.kind in (PrincipalKind.STAFF, PrincipalKind.SERVICE):
        return own_tenant
    return sa.and_(own_tenant, c.principal_kind == principal.kind.value, c.principal_id == principal.id)


async def lock_conversation(tx: Tx, conversation_id: str, principal: VerifiedPrincipal | None = None) -> sa.Row[Any]:
    """Lock and return the conversation's row. Raises NotFound when it does not exist for `principal`."""
    query = sa.select(t.conversations).where(t.conversations.c.id == conversation_id).with_for_update()
    if principal is not None:
        query = query.where(mine(principal))
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such conversation.")
    return row


async def append(
    tx: Tx,
    row: sa.Row[Any],
    kind: EventKind,
    actor: str,
    body: dict[str, Any],
    *,
    client_message_id: str | None = None,
    step_id: str | None = None,
) -> Appended:
    """Append one event that everybody may see; the database gives it the next seq."""
    values = {
        "tenant_id": row.tenant_id,
        "conversation_id": row.id,
        "kind": kind.value,
        "actor": actor,
        "body": body,
        "client_message_id": client_message_id,
        "step_id": step_id,
        "part": 0,
    }
    found = (await tx.execute(_APPEND, values)).one()
    return Appended(found.seq, str(found.event_id))


async def append_behind(tx: Tx, row: sa.Row[Any], facts: list[tuple[EventKind, dict[str, Any]]]) -> None:
    """Append what staff see behind the event that was appended last: same seq, parts 1, 2, …"""
    if facts:
        await tx.execute(
            sa.insert(t.events),
            [
                {
                    "tenant_id": row.tenant_id,
                    "conversation_id": row.id,
                    "kind": kind.value,
                    "actor": "bot:interlock",
                    "body": body,
                    "part": n,
                }
                for n, (kind, body) in enumerate(facts, 1)
            ],
        )


async def leave_wake(tx: Tx, row: sa.Row[Any], event: Appended, epoch: int, operation_id: str | None = None) -> Wake:
    """Leave an outbox row in this transaction and return the wake-up that it stands for."""
    values = {
        "tenant_id": row.tenant_id,
        "conversation_id": row.id,
        "operation_id": operation_id,
        "event_seq": event.seq,
        "event_id": event.event_id,
        "owner_epoch": epoch,
    }
    outbox_id = (await tx.execute(_LEAVE, values)).scalar_one()
    return Wake(
        outbox_id=outbox_id,
        tenant_id=row.tenant_id,
        conversation_id=row.id,
        operation_id=operation_id,
        seq=event.seq,
        event_id=event.event_id,
        owner_epoch=epoch,
    )


async def step_result(tx: Tx, conversation_id: str, step_id: str) -> sa.Row[Any] | None:
    """Return the event that this step wrote when it ran before, if it did (INVARIANT 1)."""
    e = t.events.c
    query = sa.select(t.events).where(e.conversation_id == conversation_id, e.step_id == step_id)
    return (await tx.execute(query)).one_or_none()


async def change_row(tx: Tx, conversation_id: str, **values: Any) -> None:
    """Update columns of the locked conversation row."""
    await tx.execute(sa.update(t.conversations).where(t.conversations.c.id == conversation_id).values(**values))
