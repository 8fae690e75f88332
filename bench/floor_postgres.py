"""The first floor: what two transactions cost in the same Postgres, each a row lock and an insert, and nothing else.

No less can be paid for a message and its reply that both survive a crash.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

SCHEMA = """
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE IF NOT EXISTS bench.rows (id text PRIMARY KEY, version integer NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS bench.log (row_id text, seq integer, body jsonb NOT NULL, PRIMARY KEY (row_id, seq));
"""
_LOCK = "SELECT version FROM bench.rows WHERE id = %s FOR UPDATE"
_INSERT = "INSERT INTO bench.log (row_id, seq, body) VALUES (%s, %s, jsonb_build_object('text', %s::text))"
_MOVE = "UPDATE bench.rows SET version = %s WHERE id = %s"
_TEXT = "Your order A-10001 was shipped on 3 March and is expected tomorrow. " * 3


class PostgresFloor:
    """One connection, and one row that it locks."""

    def __init__(self, connection: psycopg.AsyncConnection, row_id: str) -> None:
        self._connection, self._row_id = connection, row_id

    async def turn_s(self) -> float:
        """Return the seconds that two transactions take."""
        began_at = time.perf_counter()
        await self._append()
        await self._append()
        return time.perf_counter() - began_at

    async def _append(self) -> None:
        async with self._connection.transaction():
            row = await (await self._connection.execute(_LOCK, [self._row_id])).fetchone()
            seq = (row[0] if row else 0) + 1
            await self._connection.execute(_INSERT, [self._row_id, seq, _TEXT])
            await self._connection.execute(_MOVE, [seq, self._row_id])


async def prepare(owner_url: str) -> None:
    """Make the tables of both floors, in a schema of their own."""
    async with await psycopg.AsyncConnection.connect(owner_url, autocommit=True) as connection:
        await connection.execute(SCHEMA)


@asynccontextmanager
async def postgres_floor(owner_url: str, row_id: str) -> AsyncIterator[PostgresFloor]:
    """Give one floor of its own row and connection."""
    async with await psycopg.AsyncConnection.connect(owner_url, autocommit=True) as connection:
        await connection.execute("INSERT INTO bench.rows (id) VALUES (%s) ON CONFLICT DO NOTHING", [row_id])
        yield PostgresFloor(connection, row_id)
