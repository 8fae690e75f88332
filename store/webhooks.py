"""A tenant's webhooks: where it is told of what happens in its conversations, and of what.

Each has a secret of its own, which is shown once; each public function is one transaction.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from domain.base import Noun
from domain.refusal import NotFound, Refusal
from domain.webhook_kinds import DeliveryFault, DeliveryState, WebhookType
from store import tables as t
from store.database import Database
from store.secrets import Vault, put_secret

WEBHOOKS_MAX = 20


class Webhook(Noun):
    """Where a tenant is told of what; its URL may carry what only the receiver should know."""

    id: str
    url: str
    types: tuple[WebhookType, ...]
    active: bool
    made_by: str
    made_at: datetime


class NewWebhook(Noun):
    """A webhook to be made, with the secret that signs what is sent there."""

    id: str
    url: str
    types: tuple[WebhookType, ...]
    active: bool
    secret: str


def secret_name(webhook_id: str) -> str:
    """Return under which name the webhook's secret is kept."""
    return f"webhook.{webhook_id}"


async def make_webhook(db: Database, vault: Vault, tenant_id: str, new: NewWebhook, by: str) -> Webhook:
    """Keep a webhook and its secret. Raises Refusal where the tenant has as many as it may."""
    w = t.webhooks.c
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.text("SELECT FROM tenants WHERE id = :id FOR NO KEY UPDATE"), {"id": tenant_id})
        count = sa.select(sa.func.count()).select_from(t.webhooks).where(w.removed_at.is_(None))
        if (await tx.execute(count)).scalar_one() >= WEBHOOKS_MAX:
            raise Refusal(f"An organisation has at most {WEBHOOKS_MAX} webhooks; remove one first.")
        row = {
            "tenant_id": tenant_id,
            "id": new.id,
            "url": new.url,
            "types": [kind.value for kind in new.types],
            "active": new.active,
            "made_by": by,
        }
        made = (await tx.execute(sa.insert(t.webhooks).values(**row).returning(t.webhooks))).one()
        await put_secret(tx, vault, tenant_id, secret_name(new.id), new.secret)
    return _webhook(made)


async def webhooks_of(db: Database, tenant_id: str) -> Sequence[Webhook]:
    """Return the tenant's webhooks, the oldest first."""
    w = t.webhooks.c
    async with db.transaction(tenant_id) as tx:
        query = sa.select(t.webhooks).where(w.removed_at.is_(None)).order_by(w.made_at, w.id)
        return [_webhook(row) for row in (await tx.execute(query)).all()]


async def remove_webhook(db: Database, tenant_id: str, webhook_id: str) -> None:
    """Take a webhook away with its secret; what waited for it is dead. Raises NotFound."""
    w, d = t.webhooks.c, t.webhook_deliveries.c
    async with db.transaction(tenant_id) as tx:
        gone = await tx.execute(
            sa.update(t.webhooks)
            .where(w.id == webhook_id, w.removed_at.is_(None))
            .values(active=False, removed_at=sa.func.now())
        )
        if not gone.rowcount:
            raise NotFound("There is no such webhook.")
        await tx.execute(
            sa.update(t.webhook_deliveries)
            .where(d.webhook_id == webhook_id, d.state == DeliveryState.WAITING.value)
            .values(state=DeliveryState.DEAD.value, settled_at=sa.func.now(), last_fault=DeliveryFault.REMOVED.value)
        )
        await tx.execute(sa.delete(t.tenant_secrets).where(t.tenant_secrets.c.name == secret_name(webhook_id)))


def _webhook(row: sa.Row[Webhook]) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        types=tuple(WebhookType(kind) for kind in row.types),
        active=row.active,
        made_by=row.made_by,
        made_at=row.made_at,
    )
