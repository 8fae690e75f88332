"""What a delivery tells of, read within its tenant; and deliveries as staff see them and let them be made again.

Each public function is one transaction.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.refusal import NotFound, Refusal
from domain.webhook_kinds import DeliveryState, WebhookType
from store import tables as t
from store.database import Database
from store.webhooks import secret_name


class Fact(Noun):
    """What a delivery tells of: an event of the log, or a tag that was put on or taken off."""

    type: WebhookType
    tenant_id: str
    conversation_id: str
    channel: str
    principal: str
    ticket_id: str | None
    kind: str
    actor: str
    at: datetime
    seq: int | None
    body: dict[str, Any]
    url: str
    sealed: str | None  # the webhook's secret
    seen: bool  # the customer has read it here, and is not to be told again


class Delivery(Noun):
    """A delivery as staff see it."""

    id: int
    message_id: str
    webhook_id: str
    conversation_id: str
    type: WebhookType
    seq: int | None
    state: DeliveryState
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None
    settled_at: datetime | None
    last_status: int | None
    last_fault: str | None


_FACT = sa.text(
    """
    SELECT d.type, d.tenant_id, d.conversation_id, d.seq, c.channel, k.ticket_id, w.url, s.sealed,
           c.principal_kind || ':' || c.principal_id AS principal,
           coalesce(e.kind, CASE WHEN d.tag_added THEN 'tag_added' ELSE 'tag_removed' END) AS kind,
           coalesce(e.actor, CASE WHEN d.tag_added THEN g.added_by ELSE g.removed_by END) AS actor,
           coalesce(e.at, CASE WHEN d.tag_added THEN g.added_at ELSE g.removed_at END) AS at,
           coalesce(e.body, jsonb_build_object('tag', g.tag, 'source', g.source)) AS body,
           d.unless_seen AND coalesce(n.seq, 0) >= d.seq AS seen
      FROM webhook_deliveries d
      JOIN conversations c ON c.id = d.conversation_id
      JOIN webhooks w ON w.id = d.webhook_id
      LEFT JOIN tenant_secrets s ON s.name = :secret_name
      LEFT JOIN tickets k ON k.conversation_id = d.conversation_id
      LEFT JOIN events e ON e.conversation_id = d.conversation_id AND e.seq = d.seq AND e.part = 0
      LEFT JOIN tags g ON g.id = d.tag_id
      LEFT JOIN seen n ON n.conversation_id = d.conversation_id
     WHERE d.id = :id
    """
)


async def fact_of(db: Database, tenant_id: str, webhook_id: str, delivery_id: int) -> Fact:
    """Return what a delivery tells of. Raises NotFound."""
    async with db.transaction(tenant_id) as tx:
        asked = {"id": delivery_id, "secret_name": secret_name(webhook_id)}
        row = (await tx.execute(_FACT, asked)).mappings().one_or_none()
    if row is None:
        raise NotFound("There is no such delivery.")
    return Fact(**{**row, "seen": bool(row["seen"])})


async def deliveries_of(
    db: Database,
    tenant_id: str,
    state: DeliveryState | None,
    conversation_id: str | None,
    before: int | None,
    limit: int,
) -> Sequence[Delivery]:
    """Return at most `limit` deliveries, the latest first, of that state and conversation where one is given."""
    d = t.webhook_deliveries.c
    query = sa.select(t.webhook_deliveries).order_by(d.id.desc()).limit(limit)
    if state is not None:
        query = query.where(d.state == state.value)
    if conversation_id is not None:
        query = query.where(d.conversation_id == conversation_id)
    if before is not None:
        query = query.where(d.id < before)
    async with db.transaction(tenant_id) as tx:
        return [_delivery(row) for row in (await tx.execute(query)).all()]


async def replay_delivery(db: Database, tenant_id: str, delivery_id: int) -> Delivery:
    """Let a delivery be made again, at once and whether or not it was seen; under its first id.

    Raises NotFound, and Refusal where its webhook is not there to take it. One that waits comes due at once.
    """
    d, w = t.webhook_deliveries.c, t.webhooks.c
    async with db.transaction(tenant_id) as tx:
        query = sa.select(t.webhook_deliveries).where(d.id == delivery_id).with_for_update()
        row = (await tx.execute(query)).one_or_none()
        if row is None:
            raise NotFound("There is no such delivery.")
        active = (await tx.execute(sa.select(w.active).where(w.id == row.webhook_id))).scalar_one()
        if not active:
            raise Refusal("Its webhook takes nothing any more: it was removed, or is not active.")
        again = {
            "state": DeliveryState.WAITING.value,
            "attempts": 0,
            "next_attempt_at": sa.func.now(),
            "settled_at": None,
            "unless_seen": False,
        }
        change = sa.update(t.webhook_deliveries).where(d.id == delivery_id).values(**again)
        return _delivery((await tx.execute(change.returning(t.webhook_deliveries))).one())


def _delivery(row: sa.Row[Delivery]) -> Delivery:
    waits = row.state == DeliveryState.WAITING.value
    return Delivery(
        id=row.id,
        message_id=f"msg_{str(row.message_id).replace('-', '')}",
        webhook_id=row.webhook_id,
        conversation_id=row.conversation_id,
        type=WebhookType(row.type),
        seq=row.seq,
        state=DeliveryState(row.state),
        attempts=row.attempts,
        created_at=row.created_at,
        next_attempt_at=row.next_attempt_at if waits else None,
        settled_at=row.settled_at,
        last_status=row.last_status,
        last_fault=row.last_fault,
    )
