"""Standing is looked up, never believed; a request under one key is dealt with once."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from domain.principal import StaffRole, VerifiedPrincipal
from domain.tenant import TenantStanding
from store.admission import (
    abandon_request,
    begin_request,
    customer_standing,
    finish_request,
    forget_old_requests,
    staff_standing,
    tenant_standing,
)
from store.database import Database
from tests.conftest import MakeTenant, put_in_force
from tests.store.terms import BUNDLE, now

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
WHO, LEASE_S = "customer:c", 60


async def test_staff_stand_as_the_database_says_now(db: Database, tenant: str, ann: Staff, owner: Owner) -> None:
    standing = await staff_standing(db, tenant, "ann")
    assert standing is not None
    assert (standing.role, standing.revoked) == (StaffRole.AGENT, False)
    owner.execute("UPDATE staff SET revoked_at = now(), role = 'manager' WHERE tenant_id = %s", (tenant,))
    standing = await staff_standing(db, tenant, ann.id)
    assert standing is not None
    assert (standing.role, standing.revoked) == (StaffRole.MANAGER, True)
    assert await staff_standing(db, tenant, "nobody") is None
    assert await staff_standing(db, "no-such-tenant", "ann") is None


async def test_a_customer_seen_first_is_active_and_known_from_then_on(db: Database, tenant: str, owner: Owner) -> None:
    standings = await asyncio.gather(*(customer_standing(db, tenant, "c") for _ in range(5)))
    assert {standing.status for standing in standings if standing} == {"active"}
    owner.execute("UPDATE customers SET status = 'blocked' WHERE tenant_id = %s", (tenant,))
    standing = await customer_standing(db, tenant, "c")
    assert standing is not None
    assert standing.status == "blocked"


async def test_there_is_no_customer_without_a_tenant(db: Database, tenant: str) -> None:
    assert await customer_standing(db, "no-such-tenant", "c") is None
    assert await tenant_standing(db, "no-such-tenant") is None


async def test_the_policy_of_a_standing_is_the_one_in_force_now(
    db: Database, tenant: str, ann: Staff, owner: Owner, make_tenant: MakeTenant
) -> None:
    expected = TenantStanding(id=tenant, kind="marketplace", stage="approval_required", policy_digest=BUNDLE)
    staff, customer = await staff_standing(db, tenant, ann.id), await customer_standing(db, tenant, "c")
    assert staff is not None
    assert customer is not None
    assert [await tenant_standing(db, tenant), staff.tenant, customer.tenant] == [expected] * 3
    owner.execute("UPDATE tenants SET stage = 'shadow' WHERE id = %s", (tenant,))
    make_tenant(policy_digest="newer-bundle")
    put_in_force(owner, tenant, "newer-bundle")
    newer = await tenant_standing(db, tenant)
    assert newer is not None
    assert (newer.stage, newer.policy_digest) == ("shadow", "newer-bundle")


async def test_of_many_requests_under_one_key_one_runs(db: Database, tenant: str) -> None:
    begun = await asyncio.gather(*(begin_request(db, tenant, WHO, "k", "d", now(), LEASE_S) for _ in range(8)))
    assert [b is None for b in begun].count(True) == 1
    assert all(b.same_request and b.status is None for b in begun if b is not None)


async def test_a_repeat_gets_the_first_answer_and_another_body_is_told_apart(db: Database, tenant: str) -> None:
    await begin_request(db, tenant, WHO, "k", "d", now(), LEASE_S)
    await finish_request(db, tenant, WHO, "k", 202, {"seq": 1})
    again = await begin_request(db, tenant, WHO, "k", "d", now(), LEASE_S)
    assert again is not None
    assert (again.same_request, again.status, again.answer) == (True, 202, {"seq": 1})
    other = await begin_request(db, tenant, WHO, "k", "other", now(), LEASE_S)
    assert other is not None
    assert not other.same_request
    assert await begin_request(db, tenant, "customer:else", "k", "d", now(), LEASE_S) is None


async def test_a_key_that_was_given_back_is_free_and_one_that_was_answered_is_not(db: Database, tenant: str) -> None:
    await begin_request(db, tenant, WHO, "k", "d", now(), LEASE_S)
    await abandon_request(db, tenant, WHO, "k")
    assert await begin_request(db, tenant, WHO, "k", "other", now(), LEASE_S) is None
    await finish_request(db, tenant, WHO, "k", 200, None)
    await abandon_request(db, tenant, WHO, "k")
    assert await begin_request(db, tenant, WHO, "k", "other", now(), LEASE_S) is not None


@pytest.mark.parametrize(("digest", "taken"), [("d", True), ("other", False)])
async def test_a_request_that_died_is_taken_up_by_its_repeat_alone(
    digest: str, taken: bool, db: Database, tenant: str
) -> None:
    long_ago = now() - timedelta(seconds=LEASE_S + 1)
    await begin_request(db, tenant, WHO, "k", "d", long_ago, LEASE_S)
    begun = await asyncio.gather(*(begin_request(db, tenant, WHO, "k", digest, now(), LEASE_S) for _ in range(4)))
    assert [b is None for b in begun].count(True) == int(taken)


async def test_keys_given_back_while_others_wait_for_them_break_nobody(db: Database, tenant: str) -> None:
    async def client(n: int) -> None:
        key = f"k{n % 3}"
        if await begin_request(db, tenant, WHO, key, "d", now(), LEASE_S) is None:
            await abandon_request(db, tenant, WHO, key)

    await asyncio.gather(*(client(n) for n in range(120)))


async def test_old_keys_are_forgotten_and_new_ones_kept(db: Database, tenant: str) -> None:
    await begin_request(db, tenant, WHO, uuid4().hex, "d", now() - timedelta(hours=25), LEASE_S)
    await begin_request(db, tenant, WHO, "new", "d", now(), LEASE_S)
    assert await forget_old_requests(db, tenant, now() - timedelta(hours=24)) == 1
    assert await begin_request(db, tenant, WHO, "new", "d", now(), LEASE_S) is not None
