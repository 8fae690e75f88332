"""Several statements in one round trip: for the transactions of a turn, in which the way to Postgres costs the most.

Each statement is compiled once. Rows come as the driver gives them; errors come as SQLAlchemy's, as everywhere else.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.pq import PipelineStatus
from psycopg.rows import namedtuple_row
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.compiler import SQLCompiler

Row = Any  # a named tuple
Bind = Callable[[Any], Any]


class Statement:
    """A statement whose every value is a bound parameter without a list in it (use `= ANY`, not `IN`)."""

    def __init__(self, query: sa.ClauseElement) -> None:
        self._query = query
        self._sql: bytes | None = None
        self._defaults: Mapping[str, Any] = {}
        self._binds: Mapping[str, Bind] = {}

    def __call__(self, **values: Any) -> "Asked":
        """Return the statement with its values."""
        return self, values

    def sql(self, dialect: sa.Dialect) -> bytes:
        """Return the SQL text."""
        if self._sql is None:
            compiled = self._query.compile(dialect=dialect)
            assert isinstance(compiled, SQLCompiler)
            named = {name: bind for bind, name in compiled.bind_names.items()}
            binds = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in named.items()}
            self._defaults = {name: bind.value for name, bind in named.items() if not bind.required}
            self._binds = {name: bind for name, bind in binds.items() if bind is not None}
            self._sql = str(compiled).encode()
        return self._sql

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values as the driver takes them."""
        found = {**self._defaults, **values}
        for name, bind in self._binds.items():
            found[name] = bind(found[name])
        return found


Asked = tuple[Statement, Mapping[str, Any]]
COMMIT = Statement(sa.text("COMMIT"))


async def run(tx: AsyncConnection, *asked: Asked) -> list[list[Row]]:
    """Run statements in order, in one round trip, and return the rows of each; `COMMIT` may be the last.

    Raises what executing them one by one would raise; none after the first that fails is run. A connection that is left
    in the middle of a pipeline, as by a cancellation, is closed: it would serve whoever had it next out of step.
    """
    connection = (await tx.get_raw_connection()).driver_connection
    assert isinstance(connection, psycopg.AsyncConnection)
    whole = False
    try:
        rows = await _run(connection, tx.dialect, asked)
        whole = True
        return rows
    except psycopg.Error as fault:
        whole = connection.pgconn.pipeline_status == PipelineStatus.OFF
        if connection.closed:
            await tx.invalidate()
        raise DBAPIError.instance(None, None, fault, psycopg.Error, hide_parameters=True, dialect=tx.dialect) from fault
    finally:
        if not whole:
            connection.pgconn.finish()  # at once: what is awaited here could be cancelled, too


async def _run(
    connection: psycopg.AsyncConnection[Any], dialect: sa.Dialect, asked: Sequence[Asked]
) -> list[list[Row]]:
    async with connection.pipeline():
        cursors = []
        for statement, values in asked:
            cursor = connection.cursor(row_factory=namedtuple_row)
            sql = statement.sql(dialect)
            cursors.append(await cursor.execute(sql, statement.parameters(values), prepare=True))
    return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]
