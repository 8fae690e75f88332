"""What only the owner of the tables may write: tenants, staff, articles, policy bundles, and the demo's past.

Run by migrations' and seeding's role, never by a serving process.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.knowledge import Article
from domain.principal import StaffRole
from store import tables as t
from store.articles import NewArticle, add_article
from store.circumstances import close_gate
from store.database import Database, Tx
from store.policies import NewBundle, Plan, PublicationCause, Term, publish_in, put_base

SEEDING = "seed:interlock"
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


class NewTenant(Noun):
    """A tenant with its staff and its articles, which are found only once they have been indexed."""

    id: str
    name: str
    kind: str
    stage: str
    policy_digest: str
    staff: tuple[tuple[str, str, StaffRole], ...]  # id, name, role
    articles: tuple[Article, ...]


async def provision_tenant(owner: Database, tenant: NewTenant) -> None:
    """Create a tenant, or add what it lacks of staff and articles; nobody's revocation or publication is undone."""
    async with owner.across_tenants() as tx:
        row = tenant.model_dump(include={"id", "name", "kind", "stage"})
        await tx.execute(insert(t.tenants).values(**row).on_conflict_do_nothing())
        await tx.execute(insert(t.policy_publications).values(**_first(tenant)).on_conflict_do_nothing())
        for ident, name, role in tenant.staff:
            person = {"tenant_id": tenant.id, "id": ident, "name": name, "role": role.value}
            await tx.execute(insert(t.staff).values(**person).on_conflict_do_nothing())
        for article in tenant.articles:
            await add_article(tx, tenant.id, NewArticle(article=article, passages=()))


def _first(tenant: NewTenant) -> dict[str, Any]:
    """The publication that a tenant begins with: it has always been in force, so that nothing was decided without."""
    return {
        "tenant_id": tenant.id,
        "n": 1,
        "digest": tenant.policy_digest,
        "cause": PublicationCause.SEEDED.value,
        "effective_from": EPOCH,
        "published_by": SEEDING,
    }


async def renew_seeded_policy(owner: Database, base: NewBundle) -> list[str]:
    """Let the base that comes with the product count wherever an older one that came with it does; return where.

    Where somebody has published a bundle, that is left alone.
    """
    await put_base(owner, base)
    async with owner.across_tenants() as tx:
        tenants = (await tx.execute(sa.select(t.tenants.c.id).order_by(t.tenants.c.id))).scalars().all()
    renewed = []
    for tenant in tenants:  # one at a time: no tenant's traffic waits for another's
        async with owner.across_tenants() as tx:
            if await _renew(tx, tenant, base):
                renewed.append(tenant)
    return renewed


async def _renew(tx: Tx, tenant_id: str, base: NewBundle) -> bool:
    """Publish the bundle that comes with the product in the place of an older one that did; say whether it was."""
    await close_gate(tx, tenant_id)
    p = t.policy_publications.c
    query = sa.select(p.n, p.cause, p.digest).where(p.tenant_id == tenant_id).order_by(p.n.desc()).limit(1)
    last = (await tx.execute(query)).one_or_none()
    if last is None or last.cause != PublicationCause.SEEDED or last.digest == base.digest:
        return False
    term = Term(bundle=base, effective_from=EPOCH, effective_until=None, cause=PublicationCause.SEEDED)
    await publish_in(tx, tenant_id, Plan(seen=last.n, terms=(term,)), SEEDING, None)  # from this moment on
    return True


async def has_conversations(owner: Database) -> bool:
    """Whether anything has been said here yet."""
    async with owner.across_tenants() as tx:
        return bool((await tx.execute(sa.select(sa.exists().where(t.conversations.c.id.is_not(None))))).scalar_one())


_ALL = (
    "audit, audit_heads, approval_claims, policy_publications, idempotency_keys, usage, cases, handoffs, approvals,"
    " transitions, actions, evidence, outbox, ownership_requests, events, conversations, passages, articles, customers,"
    " staff, tenants, policy_bundles"
)


async def erase_everything(owner: Database) -> None:
    """Delete every tenant's rows: for `seed --reset` on a demo's database alone."""
    async with owner.across_tenants() as tx:
        await tx.execute(sa.text(f"TRUNCATE {_ALL} CASCADE"))


# Moves a demo conversation into the past, so that lists do not all say "just now".
_BACKDATED = (
    ("conversations", "id", ("created_at", "updated_at")),
    ("events", "conversation_id", ("at",)),
    ("handoffs", "conversation_id", ("opened_at", "claimed_at", "done_at", "first_reply_at")),
    ("tags", "conversation_id", ("added_at", "removed_at")),
    ("notes", "conversation_id", ("at",)),
    ("answer_ratings", "conversation_id", ("rated_at",)),
    ("cases", "conversation_id", ("opened_at", "done_at")),
)


async def backdate(owner: Database, conversation_ids: Sequence[str], by: timedelta) -> None:
    """Shift everything about these conversations into the past."""
    async with owner.across_tenants() as tx:
        for table, key, columns in _BACKDATED:
            moved = ", ".join(f"{c} = {c} - :by" for c in columns)
            statement = sa.text(f"UPDATE {table} SET {moved} WHERE {key} = ANY(:ids)")  # noqa: S608 (names above)
            await tx.execute(statement, {"by": by, "ids": list(conversation_ids)})
