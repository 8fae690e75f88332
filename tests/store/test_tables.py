"""The page that the code reads its tables from equals the migrated database, and so do the legal moves."""

from typing import Any

import psycopg
import pytest
from sqlalchemy import BigInteger, Boolean, Date, DateTime, Integer, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from domain.action import LEGAL_MOVES, ActionState
from store.migrate import head, migrate
from store.tables import metadata
from tests.postgres import Postgres

Owner = psycopg.Connection[Any]

TYPES = {
    "text": Text,
    "integer": Integer,
    "bigint": BigInteger,
    "boolean": Boolean,
    "date": Date,
    "timestamp with time zone": DateTime,
    "jsonb": JSONB,
    "uuid": Uuid,
    "ARRAY": ARRAY,
    "USER-DEFINED": ARRAY,  # a vector of pgvector, where the server has it
    "tsvector": TSVECTOR,
}


def migrated_tables(owner: Owner) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    query = "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
    for table, column, kind in owner.execute(query):
        found.setdefault(table, {})[column] = kind
    found.pop("alembic_version")
    return found


def test_every_table_is_known_to_the_code(owner: Owner) -> None:
    assert set(migrated_tables(owner)) == set(metadata.tables)


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_the_columns_are_those_of_the_database(table: str, owner: Owner) -> None:
    found = migrated_tables(owner)[table]
    known = metadata.tables[table].columns
    assert {c.name for c in known} == set(found)
    assert {c.name: TYPES[found[c.name]] for c in known} == {c.name: type(c.type) for c in known}


def test_the_database_knows_the_same_legal_moves(owner: Owner) -> None:
    moves = {(a, b) for a, b in owner.execute("SELECT from_state, to_state FROM legal_moves")}
    assert moves == {(a.value, b.value) for a, b in LEGAL_MOVES} | {("", ActionState.PROPOSED.value)}


def test_every_function_that_runs_as_the_owner_fixes_its_search_path(owner: Owner) -> None:
    query = "SELECT proname, proconfig FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace"
    functions = dict(owner.execute(query).fetchall())
    audits = {"chain_audit", *(f"audit_{what}" for what in ("move", "approval", "publication", "switch", "staff"))}
    assert set(functions) == {"number_event", "move_action", "outbox_lag", "begin_audit"} | audits | {
        "deliver_event",
        "deliver_tag",
    }
    assert all(config == ["search_path=pg_catalog, public, pg_temp"] for config in functions.values())


def test_migrating_again_changes_nothing(postgres: Postgres, owner: Owner) -> None:
    before = migrated_tables(owner)
    assert migrate(postgres.owner_url, postgres.app_url, postgres.relay_url) == head()
    assert migrated_tables(owner) == before
