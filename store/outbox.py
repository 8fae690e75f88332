"""The outbox as the relay sees it: identifiers of what is not delivered, and of what is open, across all tenants.

These run under the relay's role, which can read no text of anybody.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.wake import Wake
from store import tables as t
from store.database import Database
from store.log import to_wake

_CLAIM = sa.text(
    """
    WITH due AS (
        SELECT id FROM outbox
         WHERE delivered_at IS NULL AND next_attempt_at <= now()
         ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE outbox o
       SET attempts = attempts + 1,
           next_attempt_at = now() + make_interval(secs => least(:backoff_max_s, 2 ^ least(attempts, 10)))
      FROM due WHERE o.id = due.id
    RETURNING o.id, o.tenant_id, o.conversation_id, o.operation_id, o.event_seq, o.event_id, o.owner_epoch
    """
)

_LAG = sa.text("SELECT waiting, oldest_s FROM outbox_lag()")

# A sweep goes by what is unanswered or not terminal in Postgres, never by what was not delivered (design section 3).
# What is unanswered and waits, drafted, for a person is that person's to go on with.
EVER_S = 100 * 365 * 86_400.0

_OPEN_CONVERSATIONS = sa.text(
    """
    SELECT id, tenant_id, version, owner_epoch FROM conversations
     WHERE ((owner = 'bot' AND customer_seq > answered_seq AND NOT EXISTS (
                SELECT FROM drafts d WHERE d.conversation_id = conversations.id AND d.state = 'waiting'))
            OR version > consumed_seq)
       AND updated_at < now() - make_interval(secs => :older_than_s)
       AND updated_at >= now() - make_interval(secs => :newer_than_s) AND id > :after
     ORDER BY id LIMIT :limit
    """
)
_OPEN_ACTIONS = sa.text(
    """
    SELECT operation_id, tenant_id, conversation_id, owner_epoch FROM actions
     WHERE state IN ('proposed', 'awaiting_approval', 'submitted', 'unknown')
       AND created_at < now() - make_interval(secs => :older_than_s) AND operation_id > :after
     ORDER BY operation_id LIMIT :limit
    """
)
_LIVE_CONVERSATIONS = sa.text(
    """
    SELECT id, tenant_id, version, owner_epoch FROM conversations
     WHERE owner <> 'closed' AND id > :after ORDER BY id LIMIT :limit
    """
)


class OutboxLag(Noun):
    """How much waits to be delivered, and for how long the oldest has waited."""

    waiting: int
    oldest_s: float


async def claim_due(db: Database, limit: int, backoff_max_s: int) -> list[Wake]:
    """Take due rows, oldest first, that no other relay holds; each comes due again later until it is delivered."""
    async with db.across_tenants() as tx:
        rows = (await tx.execute(_CLAIM, {"limit": limit, "backoff_max_s": backoff_max_s})).all()
    return sorted((to_wake(r) for r in rows), key=lambda w: w.outbox_id)


async def mark_delivered(db: Database, outbox_ids: Sequence[int], now: datetime, tenant_id: str | None = None) -> None:
    """Record that Temporal has taken these wake-ups: as the relay, or as the app for one tenant's."""
    if outbox_ids:
        async with db.across_tenants() if tenant_id is None else db.transaction(tenant_id) as tx:
            await tx.execute(sa.update(t.outbox).where(t.outbox.c.id.in_(outbox_ids)).values(delivered_at=now))


async def mark_conversation_delivered(db: Database, tenant_id: str, conversation_id: str, now: datetime) -> None:
    """Leave a conversation to the sweep: what its wake-ups stand for has been done by hand."""
    o = t.outbox.c
    async with db.transaction(tenant_id) as tx:
        mine = sa.update(t.outbox).where(o.conversation_id == conversation_id, o.delivered_at.is_(None))
        await tx.execute(mine.values(delivered_at=now))


_FORGET = sa.text(
    """
    DELETE FROM outbox WHERE id IN (
        SELECT id FROM outbox WHERE delivered_at < now() - make_interval(secs => :older_than_s) LIMIT :limit
    )
    """
)


async def forget_delivered(db: Database, older_than_s: float, limit: int) -> int:
    """Delete at most `limit` rows that were delivered long ago, and return how many; what is not delivered stays."""
    async with db.across_tenants() as tx:
        gone = await tx.execute(_FORGET, {"older_than_s": older_than_s, "limit": limit})
    return int(gone.rowcount)


async def outbox_lag(db: Database) -> OutboxLag:
    """Return what waits, over all tenants; every role may ask for these two numbers."""
    async with db.across_tenants() as tx:
        row = (await tx.execute(_LAG)).one()
    return OutboxLag(waiting=row.waiting, oldest_s=float(row.oldest_s))


async def open_conversations(
    db: Database, after: str, limit: int, older_than_s: float, newer_than_s: float = EVER_S
) -> list[Wake]:
    """Return wake-ups for conversations (id > `after`) with something unanswered or not worked through.

    Only those in which nothing has happened for `older_than_s`, and something within `newer_than_s`.
    """
    values = {"after": after, "limit": limit, "older_than_s": older_than_s, "newer_than_s": newer_than_s}
    return await _conversations(db, _OPEN_CONVERSATIONS, values)


async def live_conversations(db: Database, after: str, limit: int) -> list[Wake]:
    """Return wake-ups for every conversation (id > `after`) that is not closed: what `recover` rebuilds."""
    return await _conversations(db, _LIVE_CONVERSATIONS, {"after": after, "limit": limit})


async def _conversations(db: Database, query: sa.TextClause, values: dict[str, Any]) -> list[Wake]:
    async with db.across_tenants() as tx:
        rows = (await tx.execute(query, values)).all()
    return [
        Wake(
            outbox_id=0,
            tenant_id=r.tenant_id,
            conversation_id=r.id,
            operation_id=None,
            seq=r.version,
            event_id="",
            owner_epoch=r.owner_epoch,
        )
        for r in rows
    ]


async def open_actions(db: Database, after: str, limit: int, older_than_s: float) -> list[Wake]:
    """Return wake-ups for actions (operation id > `after`) that are not terminal."""
    async with db.across_tenants() as tx:
        values = {"after": after, "limit": limit, "older_than_s": older_than_s}
        rows = (await tx.execute(_OPEN_ACTIONS, values)).all()
    return [
        Wake(
            outbox_id=0,
            tenant_id=r.tenant_id,
            conversation_id=r.conversation_id,
            operation_id=r.operation_id,
            seq=0,
            event_id="",
            owner_epoch=r.owner_epoch,
        )
        for r in rows
    ]
