"""A database is brought to the newest schema by however many processes, on whatever server, from whatever URL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import sqlalchemy as sa

from store.migrate import head, migrate
from store.url import driver_url
from tests.postgres import Postgres, new_database


@pytest.fixture
def empty(postgres: Postgres) -> Iterator[Postgres]:
    with new_database(postgres.admin_url) as database:
        yield database


def revisions(database: Postgres) -> list[tuple[str]]:
    with psycopg.connect(database.owner_url) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()


def test_several_processes_may_migrate_at_once(empty: Postgres) -> None:
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(migrate, empty.owner_url, empty.app_url, empty.relay_url) for _ in range(4)]
        assert {job.result() for job in jobs} == {head()}
    assert revisions(empty) == [(head(),)]


def test_roles_that_do_not_exist_are_made_without_any_power(empty: Postgres) -> None:
    server, password = sa.make_url(empty.admin_url), "p@ss/wörd%"
    names = [f"{server.database}_{part}2" for part in ("app", "relay")]
    app, relay = (server.set(username=n, password=password).render_as_string(hide_password=False) for n in names)
    try:
        migrate(empty.admin_url, app, relay)
        with psycopg.connect(app) as connection:
            query = (
                "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
            )
            assert connection.execute(query).fetchone() == (False, False, False, False)
            assert connection.execute("SELECT count(*) FROM conversations").fetchone() == (0,)
    finally:
        with psycopg.connect(empty.admin_url, autocommit=True) as admin:
            for name in names:
                admin.execute(psycopg.sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(psycopg.sql.Identifier(name)))


def test_a_url_that_names_no_user_is_refused(empty: Postgres) -> None:
    with pytest.raises(ValueError, match="names no user"):
        migrate(empty.owner_url, "postgresql://127.0.0.1/interlock", empty.relay_url)


def test_an_unreachable_server_is_an_operational_error_without_the_password() -> None:
    with pytest.raises(sa.exc.OperationalError) as raised:
        migrate("postgresql://o:secret@127.0.0.1:1/x", "postgresql://a@127.0.0.1:1/x", "postgresql://r@127.0.0.1:1/x")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    ["postgres://u@h:1/d", "postgresql://u@h:1/d", "postgresql+psycopg://u@h:1/d", "postgresql://u@/d?host=/run/pg"],
)
def test_every_usual_form_of_url_is_taken(url: str) -> None:
    assert driver_url(url).drivername == "postgresql+psycopg"
    assert driver_url(url).database == "d"
