"""Laws of what an upgrade does to policy: what came with an older version is renewed, what people published is not."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from store.circumstances import lock_tenant
from store.database import Database
from store.policies import NewBundle, in_force, publications
from store.provision import renew_seeded_policy
from tests.conftest import MakeTenant
from tests.postgres import Postgres


@pytest.fixture
async def owner_db(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.owner_url, 1)
    yield database
    await database.close()


def base() -> NewBundle:
    return NewBundle(digest=f"base-{uuid4().hex}", bundle_id="base", version="9", manifest={}, files={})


async def test_policy_that_came_with_an_older_version_is_renewed_once(
    db: Database, owner_db: Database, owner: psycopg.Connection[Any], make_tenant: MakeTenant
) -> None:
    tenant, newer = make_tenant(), base()
    owner.execute("UPDATE policy_publications SET cause = 'seeded' WHERE tenant_id = %s", (tenant,))
    assert tenant in await renew_seeded_policy(owner_db, newer)
    assert await in_force(db, tenant, datetime.now(UTC)) == newer.digest
    assert tenant not in await renew_seeded_policy(owner_db, newer)
    assert [p.n for p in await publications(db, tenant)] == [2, 1]


async def test_a_renewal_waits_for_the_reservations_under_way_and_counts_from_then_on(
    db: Database, owner_db: Database, owner: psycopg.Connection[Any], make_tenant: MakeTenant
) -> None:
    tenant, newer = make_tenant(), base()
    owner.execute("UPDATE policy_publications SET cause = 'seeded' WHERE tenant_id = %s", (tenant,))
    async with db.transaction(tenant) as tx:
        await lock_tenant(tx, tenant)  # as a reservation does
        renewing = asyncio.create_task(renew_seeded_policy(owner_db, newer))
        done, _ = await asyncio.wait([renewing], timeout=0.3)
        assert not done
        judged_at = datetime.now(UTC)
    assert tenant in await renewing
    assert (await publications(db, tenant))[0].effective_from > judged_at


async def test_what_people_have_published_is_left_alone(
    db: Database, owner_db: Database, make_tenant: MakeTenant
) -> None:
    tenant = make_tenant()
    before = await in_force(db, tenant, datetime.now(UTC))
    assert tenant not in await renew_seeded_policy(owner_db, base())
    assert await in_force(db, tenant, datetime.now(UTC)) == before
