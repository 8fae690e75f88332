"""Any row of any table, and every way to change it: for laws that hold for all tables alike."""

from typing import Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY

from store.tables import metadata

Owner = psycopg.Connection[Any]

GLOBAL = {"legal_moves"}  # the same for all tenants: the ledger's rules
TENANT_TABLES = sorted(set(metadata.tables) - GLOBAL)
REFUSED = (errors.InsufficientPrivilege, errors.RaiseException, errors.CheckViolation, errors.ForeignKeyViolation)


def key(table: str) -> str:
    return "id" if table == "tenants" else "tenant_id"


def as_tenant(connection: psycopg.Connection[Any], tenant_id: str) -> None:
    connection.execute("SELECT set_config('interlock.tenant', %s, false)", (tenant_id,))


def one_row(owner: Owner, table: str, tenant_id: str) -> dict[str, Any]:
    """A row of the tenant, as JSON text by column."""
    query = SQL("SELECT to_jsonb(x) FROM {} x WHERE {} = %s LIMIT 1").format(Identifier(table), Identifier(key(table)))
    found = owner.execute(query, (tenant_id,)).fetchone()
    assert found is not None, f"no row of the tenant in {table}"
    return dict(found[0])


def without_identity(row: dict[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in row.items() if not (column == "id" and isinstance(value, int))}


def copy_of(table: str, row: dict[str, Any]) -> Composed:
    """An INSERT of the same row, without what the database makes itself."""
    values = without_identity(row)
    texts = [Literal(_value(table, c, v)) for c, v in values.items()]
    columns = SQL(", ").join(Identifier(c) for c in values)
    return SQL("INSERT INTO {} ({}) VALUES ({})").format(Identifier(table), columns, SQL(", ").join(texts))


def _value(table: str, column: str, value: Any) -> Any:
    """A value as the driver takes it: JSON stays JSON, and an array an array."""
    of_json = isinstance(value, dict | list) and not isinstance(metadata.tables[table].c[column].type, ARRAY)
    return Jsonb(value) if of_json else value


def changes(table: str, tenant_id: str, row: dict[str, Any]) -> list[Composed]:
    """An insert, an update of each column, and a delete, all of that tenant's rows."""
    where = SQL("WHERE {} = {}").format(Identifier(key(table)), Literal(tenant_id))
    columns = without_identity(row)
    updates = [SQL("UPDATE {} SET {c} = {c} {}").format(Identifier(table), where, c=Identifier(c)) for c in columns]
    return [copy_of(table, row), *updates, SQL("DELETE FROM {} {}").format(Identifier(table), where)]


def touched(connection: psycopg.Connection[Any], statement: Composed) -> int:
    """How many rows a statement reached; a refusal reaches none."""
    try:
        return connection.execute(statement).rowcount
    except REFUSED:
        return 0
