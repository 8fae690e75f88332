"""Deliveries as the relay sees them, by identifiers alone: what is due where, who delivers it, and what became of it.

One process at a time delivers to one webhook; of one conversation a webhook hears in order.
"""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa

from domain.base import Noun
from domain.webhook import Next, Tried
from domain.webhook_kinds import DeliveryFault, DeliveryState
from store.database import Database

# First of its conversation; a reply in a chat only once the customer has had time to read it there.
_DUE = """
       d.state = 'waiting' AND d.next_attempt_at <= now()
   AND (NOT d.unless_seen OR d.created_at <= now() - make_interval(secs => :unseen_after_s))
   AND NOT EXISTS (SELECT FROM webhook_deliveries e
                    WHERE e.tenant_id = d.tenant_id AND e.webhook_id = d.webhook_id
                      AND e.conversation_id = d.conversation_id AND e.state = 'waiting' AND e.id < d.id)
"""
_CLAIM = sa.text(
    f"""
    WITH free AS (
        SELECT w.tenant_id, w.id FROM webhooks w
         WHERE w.active AND w.busy_until <= now() AND EXISTS (
               SELECT FROM webhook_deliveries d WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.id AND {_DUE})
         ORDER BY w.busy_until LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE webhooks w SET busy_until = now() + make_interval(secs => :lease_s)
      FROM free WHERE (w.tenant_id, w.id) = (free.tenant_id, free.id)
    RETURNING w.tenant_id, w.id AS webhook_id
    """  # noqa: S608  (the condition above)
)
# A try is counted before it is made: one that dies on the way is one, and is made again only later.
_TAKE = sa.text(
    f"""
    WITH due AS (
        SELECT d.id FROM webhook_deliveries d
         WHERE d.tenant_id = :tenant_id AND d.webhook_id = :webhook_id AND {_DUE}
         ORDER BY d.next_attempt_at, d.id LIMIT 1
    ), held AS (
        UPDATE webhooks SET busy_until = now() + make_interval(secs => :lease_s)
         WHERE tenant_id = :tenant_id AND id = :webhook_id AND active
        RETURNING id
    )
    UPDATE webhook_deliveries d
       SET attempts = d.attempts + 1, next_attempt_at = now() + make_interval(secs => :lease_s)
      FROM due, held WHERE d.id = due.id
    RETURNING d.id, d.message_id, d.tenant_id, d.webhook_id, d.conversation_id, d.attempts
    """  # noqa: S608  (the condition above)
)
_SETTLE = sa.text(
    """
    UPDATE webhook_deliveries
       SET state = :state, last_status = :status, last_fault = :fault,
           settled_at = CASE WHEN :state = 'waiting' THEN NULL ELSE now() END,
           next_attempt_at = now() + make_interval(secs => :wait_s)
     WHERE id = :id AND state = 'waiting'
    """
)
_RELEASE = sa.text(
    """
    UPDATE webhooks SET busy_until = now() + make_interval(secs => :pause_s)
     WHERE tenant_id = :tenant_id AND id = :webhook_id
    """
)
_BURY = sa.text(
    """
    UPDATE webhook_deliveries d SET state = 'dead', settled_at = now(), last_fault = :fault
      FROM webhooks w
     WHERE (w.tenant_id, w.id) = (d.tenant_id, d.webhook_id) AND NOT w.active AND d.state = 'waiting'
    """
)
_FORGET = sa.text(
    """
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries
         WHERE (state IN ('delivered', 'seen') AND settled_at < now() - make_interval(secs => :older_than_s))
            OR (state = 'dead' AND settled_at < now() - make_interval(secs => :dead_older_than_s))
         LIMIT :limit
    )
    """
)


class Held(Noun):
    """A webhook that this process alone delivers to, until it lets go or its lease runs out."""

    tenant_id: str
    webhook_id: str


class Due(Noun):
    """A delivery that is to be tried now, and the how-manieth try it is."""

    id: int
    message_id: str
    tenant_id: str
    webhook_id: str
    conversation_id: str
    attempts: int


async def hold_webhooks(db: Database, limit: int, lease_s: float, unseen_after_s: float) -> Sequence[Held]:
    """Take webhooks that something is due for and nobody delivers to."""
    values = {"limit": limit, "lease_s": lease_s, "unseen_after_s": unseen_after_s}
    async with db.across_tenants() as tx:
        rows = (await tx.execute(_CLAIM, values)).all()
    return [Held(tenant_id=r.tenant_id, webhook_id=r.webhook_id) for r in rows]


async def take_due(db: Database, held: Held, lease_s: float, unseen_after_s: float) -> Due | None:
    """Take what is next for a webhook that is held, and hold it longer; None where nothing is due."""
    values = {**held.model_dump(), "lease_s": lease_s, "unseen_after_s": unseen_after_s}
    async with db.across_tenants() as tx:
        row = (await tx.execute(_TAKE, values)).one_or_none()
    if row is None:
        return None
    return Due(
        id=row.id,
        message_id=_as_text(row.message_id),
        tenant_id=row.tenant_id,
        webhook_id=row.webhook_id,
        conversation_id=row.conversation_id,
        attempts=row.attempts,
    )


def _as_text(ident: UUID | str) -> str:
    return f"msg_{UUID(str(ident)).hex}"


async def settle_delivery(db: Database, due: Due, tried: Tried, then: Next) -> None:
    """Write down what became of a try; what was settled meanwhile stays as it is."""
    values = {
        "id": due.id,
        "state": then.state.value,
        "status": tried.status,
        "fault": tried.fault.value if tried.fault else None,
        "wait_s": then.wait_s,
    }
    async with db.across_tenants() as tx:
        await tx.execute(_SETTLE, values)


async def settle_as_seen(db: Database, due: Due) -> None:
    """Write down that the customer has read it here."""
    await settle_delivery(db, due, Tried(), Next(state=DeliveryState.SEEN))


async def release_webhook(db: Database, held: Held, pause_s: float) -> None:
    """Let go of a webhook; nobody delivers to it for `pause_s`."""
    async with db.across_tenants() as tx:
        await tx.execute(_RELEASE, {**held.model_dump(), "pause_s": pause_s})


async def bury_removed(db: Database) -> int:
    """Give up what waits for a webhook that takes nothing, and return how many: it happened as that was removed."""
    async with db.across_tenants() as tx:
        gone = await tx.execute(_BURY, {"fault": DeliveryFault.REMOVED.value})
    return int(gone.rowcount)


async def forget_settled(db: Database, older_than_s: float, dead_older_than_s: float, limit: int) -> int:
    """Delete at most `limit` deliveries that were settled, or given up, so long ago; return how many."""
    async with db.across_tenants() as tx:
        told = {"older_than_s": older_than_s, "dead_older_than_s": dead_older_than_s, "limit": limit}
        gone = await tx.execute(_FORGET, told)
    return int(gone.rowcount)
