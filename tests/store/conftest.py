"""A conversation and its people, fresh for every test; one loop and one pool for the whole room, which is quicker."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from domain.principal import StaffRole, VerifiedPrincipal
from domain.words import Words
from store.database import Database
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.postgres import Postgres
from tests.store.world import Talk


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the room's tests in the loop that its pools belong to."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def db(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.app_url)
    yield database
    await database.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def relay_db(postgres: Postgres) -> AsyncIterator[Database]:
    database = Database(postgres.relay_url)
    yield database
    await database.close()


@pytest.fixture
def tenant(make_tenant: MakeTenant) -> str:
    return make_tenant()


@pytest_asyncio.fixture(loop_scope="session")
async def talk(db: Database, words: Words, tenant: str, make_customer: MakeCustomer) -> Talk:
    return await Talk(db, words, make_customer(tenant)).begin()


@pytest.fixture
def ann(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.AGENT, "ann")


@pytest.fixture
def ben(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.AGENT, "ben")


@pytest.fixture
def manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER, "mia")


@pytest.fixture
def other_manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER, "max")


@pytest_asyncio.fixture(loop_scope="session")
async def filled(talk: Talk, owner: psycopg.Connection[Any], ann: VerifiedPrincipal) -> str:
    """A tenant with a row in every table; returns its id."""
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    await talk.take_over(ann)
    for statement in (
        "INSERT INTO customers (tenant_id, id) VALUES (%(t)s, 'c')",
        "INSERT INTO articles (tenant_id, slug, version, language, title, body) VALUES (%(t)s, 's', 1, 'en', 'T', 'B')",
        "INSERT INTO passages (tenant_id, slug, version, language, position, text, words)"
        " VALUES (%(t)s, 's', 1, 'en', 0, 'B', 'b')",
        "INSERT INTO usage (tenant_id, day, measure, amount) VALUES (%(t)s, now(), 'turns', 1)",
        "INSERT INTO model_calls (call_id, tenant_id, conversation_id, answered_seq, step_id, role, route, endpoint,"
        " model, prompt, outcome, label, input_tokens, output_tokens, cost_micros, currency, duration_ms, tool_steps,"
        " at) SELECT 'call-' || id, tenant_id, id, 0, 's', 'draft', 'small', 'e', 'm', 'p@1', 'ok', '', 1, 1, 1, 'EUR',"
        " 1, 0, now() FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO idempotency_keys (tenant_id, principal, key, request_digest) VALUES (%(t)s, 'p', 'k', 'd')",
        "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
        " VALUES ('layer-' || %(t)s, 'layer', '1', '{}', '{}', %(t)s, 'test-bundle')",
        "INSERT INTO approval_claims (tenant_id, operation_id, staff_id, until_at)"
        " SELECT tenant_id, operation_id, 'ann', now() + interval '5 minutes' FROM actions WHERE tenant_id = %(t)s",
    ):
        owner.execute(statement, {"t": talk.tenant})
    return talk.tenant
