"""The roll: who asks in one moment is answered by one look-up, each about whom they asked, and as of now."""

import asyncio
from typing import Any

import psycopg
import pytest

from domain.principal import StaffRole
from gateway.roll import Roll
from store.database import Database
from store.pipeline import Asked, Row
from tests.conftest import MakeStaff, MakeTenant
from tests.postgres import Postgres


class Counting(Database):
    """Counts its round trips."""

    trips = 0

    async def at_once(self, tenant_id: str, *asked: Asked) -> list[list[Row]]:
        self.trips += 1
        return await super().at_once(tenant_id, *asked)


@pytest.fixture
def counting(postgres: Postgres) -> Counting:
    return Counting(postgres.app_url, 2)


async def test_one_look_up_answers_all_and_none_is_older_than_its_question(
    counting: Counting, make_tenant: MakeTenant, make_staff: MakeStaff, owner: psycopg.Connection[Any]
) -> None:
    tenant, roll = make_tenant(), Roll(counting)
    people = [make_staff(tenant, role) for role in StaffRole]
    stranger = make_staff(make_tenant())
    try:
        found = await asyncio.gather(*(roll.standing(tenant, one.id) for one in (*people, stranger)))
        assert [one.role if one else None for one in found] == [*StaffRole, None]
        assert counting.trips == 1
        first = asyncio.create_task(roll.standing(tenant, people[0].id))
        while counting.trips < 2:  # noqa: ASYNC110  there is nothing that says so
            await asyncio.sleep(0)
        owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s", (tenant,))
        again = await roll.standing(tenant, people[0].id)
        assert again is not None
        assert again.revoked
        assert await first is not None
    finally:
        await counting.close()
