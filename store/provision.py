"""What only the owner of the tables may write: tenants, staff, articles, policy bundles, and the demo's past.

Run by migrations' and seeding's role, never by a serving process.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.principal import StaffRole
from domain.reply import Article
from store import tables as t
from store.database import Database


class NewTenant(Noun):
    """A tenant with its staff and its articles."""

    id: str
    name: str
    kind: str
    stage: str
    policy_digest: str
    staff: tuple[tuple[str, str, StaffRole], ...]  # id, name, role
    articles: tuple[Article, ...]


class NewBundle(Noun):
    """A policy bundle, immutable and named by its digest."""

    digest: str
    bundle_id: str
    version: str
    manifest: dict[str, Any]
    files: dict[str, str]


async def publish_bundle(owner: Database, bundle: NewBundle) -> None:
    """Publish a bundle; the same digest again changes nothing."""
    async with owner.across_tenants() as tx:
        await tx.execute(insert(t.policy_bundles).values(**bundle.model_dump()).on_conflict_do_nothing())


async def provision_tenant(owner: Database, tenant: NewTenant) -> None:
    """Create a tenant, or bring its policy, staff and articles up to date; nobody's revocation is undone."""
    async with owner.across_tenants() as tx:
        row = tenant.model_dump(include={"id", "name", "kind", "stage", "policy_digest"})
        added = insert(t.tenants).values(**row)
        kept = added.on_conflict_do_update(index_elements=["id"], set_={"policy_digest": tenant.policy_digest})
        await tx.execute(kept)
        for ident, name, role in tenant.staff:
            person = {"tenant_id": tenant.id, "id": ident, "name": name, "role": role.value}
            await tx.execute(insert(t.staff).values(**person).on_conflict_do_nothing())
        for article in tenant.articles:
            page = {"tenant_id": tenant.id, **article.model_dump()}
            await tx.execute(insert(t.articles).values(**page).on_conflict_do_nothing())


async def has_conversations(owner: Database) -> bool:
    """Whether anything has been said here yet."""
    async with owner.across_tenants() as tx:
        return bool((await tx.execute(sa.select(sa.exists().where(t.conversations.c.id.is_not(None))))).scalar_one())


_ALL = (
    "idempotency_keys, usage, cases, handoffs, approvals, transitions, actions, evidence, outbox, ownership_requests,"
    " events, conversations, articles, customers, staff, tenants"
)


async def erase_everything(owner: Database) -> None:
    """Delete every tenant's rows: for `seed --reset` on a demo's database alone."""
    async with owner.across_tenants() as tx:
        await tx.execute(sa.text(f"TRUNCATE {_ALL} CASCADE"))


# Moves a demo conversation into the past, so that lists do not all say "just now".
_BACKDATED = (
    ("conversations", "id", ("created_at", "updated_at")),
    ("events", "conversation_id", ("at",)),
    ("handoffs", "conversation_id", ("opened_at", "claimed_at", "done_at")),
    ("cases", "conversation_id", ("opened_at", "done_at")),
)


async def backdate(owner: Database, conversation_ids: Sequence[str], by: timedelta) -> None:
    """Shift everything about these conversations into the past."""
    async with owner.across_tenants() as tx:
        for table, key, columns in _BACKDATED:
            moved = ", ".join(f"{c} = {c} - :by" for c in columns)
            statement = sa.text(f"UPDATE {table} SET {moved} WHERE {key} = ANY(:ids)")  # noqa: S608 (names above)
            await tx.execute(statement, {"by": by, "ids": list(conversation_ids)})
