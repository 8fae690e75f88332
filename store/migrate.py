"""Brings a database to the newest schema; safe to run by several processes at once and again.

Connects as the owner; the two roles that the product connects as are created where they do not exist.
"""

from importlib.resources import files
from typing import cast
from urllib.parse import unquote

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy.engine import URL

from store.url import driver_url
from store.vectors import use_vectors

_MIGRATION_LOCK = 7_310_577  # any constant; one migration at a time per database


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("store").joinpath("migrations")))
    config.set_main_option("path_separator", "os")
    return config


def head() -> str:
    """Return the revision that this code needs."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise RuntimeError("store/migrations/versions holds no migration")
    return revision


def _ensure_role(connection: sa.Connection, url: URL) -> str:
    """Create the login role of `url` without any privilege to bypass row-level security; return its name."""
    name = url.username
    if not name:
        raise ValueError(f"the URL {url.render_as_string(hide_password=True)} names no user")
    raw = cast("Connection", connection.connection.driver_connection)
    if raw.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone() is None:
        create = SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB").format(Identifier(name))
        if url.password:
            create = create + SQL(" PASSWORD {}").format(Literal(unquote(str(url.password))))
        raw.execute(create)
        raw.commit()
    return name


def migrate(owner_url: str, app_url: str, relay_url: str) -> str:
    """Run what is missing; return the revision now in force. Raises sqlalchemy.exc.OperationalError."""
    engine = sa.create_engine(driver_url(owner_url), hide_parameters=True, poolclass=sa.NullPool)
    config = _config()
    with engine.connect() as guard, engine.connect() as connection:
        guard.execute(sa.text("SELECT pg_advisory_lock(:k)"), {"k": _MIGRATION_LOCK})
        config.attributes["app_role"] = _ensure_role(connection, driver_url(app_url))
        config.attributes["relay_role"] = _ensure_role(connection, driver_url(relay_url))
        connection.commit()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        use_vectors(connection)
    engine.dispose()
    return head()
