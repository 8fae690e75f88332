"""Runs one migration's SQL file with the names of the product's two roles filled in.

The file is executed as a whole, without parameters, inside Alembic's transaction.
"""

from importlib.resources import files
from typing import cast

from alembic import op
from alembic.config import Config
from psycopg import Connection
from psycopg.sql import Identifier


def run_sql(name: str) -> None:
    """Execute `versions/NAME`, replacing `"{app_role}"` and `"{relay_role}"` by the roles' names."""
    config = cast("Config", op.get_context().config)
    sql = files("store.migrations").joinpath("versions", name).read_text()
    raw = cast("Connection", op.get_bind().connection.driver_connection)
    for role in ("app_role", "relay_role"):
        sql = sql.replace(f'"{{{role}}}"', Identifier(config.attributes[role]).as_string(raw))
    raw.execute(sql.encode())
