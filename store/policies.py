"""Bundles and their publication: immutable files under a digest, and which of them counts for a tenant from when.

A base is everybody's, published by the owner of the tables; a layer is its tenant's alone. Nothing is ever changed.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.refusal import NotFound, Refusal
from store import tables as t
from store.circumstances import close_gate, policy_in_force
from store.database import Database, Tx

DIGEST_CHARS_MIN = 6  # of a digest that is named by its beginning

_b, _p = t.policy_bundles.c, t.policy_publications.c


class PublicationCause(StrEnum):
    """Why a bundle came to count."""

    SEEDED = "seeded"
    PUBLISHED = "published"
    ROLLED_BACK = "rolled_back"
    REBASED = "rebased"  # its base was published anew


class NewBundle(Noun):
    """A bundle, immutable and named by its digest; a layer has its tenant and its base."""

    digest: str
    bundle_id: str
    version: str
    manifest: dict[str, Any]
    files: dict[str, str]
    tenant_id: str | None = None
    base_digest: str | None = None


class StoredBundle(NewBundle):
    """A bundle as it is kept. `base_files` are those of its base, where it is a layer."""

    published_at: datetime
    base_files: dict[str, str] | None = None


class Publication(Noun):
    """One row of a tenant's publications; the last one that is effective wins."""

    n: int
    digest: str
    cause: PublicationCause
    effective_from: datetime
    effective_until: datetime | None
    published_by: str
    note: str | None
    published_at: datetime


class Term(Noun):
    """A bundle, kept or new, is to count from then until then, or for good where that is None; and why."""

    bundle: NewBundle
    effective_from: datetime
    effective_until: datetime | None
    cause: PublicationCause


class Plan(Noun):
    """The terms to publish to a tenant, and the number of the last publication that is known of."""

    seen: int
    terms: tuple[Term, ...]


async def stored_bundle(db: Database, tenant_id: str, digest: str) -> StoredBundle | None:
    """Return a bundle that the tenant may see, or None where there is none of that digest."""
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(sa.select(t.policy_bundles).where(_b.digest == digest))).one_or_none()
        return None if row is None else await _stored(tx, row)


async def find_bundle(db: Database, tenant_id: str, name: str) -> StoredBundle:
    """Return the bundle named by its digest or its beginning, as `id@version`, or by its id: then the newest.

    Raises NotFound, and Refusal where a beginning fits several.
    """
    ident, at, version = name.partition("@")
    named = sa.and_(_b.bundle_id == ident, _b.version == version) if at else _b.bundle_id == name
    by_digest = _b.digest.startswith(name, autoescape=True) if len(name) >= DIGEST_CHARS_MIN else _b.digest == name
    query = sa.select(t.policy_bundles).where(sa.or_(by_digest, named)).order_by(_b.published_at.desc(), _b.digest)
    async with db.transaction(tenant_id) as tx:
        rows = (await tx.execute(query)).all()
        if not rows:
            raise NotFound(f"There is no published bundle {name!r}; interlock policy list shows those that there are.")
        fitting = [row for row in rows if row.digest.startswith(name)]
        if len(fitting) > 1:
            raise Refusal(f"{name!r} is the beginning of {len(fitting)} digests; give more of it.")
        return await _stored(tx, (fitting or rows)[0])


async def bundles(db: Database, tenant_id: str) -> tuple[StoredBundle, ...]:
    """Return every bundle that the tenant may see, the newest first."""
    query = sa.select(t.policy_bundles).order_by(_b.published_at.desc(), _b.digest)
    async with db.transaction(tenant_id) as tx:
        return tuple([await _stored(tx, row) for row in (await tx.execute(query)).all()])


async def in_force(db: Database, tenant_id: str, at: datetime) -> str:
    """Return the digest of the bundle that counts for the tenant at that time. Raises NotFound for no such tenant."""
    async with db.transaction(tenant_id) as tx:
        await _tenant(tx)
        return await policy_in_force(tx, tenant_id, at)


async def publications(db: Database, tenant_id: str) -> tuple[Publication, ...]:
    """Return a tenant's publications, the newest first. Raises NotFound for no such tenant."""
    async with db.transaction(tenant_id) as tx:
        await _tenant(tx)
        rows = (await tx.execute(sa.select(t.policy_publications).order_by(_p.n.desc()))).all()
        return tuple(_publication(row) for row in rows)


async def publish(db: Database, tenant_id: str, plan: Plan, by: str, note: str | None) -> tuple[Publication, ...]:
    """Let bundles count for a tenant, each for its term; traffic goes on meanwhile.

    Raises NotFound for no such tenant, and Refusal where something else was published since it was planned.
    """
    async with db.transaction(tenant_id) as tx:
        return await publish_in(tx, tenant_id, plan, by, note)


async def put_base(owner: Database, bundle: NewBundle) -> None:
    """Keep a base bundle, in force for nobody yet; again, it changes nothing. As the owner of the tables."""
    async with owner.across_tenants() as tx:
        await _keep(tx, bundle)


async def rebase(owner: Database, base: NewBundle, for_tenants: Mapping[str, Plan], by: str, note: str | None) -> None:
    """Publish a base: for each tenant what is planned, over it. All of them, or none. As the owner of the tables.

    Raises Refusal where something else was published to one of them since it was planned.
    """
    async with owner.across_tenants() as tx:
        await _keep(tx, base)
        for tenant_id, plan in sorted(for_tenants.items()):
            await publish_in(tx, tenant_id, plan, by, note)


async def _tenant(tx: Tx) -> None:
    if (await tx.execute(sa.select(t.tenants.c.id))).one_or_none() is None:
        raise NotFound("There is no such tenant.")


async def publish_in(tx: Tx, tenant_id: str, plan: Plan, by: str, note: str | None) -> tuple[Publication, ...]:
    """Publish inside a transaction that takes no lock but these; raises as `publish` does.

    No reservation is under way while the policy changes: each is judged under the old one or under the new one.

    Nothing counts from before this moment, since what was decided until now was decided under another bundle.
    """
    await close_gate(tx, tenant_id)
    locked = sa.select(t.tenants.c.id).where(t.tenants.c.id == tenant_id).with_for_update(key_share=True)
    if (await tx.execute(locked)).one_or_none() is None:
        raise NotFound("There is no such tenant.")
    of_tenant = sa.select(sa.func.max(_p.n), sa.func.clock_timestamp()).where(_p.tenant_id == tenant_id)
    last, moment = (await tx.execute(of_tenant)).one()
    if last != plan.seen:
        raise Refusal(f"Publication {last} came in meanwhile; look at it, then do this again.")
    done = []
    for n, term in enumerate(plan.terms, start=last + 1):
        since = max(term.effective_from, moment)
        if term.effective_until is not None and term.effective_until <= since:
            raise Refusal(f"Its effective_until, {term.effective_until:%Y-%m-%d %H:%M:%S %Z}, has passed meanwhile.")
        done.append(await _count(tx, tenant_id, n, term.model_copy(update={"effective_from": since}), by, note))
    return tuple(done)


async def _keep(tx: Tx, bundle: NewBundle) -> None:
    values = bundle.model_dump(include=set(NewBundle.model_fields))
    await tx.execute(insert(t.policy_bundles).values(**values).on_conflict_do_nothing())


async def _count(tx: Tx, tenant_id: str, n: int, term: Term, by: str, note: str | None) -> Publication:
    if term.bundle.tenant_id is not None:
        await _keep(tx, term.bundle)  # a base is there already
    values = {
        "tenant_id": tenant_id,
        "n": n,
        "digest": term.bundle.digest,
        "cause": term.cause.value,
        "effective_from": term.effective_from,
        "effective_until": term.effective_until,
        "published_by": by,
        "note": note,
    }
    added = sa.insert(t.policy_publications).values(**values).returning(t.policy_publications)
    return _publication((await tx.execute(added)).one())


async def _stored(tx: Tx, row: sa.Row[Any]) -> StoredBundle:
    base = None
    if row.base_digest is not None:
        base = (await tx.execute(sa.select(_b.files).where(_b.digest == row.base_digest))).scalar_one()
    found = StoredBundle.model_validate(row, from_attributes=True)
    return found.model_copy(update={"base_files": base})


def _publication(row: sa.Row[Any]) -> Publication:
    return Publication.model_validate(row, from_attributes=True)
