"""The real parts that scenes run on: a Temporal server, a database of its own, the shop as a process.

Each is a context manager; the fixtures in `conftest` hold them for a whole session.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from temporalio.common import SearchAttributeKey
from temporalio.testing import WorkflowEnvironment

from policy.bundle import Bundle
from stack import ports
from stack.temporal import DYNAMIC_CONFIG, PRAGMAS, SEARCH_ATTRIBUTES, program
from store.migrate import migrate
from tests.conftest import put_in_force
from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres, new_database
from tests.workflows.shop_world import MARKET, SAAS, write_world


@contextmanager
def temporal() -> Iterator[str]:
    """Run a Temporal server in memory; gives its address."""
    server = asyncio.run(_start())
    try:
        yield str(server.client.service_client.config.target_host)
    finally:
        asyncio.run(server.shutdown())


@asynccontextmanager
async def temporal_at(port: int) -> AsyncIterator[None]:
    """Run a Temporal server at a port of ours; started again there, it has forgotten everything."""
    server = await _start(port)
    try:
        yield
    finally:
        await server.shutdown()


async def _start(port: int | None = None) -> WorkflowEnvironment:
    keys: dict[str, Any] = {"Keyword": SearchAttributeKey.for_keyword, "Int": SearchAttributeKey.for_int}
    return await WorkflowEnvironment.start_local(
        dev_server_existing_path=program(),
        dev_server_extra_args=[
            *(word for value in PRAGMAS for word in ("--sqlite-pragma", value)),
            *(word for value in DYNAMIC_CONFIG for word in ("--dynamic-config-value", value)),
        ],
        dev_server_log_level="error",
        port=port,
        search_attributes=[keys[kind](name) for name, kind in SEARCH_ATTRIBUTES.items()],
    )


@contextmanager
def database(server: Postgres) -> Iterator[Postgres]:
    """A migrated database on the session's server, with both tenants under the base bundle."""
    with new_database(server.admin_url) as made:
        migrate(made.owner_url, made.app_url, made.relay_url)
        furnish(made)
        yield made


def furnish(made: Postgres) -> None:
    """Publish the base bundle and make the tenants and their staff."""
    bundle = Bundle.load()
    with psycopg.connect(made.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files) VALUES (%s, %s, %s, %s, %s)",
            (bundle.digest, bundle.manifest.id, bundle.manifest.version, Jsonb({}), Jsonb(dict(bundle.files))),
        )
        for tenant, kind in ((MARKET, "marketplace"), (SAAS, "saas")):
            owner.execute("INSERT INTO tenants (id, name, kind) VALUES (%s, %s, %s)", (tenant, tenant, kind))
            put_in_force(owner, tenant, bundle.digest)
            for staff_id, role in (("ann", "agent"), ("ben", "agent"), ("mia", "manager")):
                owner.execute(
                    "INSERT INTO staff (tenant_id, id, name, role) VALUES (%s, %s, %s, %s)",
                    (tenant, staff_id, staff_id, role),
                )


@contextmanager
def shop() -> Iterator[ShopProcess]:
    """The demo shop as a process, over the world of these laws."""
    with tempfile.TemporaryDirectory(prefix="interlock-shop-") as folder:
        home = Path(folder)
        port = ports.resolve({"--port": 0})["--port"]  # one that it keeps when it is killed and started again
        process = ShopProcess(home, "--world", str(write_world(home / "world.json")), "--port", str(port))
        try:
            yield process
        finally:
            if process.process.poll() is None:
                process.end()
            process.http.close()
