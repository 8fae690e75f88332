"""Fixtures for whatever needs a database: one migrated Postgres a session, fresh tenants for every test.

Tests never clean up after themselves: nothing of one tenant is visible to another.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb
from typer.testing import CliRunner

import cli
from domain.action import Action
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.understanding import Intent
from domain.words import NoticeKind, Words
from store.conversations import Accepted, accept_message, open_conversation
from store.database import Database
from tests.balance import ByRoom, turn_of
from tests.postgres import Postgres, migrated

BUNDLE = "test-bundle"
UNANSWERED_MAX = 200

MakeTenant = Callable[..., str]
MakeCustomer = Callable[..., VerifiedPrincipal]
MakeStaff = Callable[..., VerifiedPrincipal]
MakeConversation = Callable[..., Awaitable[str]]
Say = Callable[..., Awaitable[Accepted]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByRoom:
    return ByRoom(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: turn_of(item.nodeid))


class PlainWords:
    """The least that can be said, so that a test can see which sentence it is."""

    def status(self, action: Action) -> str:
        return f"[{action.kind.value} is {action.state.value}]"

    def proposal(self, action: Action) -> str:
        return f"[{action.kind.value} is proposed]"

    def notice(self, kind: NoticeKind, language: str) -> str:
        return f"[{kind.value} in {language}]"

    def noted(self, waiting: Sequence[Intent], language: str) -> str:
        return f"noted: {', '.join(waiting)}"

    def back_at(self, opens_at: datetime, timezone: str, language: str) -> str:
        return f"[back {opens_at:%Y-%m-%d %H:%M} of {timezone} in {language}]"

    def disclosure(self, language: str) -> str:
        return f"[automated in {language}]"


@pytest.fixture(scope="session")
def words() -> Words:
    return PlainWords()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with migrated() as database:
        yield database


@pytest.fixture(scope="session")
def owner(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    """The owner of the tables, whom no policy binds: for what only an operator may do, and to look at everything."""
    with psycopg.connect(postgres.owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def db(postgres: Postgres) -> AsyncIterator[Database]:
    """The product's own role."""
    database = Database(postgres.app_url)
    yield database
    await database.close()


@pytest.fixture
async def relay_db(postgres: Postgres) -> AsyncIterator[Database]:
    """The relay's role."""
    database = Database(postgres.relay_url)
    yield database
    await database.close()


def put_in_force(owner: psycopg.Connection[Any], tenant_id: str, digest: str) -> None:
    """Publish a bundle that is there to a tenant, for the tests' own use; it counts at once."""
    owner.execute(
        "INSERT INTO policy_publications (tenant_id, n, digest, cause, effective_from, published_by)"
        " SELECT %s, count(*) + 1, %s, 'published', '2020-01-01', 'test' FROM policy_publications WHERE tenant_id = %s",
        (tenant_id, digest, tenant_id),
    )


@pytest.fixture(scope="session")
def make_tenant(owner: psycopg.Connection[Any]) -> MakeTenant:
    """Make a tenant under a bundle of `policy_digest`; returns its id."""

    def make(kind: str = "marketplace", policy_digest: str = BUNDLE) -> str:
        tenant_id = f"t-{uuid4().hex[:12]}"
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files) VALUES (%s, 'base', '1', %s, %s)"
            " ON CONFLICT DO NOTHING",
            (policy_digest, Jsonb({}), Jsonb({})),
        )
        owner.execute("INSERT INTO tenants (id, name, kind) VALUES (%s, %s, %s)", (tenant_id, tenant_id, kind))
        put_in_force(owner, tenant_id, policy_digest)
        return tenant_id

    return make


@pytest.fixture(scope="session")
def make_customer() -> MakeCustomer:
    """Return a customer's principal; a customer needs no row before being seen."""

    def make(tenant_id: str, customer_id: str | None = None) -> VerifiedPrincipal:
        ident = customer_id or f"c-{uuid4().hex[:12]}"
        return VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.CUSTOMER, id=ident)

    return make


@pytest.fixture(scope="session")
def make_staff(owner: psycopg.Connection[Any]) -> MakeStaff:
    """Make a member of staff; returns the principal."""

    def make(tenant_id: str, role: StaffRole = StaffRole.AGENT, staff_id: str | None = None) -> VerifiedPrincipal:
        ident = staff_id or f"s-{uuid4().hex[:12]}"
        owner.execute(
            "INSERT INTO staff (tenant_id, id, name, role) VALUES (%s, %s, %s, %s)",
            (tenant_id, ident, ident, role.value),
        )
        return VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.STAFF, id=ident, role=role)

    return make


@pytest.fixture
def make_conversation(db: Database) -> MakeConversation:
    """Open a conversation of a customer; returns its id."""

    async def make(customer: VerifiedPrincipal, language: str = "en") -> str:
        return (await open_conversation(db, customer, f"conv-{uuid4().hex[:12]}", "chat", language)).id

    return make


@pytest.fixture
def say(db: Database) -> Say:
    """Have a customer say something, under a fresh client_message_id unless one is given."""

    async def speak(
        customer: VerifiedPrincipal,
        conversation_id: str,
        text: str = "Where is my order?",
        client_message_id: str | None = None,
        expected_version: int | None = None,
        unanswered_max: int = UNANSWERED_MAX,
    ) -> Accepted:
        ident = client_message_id or uuid4().hex
        return await accept_message(db, customer, conversation_id, ident, text, expected_version, unanswered_max)

    return speak


Ran = subprocess.CompletedProcess[str]
Interlock = Callable[..., Awaitable[Ran]]


@pytest.fixture
def interlock(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    """Run one command against the database of the tests, without the owner's URL: few commands may need that."""
    for name in [n for n in os.environ if n.startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("INTERLOCK_DATABASE_URL", postgres.app_url)
    monkeypatch.setenv("INTERLOCK_DATABASE_RELAY_URL", postgres.relay_url)

    async def run(*words: str) -> Ran:
        found = await asyncio.to_thread(CliRunner().invoke, cli.app, words)
        return Ran(words, found.exit_code, found.stdout, found.stderr)

    return run
