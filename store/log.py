"""The log's own moves, used inside every transaction: lock the row, append an event, leave a wake-up.

Locks are always taken in one order: conversation row, action rows, resource (design §4).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.conversation import EventKind
from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.refusal import NotFound
from domain.wake import Wake
from store import tables as t
from store.database import Tx
from store.pipeline import Asked, Row, Statement, run

_APPEND = sa.insert(t.events).returning(t.events.c.seq, t.events.c.event_id)
_VISIBLE = ("tenant_id", "conversation_id", "kind", "actor", "body", "client_message_id", "step_id", "part")
_BEHIND = ("tenant_id", "conversation_id", "kind", "actor", "body", "part")
_APPENDED = Statement(_APPEND.values({name: sa.bindparam(name) for name in _VISIBLE}))
_APPENDED_BEHIND = Statement(sa.insert(t.events).values({name: sa.bindparam(name) for name in _BEHIND}))
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


_ONE = sa.select(t.conversations).where(t.conversations.c.id == sa.bindparam("conversation_id"))
LOCK = Statement(_ONE.with_for_update())
MINE = sa.and_(
    t.conversations.c.tenant_id == sa.bindparam("tenant_id"),
    sa.or_(
        sa.bindparam("whole_tenant", type_=sa.Boolean),
        sa.and_(
            t.conversations.c.principal_kind == sa.bindparam("principal_kind"),
            t.conversations.c.principal_id == sa.bindparam("principal_id"),
        ),
    ),
)
ONE_OF_MINE = _ONE.where(MINE)
LOCK_MINE = Statement(ONE_OF_MINE.with_for_update())
STEP_RESULT = Statement(
    sa.select(t.events).where(
        t.events.c.conversation_id == sa.bindparam("conversation_id"), t.events.c.step_id == sa.bindparam("step_id")
    )
)


def whose(principal: VerifiedPrincipal) -> dict[str, Any]:
    """Return what `ONE_OF_MINE` asks about `principal`: the same condition as `mine`, compiled once."""
    return {
        "tenant_id": principal.tenant_id,
        "whole_tenant": principal.kind in (PrincipalKind.STAFF, PrincipalKind.SERVICE),
        "principal_kind": principal.kind.value,
        "principal_id": principal.id,
    }


async def lock_conversation(tx: Tx, conversation_id: str, principal: VerifiedPrincipal | None = None) -> sa.Row[Any]:
    """Lock and return the conversation's row. Raises NotFound when it does not exist for `principal`."""
    query = sa.select(t.conversations).where(t.conversations.c.id == conversation_id).with_for_update()
    if principal is not None:
        query = query.where(mine(principal))
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such conversation.")
    return row


async def under_lock(tx: Tx, now: datetime) -> datetime:
    """Return the time now that the locks are held: a wait for them must not let anything pass that has run out."""
    held_at: datetime = (await tx.execute(sa.select(sa.func.clock_timestamp()))).scalar_one()
    return max(now, held_at)


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
    asked = _event(row, kind, actor, body, client_message_id, step_id)
    found = (await tx.execute(_APPEND, asked)).one()
    return Appended(found.seq, str(found.event_id))


def appended(
    row: Row,
    kind: EventKind,
    actor: str,
    body: dict[str, Any],
    *,
    client_message_id: str | None = None,
    step_id: str | None = None,
) -> Asked:
    """Return the statement that `append` runs, to be run with others in one round trip."""
    return _APPENDED(**_event(row, kind, actor, body, client_message_id, step_id))


def _event(
    row: Row, kind: EventKind, actor: str, body: dict[str, Any], client_message_id: str | None, step_id: str | None
) -> dict[str, Any]:
    return {
        "tenant_id": row.tenant_id,
        "conversation_id": row.id,
        "kind": kind.value,
        "actor": actor,
        "body": body,
        "client_message_id": client_message_id,
        "step_id": step_id,
        "part": 0,
    }


async def append_behind(tx: Tx, row: Row, facts: list[tuple[EventKind, dict[str, Any]]]) -> None:
    """Append what staff see behind the event that was appended last: same seq, parts 1, 2, …"""
    await run(tx, *appended_behind(row, facts))


def appended_behind(row: Row, facts: list[tuple[EventKind, dict[str, Any]]]) -> list[Asked]:
    """Return the statements that `append_behind` runs, to be run with others in one round trip."""
    return [
        _APPENDED_BEHIND(
            tenant_id=row.tenant_id,
            conversation_id=row.id,
            kind=kind.value,
            actor="bot:interlock",
            body=body,
            part=n,
        )
        for n, (kind, body) in enumerate(facts, 1)
    ]


def to_wake(row: Row) -> Wake:
    """Return the wake-up that a row of the outbox stands for."""
    return Wake(
        outbox_id=row.id,
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        operation_id=row.operation_id,
        seq=row.event_seq,
        event_id=row.event_id,
        owner_epoch=row.owner_epoch,
    )


async def leave_wake(tx: Tx, row: Row, event: Appended, epoch: int, operation_id: str | None = None) -> Wake:
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


async def last_event(tx: Tx, row: Row) -> Appended:
    """Return where the log of the locked conversation ends; it has to have begun."""
    e = t.events.c
    query = sa.select(e.seq, e.event_id).where(e.conversation_id == row.id, e.seq == row.version, e.part == 0)
    found = (await tx.execute(query)).one()
    return Appended(found.seq, str(found.event_id))


async def change_row(tx: Tx, conversation_id: str, **values: Any) -> None:
    """Update columns of the locked conversation row."""
    await tx.execute(sa.update(t.conversations).where(t.conversations.c.id == conversation_id).values(**values))
