"""Laws of publishing side by side: nobody overrules what they have not seen, and no reservation is half under each."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from domain.refusal import BundleUnfit, Refusal
from publishing.examining import Examined
from publishing.publish import publish_base, publish_layer, roll_back
from store.circumstances import lock_tenant
from store.database import Database
from store.policies import in_force, publications
from tests.publishing.books import STRICTER, here, layer, newer, now, publish

NO_CREDIT = '@id("no-credit") forbid (principal, action == Action::"store_credit", resource);'
Meanwhile = Callable[[], Awaitable[Any]]


def slowly(meanwhile: Meanwhile) -> Callable[[Mapping[str, str], Mapping[str, str] | None], Awaitable[Examined]]:
    """An examination during which something else happens."""

    async def examine(files: Mapping[str, str], base_files: Mapping[str, str] | None) -> Examined:
        await meanwhile()
        return await here(files, base_files)

    return examine


async def test_of_publications_and_a_rollback_at_once_one_counts_and_the_others_are_told(
    db: Database, tenant: str
) -> None:
    await publish(db, tenant)
    others = [layer(tenant, STRICTER.replace("only-up-to-ten", f"n{n}"), id=f"l{n}") for n in range(3)]
    done = await asyncio.gather(
        *(publish(db, tenant, files) for files in others),
        roll_back(db, tenant, None, "staff:mia", None, now()),
        return_exceptions=True,
    )
    refused = [one for one in done if isinstance(one, Exception)]
    known = await publications(db, tenant)
    assert [p.n for p in known] == list(range(len(known), 0, -1))
    assert len(known) == 3 + len(done) - len(refused)
    assert len(refused) >= 1
    assert all(isinstance(one, Refusal) and "meanwhile" in one.detail for one in refused)
    assert await in_force(db, tenant, now()) == known[0].digest


async def test_a_layer_is_not_published_over_a_base_that_was_replaced_during_its_examination(
    db: Database, owner_db: Database, tenant: str
) -> None:
    async def replaced() -> None:
        await publish_base(db, owner_db, [tenant], newer(NO_CREDIT), "operator:olga", None, here, now())

    with pytest.raises(Refusal, match="meanwhile"):
        await publish_layer(db, tenant, layer(tenant), "staff:mia", None, slowly(replaced), now())
    assert next(p.published_by for p in await publications(db, tenant)) == "operator:olga"


async def test_a_publication_waits_for_reservations_and_counts_from_after_them(db: Database, tenant: str) -> None:
    async with db.transaction(tenant) as tx:
        await lock_tenant(tx, tenant)
        publishing = asyncio.create_task(publish(db, tenant))
        await asyncio.sleep(0.5)
        assert not publishing.done()
        released_at = now()
    assert (await publishing).publication.effective_from >= released_at


async def test_the_products_own_role_publishes_nothing_into_the_past(db: Database, tenant: str) -> None:
    began = now()
    async with db.transaction(tenant) as tx:
        await tx.execute(
            sa.text(
                "INSERT INTO policy_publications (tenant_id, n, digest, cause, effective_from, published_by)"
                " SELECT tenant_id, 99, digest, 'published', '2020-01-01', 'x' FROM policy_publications LIMIT 1"
            )
        )
    assert (await publications(db, tenant))[0].effective_from > began


async def test_a_window_that_closes_during_the_examination_publishes_nothing(db: Database, tenant: str) -> None:
    ends = now() + timedelta(seconds=1)
    files = layer(tenant, effective_until=ends.isoformat())
    before = await publications(db, tenant)

    async def a_while() -> None:
        await asyncio.sleep(1)

    with pytest.raises(Refusal, match="effective_until"):
        await publish_layer(db, tenant, files, "staff:mia", None, slowly(a_while), now())
    assert await publications(db, tenant) == before


async def test_a_window_in_the_past_is_none(db: Database, tenant: str) -> None:
    files = layer(tenant, effective_until="2026-02-01T00:00:00Z")
    with pytest.raises(BundleUnfit, match="has passed"):
        await publish(db, tenant, files)
