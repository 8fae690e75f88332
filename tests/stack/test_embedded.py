"""Laws of the embedded Postgres and Temporal, over the real ones: roles, restarts, hard-to-reach folders."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import settings
from stack import postgres, temporal
from stack.addresses import Addresses, Wishes, settle
from stack.doctor import Finding, Installation, State
from stack.doctor_checks import postgres as look_at_postgres
from stack.doctor_checks import temporal as look_at_temporal
from stack.layout import DataDir
from stack.postgres import ADMIN, APP, OWNER, RELAY, SOCKET_PATH_BYTES_MAX, Cluster
from stack.supervisor import Supervisor
from tests.stack.standins import Ears

ENV = {name: value for name, value in settings.inherited_environment().items() if name in {"PATH", "HOME", "TMPDIR"}}
PASSWORDS = postgres.new_passwords()
ANY_PORTS = Wishes(api_port=0, shop_port=0, temporal_port=0, temporal_ui_port=0, postgres_port=0)


def never() -> bool:
    return False


def prepared(folder: Path) -> DataDir:
    data = DataDir.at(folder)
    data.prepare()
    return data


@contextmanager
def serving(data: DataDir, addresses: Addresses) -> Iterator[Cluster]:
    assert addresses.postgres_port is not None
    cluster = postgres.prepare(data, addresses.postgres_port, PASSWORDS)
    supervisor = Supervisor(postgres.children(cluster, ENV), data.logs, Ears(), _ignore)
    try:
        supervisor.start(never)
        yield cluster
    finally:
        supervisor.stop()


def _ignore(pids: Mapping[str, int]) -> None:
    """Nobody asks for the pids here."""


@pytest.fixture(scope="module")
def barred() -> Iterator[Path]:
    """A folder that an ordinary user cannot pass through when the stack is root."""
    with tempfile.TemporaryDirectory(prefix="barred-") as folder:
        yield Path(folder)


def installation(cluster: Cluster, addresses: Addresses, role: str = APP, **more: Any) -> Installation:
    given: dict[str, Any] = {
        "database_url": cluster.url(role),
        "temporal_address": addresses.temporal_address,
        "temporal_namespace": "default",
        "temporal_tls": False,
        "temporal_api_key": None,
        "shop_url": addresses.shop_url,
        "jwks": "none",
        "data_dir": cluster.data.root,
        "migration_head": None,
        **more,
    }
    return Installation(**given)


def states(findings: list[Finding]) -> dict[str, State]:
    return {finding.part: finding.state for finding in findings}


def test_postgres_serves_keeps_its_data_and_binds_its_roles(barred: Path) -> None:
    data, addresses = prepared(barred / "data"), settle(ANY_PORTS)
    with serving(data, addresses) as cluster:
        with psycopg.connect(cluster.url(OWNER)) as owner:
            owner.execute("CREATE TABLE kept (n int)")
        rights = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = %s"
        with psycopg.connect(cluster.url(APP)) as app:
            assert [app.execute(rights, (role,)).fetchone() for role in (OWNER, APP, RELAY)] == [(False,)] * 3
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute("SELECT * FROM kept")
        _the_doctor_sees_what_the_roles_may_do(cluster, addresses)
    with serving(data, settle(ANY_PORTS)) as cluster, psycopg.connect(cluster.url(OWNER)) as owner:
        assert owner.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    assert not (data.postgres / "postmaster.pid").exists()


def _the_doctor_sees_what_the_roles_may_do(cluster: Cluster, addresses: Addresses) -> None:
    unmigrated = states(look_at_postgres(installation(cluster, addresses)))
    assert unmigrated == {"postgres": State.GOOD, "app role": State.GOOD, "migrations": State.FAULT}
    as_owner = look_at_postgres(installation(cluster, addresses, OWNER))
    assert "switch their row-level security off" in as_owner[1].detail
    as_admin = look_at_postgres(installation(cluster, addresses, ADMIN))
    assert as_admin[1].mend == f'As an administrator: ALTER ROLE "{ADMIN}" NOSUPERUSER NOBYPASSRLS NOCREATEROLE;'
    with psycopg.connect(cluster.url(OWNER)) as owner:
        owner.execute("CREATE TABLE alembic_version (version_num text)")
        owner.execute("INSERT INTO alembic_version VALUES ('0001')")
        owner.execute(f"GRANT SELECT ON alembic_version TO {APP}")
    migrated = states(look_at_postgres(installation(cluster, addresses, migration_head="0001")))
    assert set(migrated.values()) == {State.GOOD}
    behind = look_at_postgres(installation(cluster, addresses, migration_head="0002"))
    assert behind[2].detail == "at 0001, while this code wants 0002"


def test_postgres_wants_a_password(barred: Path) -> None:
    data = prepared(barred / "guarded")
    with (
        serving(data, settle(ANY_PORTS)) as cluster,
        pytest.raises(psycopg.OperationalError, match="password authentication failed"),
    ):
        psycopg.connect(cluster.url(APP).replace(PASSWORDS[APP], "guess"))


def test_postgres_starts_again_after_it_was_cut_short(barred: Path) -> None:
    data = prepared(barred / "cut")
    (data.root / "postgres.new").mkdir()
    (data.root / "postgres.new" / "PG_VERSION").write_text("18")
    with serving(data, settle(ANY_PORTS)) as cluster:
        psycopg.connect(cluster.url(APP)).close()


def test_a_socket_path_always_fits_its_address(tmp_path: Path) -> None:
    deep = DataDir.at(tmp_path / ("deep" * 30))
    deep.prepare()
    cluster = postgres.prepare(deep, 5432, PASSWORDS)
    assert len(os.fsencode(cluster.sockets / ".s.PGSQL.65535")) <= SOCKET_PATH_BYTES_MAX
    cluster.sockets.rmdir()


def test_temporal_keeps_its_search_attributes_over_a_restart(tmp_path: Path) -> None:
    data = prepared(tmp_path)
    for _ in range(2):
        addresses = settle(ANY_PORTS)
        supervisor = Supervisor([temporal.server(data, addresses, ENV)], data.logs, Ears(), _ignore)
        try:
            supervisor.start(never)
            cluster = Cluster(data, tmp_path, tmp_path, 1, PASSWORDS, None)
            found = look_at_temporal(installation(cluster, addresses))
            absent = look_at_temporal(installation(cluster, addresses, temporal_namespace="absent"))
        finally:
            supervisor.stop()
        assert states(found) == {"temporal": State.GOOD, "namespace": State.GOOD, "attributes": State.GOOD}
        assert "temporal operator namespace create -n absent" in absent[1].mend
