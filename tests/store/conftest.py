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
        "INSERT INTO drafts (draft_id, tenant_id, conversation_id, owner_epoch, answered_seq, through_seq, step_id,"
        " language, author, text, segments, draft_digest, behind, made_at) SELECT 'draft-' || id, tenant_id, id,"
        " owner_epoch, answered_seq, answered_seq + 1, 's', 'en', 'local', 'B', '[]', 'd', '[]', now()"
        " FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO desks (tenant_id, version, document, set_by) VALUES (%(t)s, 1, '{}', 'staff:ann')",
        "INSERT INTO handoff_claims (tenant_id, handoff_id, staff_id, until_at)"
        " SELECT tenant_id, id, 'ann', now() + interval '5 minutes' FROM handoffs WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by)"
        " SELECT tenant_id, id, 'vip', 'staff', 'staff:ann' FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO notes (tenant_id, conversation_id, note_id, author, text)"
        " SELECT tenant_id, id, 'n', 'ann', 'x' FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO assignments (tenant_id, conversation_id, staff_id, assigned_by)"
        " SELECT tenant_id, id, 'ann', 'staff:ann' FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO snoozes (tenant_id, conversation_id, until_at, customer_seq, snoozed_by)"
        " SELECT tenant_id, id, now(), 1, 'staff:ann' FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO presences (tenant_id, conversation_id, principal, state, at, until_at)"
        " SELECT tenant_id, id, 'staff:ann', 'looking', now(), now() FROM conversations"
        " WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO seen (tenant_id, conversation_id, seq)"
        " SELECT tenant_id, id, 1 FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO saved_views (tenant_id, id, name, filters, owner) VALUES (%(t)s, 'v', 'V', '{}', 'ann')",
        "INSERT INTO answer_ratings (tenant_id, conversation_id, seq, score)"
        " SELECT tenant_id, id, 2, 5 FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO handoff_ratings (tenant_id, handoff_id, rated_by, score, right_to_escalate)"
        " SELECT tenant_id, id, 'ann', 5, true FROM handoffs WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO policy_backtests (id, tenant_id, report) VALUES ('b-' || %(t)s, %(t)s, '{}')",
        "INSERT INTO idempotency_keys (tenant_id, principal, key, request_digest) VALUES (%(t)s, 'p', 'k', 'd')",
        "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
        " VALUES ('layer-' || %(t)s, 'layer', '1', '{}', '{}', %(t)s, 'test-bundle')",
        "INSERT INTO tenant_secrets VALUES (%(t)s, 'tickets', 'sealed')",
        "INSERT INTO tickets (tenant_id, ticket_id, conversation_id, requester_id, principal_kind, principal_id,"
        " subject) SELECT tenant_id, 'T-1', id, 'r', principal_kind, principal_id, '' FROM conversations"
        " WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO ticket_copies SELECT tenant_id, id, 'M-1', 'a', 'x'"
        " FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO ticket_posts SELECT tenant_id, 'msg-1', 'd', id"
        " FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO webhooks (tenant_id, id, url, types, made_by) VALUES (%(t)s, 'wh-1', 'https://a', '{reply}', 'x')",
        "INSERT INTO webhook_deliveries (tenant_id, webhook_id, conversation_id, type, seq, unless_seen)"
        " SELECT tenant_id, 'wh-1', id, 'reply', 1, false FROM conversations WHERE tenant_id = %(t)s LIMIT 1",
        "INSERT INTO approval_claims (tenant_id, operation_id, staff_id, until_at)"
        " SELECT tenant_id, operation_id, 'ann', now() + interval '5 minutes' FROM actions WHERE tenant_id = %(t)s",
    ):
        owner.execute(statement, {"t": talk.tenant})
    return talk.tenant
