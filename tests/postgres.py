"""The Postgres that tests run on: a database of their own, migrated, on whatever server is to be had.

`INTERLOCK_TEST_DATABASE_URL` (a login that may create roles and databases) comes first, then a container where a Docker
engine answers, then the embedded server, as a child that ends with this process.
"""

import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import Popen
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy.engine import make_url

from stack import child, ports, postgres
from stack.layout import DataDir
from store.migrate import migrate

GIVEN = "INTERLOCK_TEST_DATABASE_URL"
READY_S = 60.0
QUICK = ("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "scram_iterations=1")


@dataclass(frozen=True)
class Postgres:
    """One migrated database, by the URL of each role."""

    admin_url: str
    owner_url: str
    app_url: str
    relay_url: str


@contextmanager
def migrated() -> Iterator[Postgres]:
    """Give a migrated database; two runs at once never share one, and nothing of it stays behind."""
    with ExitStack() as stack:
        admin_url = os.environ.get(GIVEN) or stack.enter_context(_server())
        database = stack.enter_context(new_database(admin_url))
        migrate(database.owner_url, database.app_url, database.relay_url)
        yield database


@contextmanager
def new_database(admin_url: str, *, vectors: bool = True) -> Iterator[Postgres]:
    """Make an empty database with its three roles, as the product's own stack does, and drop them afterwards.

    `vectors`: with the extension pgvector, where the server has it.
    """
    name, password = f"interlock_test_{uuid4().hex[:12]}", uuid4().hex
    roles = {part: f"{name}_{part}" for part in ("owner", "app", "relay")}
    with psycopg.connect(admin_url, autocommit=True) as admin:
        for role in roles.values():
            admin.execute(
                SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD {}").format(
                    Identifier(role), Literal(password)
                )
            )
        admin.execute(SQL("GRANT {} TO CURRENT_USER").format(Identifier(roles["owner"])))
        admin.execute(SQL("CREATE DATABASE {} OWNER {}").format(Identifier(name), Identifier(roles["owner"])))
        server = make_url(admin_url).set(database=name)
        urls = {
            f"{part}_url": server.set(username=role, password=password).render_as_string(hide_password=False)
            for part, role in roles.items()
        }
        if vectors:
            _add_vectors(server.render_as_string(hide_password=False))
        try:
            yield Postgres(admin_url=server.render_as_string(hide_password=False), **urls)
        finally:
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
            for role in roles.values():
                admin.execute(SQL("DROP ROLE {}").format(Identifier(role)))


def _add_vectors(url: str) -> None:
    """Create pgvector where the server has it, which only an administrator may."""
    with psycopg.connect(url, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
            admin.execute("CREATE EXTENSION vector")


@contextmanager
def _server() -> Iterator[str]:
    with _container() if _docker_answers() else _embedded() as url:
        yield url


def _docker_answers() -> bool:
    if not (os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()):
        return False
    import docker  # type: ignore[import-untyped]  # comes with testcontainers, and takes a while to import

    try:
        docker.from_env(timeout=5).ping()
    except (docker.errors.DockerException, OSError):
        return False
    return True


@contextmanager
def _container() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its own use of what it deprecates
        from testcontainers.postgres import PostgresContainer

        server = PostgresContainer("postgres:16", driver=None).with_command(["postgres", *QUICK])
        server.start()
    try:
        yield server.get_connection_url()
    finally:
        server.stop()


@contextmanager
def _embedded() -> Iterator[str]:
    """Run the server of the stack in a folder of its own; it ends with us, however we end."""
    home = Path(tempfile.mkdtemp(prefix="interlock-test-"))
    home.chmod(0o755)
    data = DataDir.at(home)
    data.prepare()
    cluster = postgres.prepare(data, ports.resolve({"--postgres-port": 0})["--postgres-port"], postgres.new_passwords())
    initdb, server = postgres.children(cluster, dict(os.environ))
    running: Popen[bytes] | None = None
    try:
        _run_to_its_end(initdb, data.logs / "initdb.log")
        running = child.spawn(replace(server, argv=(*server.argv, *QUICK)), data.logs / "postgres.log")
        _await_ready(running, server, data.logs / "postgres.log")
        admin = make_url(cluster.url(postgres.ADMIN)).set(database="postgres")
        yield admin.render_as_string(hide_password=False)
    finally:
        if running is not None:
            child.end(running, server.stop_signal, server.stop_patience_s)
        shutil.rmtree(home, ignore_errors=True)


def _run_to_its_end(step: child.Child, log: Path) -> None:
    if child.spawn(step, log).wait(READY_S) != 0:
        raise RuntimeError(f"{step.name} failed:\n{child.tail(log)}")
    if step.then is not None:
        step.then()


def _await_ready(running: Popen[bytes], server: child.Child, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while server.ready is None or not server.ready():
        if running.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"Postgres does not come up:\n{child.tail(log)}")
        time.sleep(child.LOOK_S)
