"""A gateway over a real Postgres, an issuer of tokens, and people of two tenants to call it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from psycopg.types.json import Jsonb

from activities.library import Library
from domain.permission import ToolQuestion
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.wake import Wake
from domain.words import Words
from gateway.app import Doors, create_app
from gateway.hub import Hub
from gateway.identity import TokenVerifier
from gateway.keys import FILE_PACE, KeySet, Pace, file_reader
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.permissions import Permissions
from settings import Settings
from store.database import Database
from store.listening import listening
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant, put_in_force
from tests.gateway.caller import Caller
from tests.gateway.issuer import AUDIENCE, ISSUER, Issuer
from tests.postgres import Postgres
from tests.store.world import Talk

MakeDoors = Callable[..., Doors]
Publish = Callable[[str, Bundle], str]
Serve = Callable[[FastAPI], AbstractAsyncContextManager[str]]


class Notebook:
    """A courier that writes down what it is given."""

    def __init__(self) -> None:
        self.wakes: list[Wake] = []

    def send(self, wakes: Sequence[Wake]) -> None:
        self.wakes.extend(wakes)


class BaseRules:
    """Every bundle is the base bundle, whatever its digest: what is published here has no rules of its own."""

    permissions = Permissions(PolicyEngine(Bundle.load()))

    async def open(self, tenant_id: str, digest: str) -> None:
        pass

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        return self.permissions.allows(question)


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path / "jwks.json")


@pytest.fixture
def courier() -> Notebook:
    return Notebook()


@pytest.fixture
def make_doors(postgres: Postgres, db: Database, issuer: Issuer, words: Words, courier: Notebook) -> MakeDoors:
    """Doors of a gateway; settings are changed by name."""

    def make(
        database: Database | None = None,
        pace: Pace = FILE_PACE,
        probes: Any = None,
        policies: Any = None,
        acting: Any = None,
        **changed: Any,
    ) -> Doors:
        given = {"tenant_requests_per_second_max": 10_000, "customer_messages_per_minute_max": 10_000, **changed}
        where = {"api_public_url": "https://interlock.example", **given}
        settings = Settings(database_url=postgres.app_url, **where)
        used = database or db
        return Doors(
            settings=settings,
            db=used,
            courier=courier,
            words=words,
            clock=lambda: datetime.now(UTC),
            verifier=TokenVerifier(KeySet(file_reader(issuer.path), pace), ISSUER, AUDIENCE),
            hub=Hub(partial(listening, used), settings.sse_streams_per_principal_max),
            policies=policies or BaseRules(),
            acting=acting,
            library=Library(used, None),
            probes=probes or {},
        )

    return make


@pytest.fixture
def app(make_doors: MakeDoors) -> FastAPI:
    return create_app(make_doors())


@pytest.fixture
def calling(issuer: Issuer) -> Callable[[FastAPI], AbstractAsyncContextManager[Caller]]:
    """Call an app within this process; its lifespan is not run."""

    @contextlib.asynccontextmanager
    async def calling(app: FastAPI) -> AsyncIterator[Caller]:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            yield Caller(http, issuer, app.openapi())

    return calling


@pytest.fixture
async def caller(
    app: FastAPI, calling: Callable[[FastAPI], AbstractAsyncContextManager[Caller]]
) -> AsyncIterator[Caller]:
    async with calling(app) as one:
        yield one


@pytest.fixture
def serve() -> Serve:
    """Serve an app over HTTP on a free port; gives its URL."""

    @contextlib.asynccontextmanager
    async def serving(app: FastAPI) -> AsyncIterator[str]:
        config = uvicorn.Config(app, port=0, log_config=None, lifespan="on", timeout_graceful_shutdown=3)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server._serve())
        while not server.started:
            await asyncio.sleep(0.01)
            if task.done():
                await task
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            app.state.desk.hub.end_streams()
            server.should_exit = True
            await task

    return serving


@pytest.fixture(scope="session")
def publish(owner: psycopg.Connection[Any]) -> Publish:
    """Publish a bundle to a tenant; it counts at once. Returns its digest."""

    def publish(tenant_id: str, bundle: Bundle) -> str:
        base = None
        if bundle.base is not None:
            base = publish(tenant_id, bundle.base)
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
            " VALUES (%s, %s, '1', '{}', %s, %s, %s) ON CONFLICT DO NOTHING",
            (bundle.digest, bundle.manifest.id, Jsonb(dict(bundle.files)), tenant_id if base else None, base),
        )
        put_in_force(owner, tenant_id, bundle.digest)
        return bundle.digest

    return publish


@pytest.fixture
def tenant(make_tenant: MakeTenant) -> str:
    return make_tenant()


@pytest.fixture
def customer(tenant: str, make_customer: MakeCustomer) -> VerifiedPrincipal:
    return make_customer(tenant)


@pytest.fixture
def agent(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.AGENT)


@pytest.fixture
def manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER)


@pytest.fixture
def visitor(tenant: str) -> VerifiedPrincipal:
    return VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.ANONYMOUS, id="visitor-1")


@pytest.fixture
def service(tenant: str) -> VerifiedPrincipal:
    return VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.SERVICE, id="scraper")


@pytest.fixture
async def talk(db: Database, words: Words, customer: VerifiedPrincipal) -> Talk:
    """A conversation of the customer's."""
    return await Talk(db, words, customer).begin()
