"""INVARIANT 8: nothing of one tenant is readable or changeable by another, through any table, by either role."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg.types.json import Jsonb

from domain.principal import VerifiedPrincipal
from store.tables import metadata
from store.tenancy import bundle_files
from tests.conftest import MakeTenant
from tests.postgres import Postgres
from tests.store.world import Talk

Owner = psycopg.Connection[Any]

GLOBAL = {"policy_bundles", "legal_moves"}  # the same for all tenants: content by its digest, and the ledger's rules
TENANT_TABLES = sorted(set(metadata.tables) - GLOBAL)
REFUSED = (errors.InsufficientPrivilege, errors.RaiseException, errors.CheckViolation, errors.ForeignKeyViolation)
# What the relay may read: nothing that anybody wrote, and nothing that says who a customer is.
RELAY_READS = {
    "tenants": {"id", "kind"},
    "conversations": {
        *("id", "tenant_id", "owner", "owner_epoch", "version"),
        *("customer_seq", "answered_seq", "consumed_seq", "updated_at"),
    },
    "actions": {"operation_id", "tenant_id", "conversation_id", "state", "owner_epoch", "created_at", "sent_at"},
    "handoffs": {"id", "tenant_id", "conversation_id", "queue_status"},
    "outbox": {c.name for c in metadata.tables["outbox"].columns},
}


def key(table: str) -> str:
    return "id" if table == "tenants" else "tenant_id"


@pytest.fixture
def app(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.app_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def relay(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.relay_url, autocommit=True) as connection:
        yield connection


@pytest_asyncio.fixture(loop_scope="session")
async def filled(talk: Talk, owner: Owner, ann: VerifiedPrincipal) -> str:
    """A tenant with a row in every table; returns its id."""
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    await talk.take_over(ann)
    for statement in (
        "INSERT INTO customers (tenant_id, id) VALUES (%(t)s, 'c')",
        "INSERT INTO articles (tenant_id, slug, version, language, title, body) VALUES (%(t)s, 's', 1, 'en', 'T', 'B')",
        "INSERT INTO usage (tenant_id, day, measure, amount) VALUES (%(t)s, now(), 'turns', 1)",
        "INSERT INTO idempotency_keys (tenant_id, principal, key, request_digest) VALUES (%(t)s, 'p', 'k', 'd')",
    ):
        owner.execute(statement, {"t": talk.tenant})
    return talk.tenant


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
    texts = [Literal(Jsonb(v) if isinstance(v, dict | list) else v) for v in values.values()]
    columns = SQL(", ").join(Identifier(c) for c in values)
    return SQL("INSERT INTO {} ({}) VALUES ({})").format(Identifier(table), columns, SQL(", ").join(texts))


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


def test_every_tenant_table_has_row_level_security_with_a_policy(owner: Owner) -> None:
    guarded = {
        name
        for name, enabled, policies in owner.execute(
            "SELECT c.relname, c.relrowsecurity, (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)"
            " FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace"
        )
        if enabled and policies
    }
    assert guarded == set(TENANT_TABLES)


@pytest.mark.parametrize("role", ["app", "relay"])
def test_no_role_of_the_product_can_bypass_a_policy_or_owns_anything(role: str, postgres: Postgres) -> None:
    with psycopg.connect(getattr(postgres, f"{role}_url")) as connection:
        query = (
            "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
        )
        assert connection.execute(query).fetchone() == (False,)
        owned = "SELECT count(*) FROM pg_shdepend WHERE refobjid = current_user::regrole AND deptype = 'o'"
        assert connection.execute(owned).fetchone() == (0,)
        member = "SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole"
        assert connection.execute(member).fetchone() == (0,)


def test_no_tenant_set_means_no_rows(filled: str, owner: Owner, app: psycopg.Connection[Any]) -> None:
    for table in TENANT_TABLES:
        assert app.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone() == (0,), table
        for statement in changes(table, filled, one_row(owner, table, filled)):
            assert touched(app, statement) == 0, statement.as_string(app)


def test_rows_of_another_tenant_are_invisible_and_unwritable(
    filled: str, owner: Owner, app: psycopg.Connection[Any], make_tenant: MakeTenant
) -> None:
    as_tenant(app, make_tenant())
    for table in TENANT_TABLES:
        where = SQL("SELECT count(*) FROM {} WHERE {} = {}")
        count = where.format(Identifier(table), Identifier(key(table)), Literal(filled))
        assert app.execute(count).fetchone() == (0,), table
        before = one_row(owner, table, filled)
        for statement in changes(table, filled, before):
            assert touched(app, statement) == 0, statement.as_string(app)
        assert one_row(owner, table, filled) == before


def test_a_row_cannot_be_moved_to_another_tenant(
    filled: str, app: psycopg.Connection[Any], make_tenant: MakeTenant
) -> None:
    as_tenant(app, filled)
    elsewhere = Literal(make_tenant())
    for table in TENANT_TABLES:
        move = SQL("UPDATE {} SET {} = {}").format(Identifier(table), Identifier(key(table)), elsewhere)
        assert touched(app, move) == 0, table


def test_an_action_cannot_rest_on_evidence_of_another_tenant(
    filled: str, owner: Owner, app: psycopg.Connection[Any], make_tenant: MakeTenant
) -> None:
    mine = make_tenant()
    owner.execute(
        "INSERT INTO conversations (id, tenant_id, principal_kind, principal_id) VALUES (%s, %s, 'customer', 'c')",
        (f"conv-{mine}", mine),
    )
    stolen = one_row(owner, "actions", filled) | {"tenant_id": mine, "conversation_id": f"conv-{mine}"}
    born = {
        "state",
        "cause",
        "moves",
        "send_count",
        "reserved_at",
        "reserved_step",
        "sent_at",
        "last_sent_at",
        "settled_at",
    }
    row = {c: v for c, v in stolen.items() if c not in born | {"external_id"}} | {"operation_id": f"op-{mine}"}
    as_tenant(app, mine)
    with pytest.raises(errors.ForeignKeyViolation):
        app.execute(copy_of("actions", row))


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_the_relay_reads_identifiers_and_nothing_else(table: str, relay: psycopg.Connection[Any]) -> None:
    readable = set()
    for column in metadata.tables[table].columns:
        try:
            relay.execute(SQL("SELECT {} FROM {} LIMIT 1").format(Identifier(column.name), Identifier(table)))
        except errors.InsufficientPrivilege:
            continue
        readable.add(column.name)
    assert readable == RELAY_READS.get(table, set())


def test_the_relay_changes_nothing_but_what_became_of_a_delivery(
    filled: str, owner: Owner, relay: psycopg.Connection[Any]
) -> None:
    for table in TENANT_TABLES:
        allowed = {"delivered_at", "attempts", "next_attempt_at"} if table == "outbox" else set()
        for column in set(without_identity(one_row(owner, table, filled))) - allowed:
            with pytest.raises(errors.InsufficientPrivilege):
                relay.execute(SQL("UPDATE {} SET {c} = {c}").format(Identifier(table), c=Identifier(column)))
        with pytest.raises(errors.InsufficientPrivilege):
            relay.execute(SQL("DELETE FROM {}").format(Identifier(table)))


async def test_a_published_bundle_is_readable_whoever_asks(talk: Talk) -> None:
    assert await bundle_files(talk.db, "test-bundle") == {}
    assert await bundle_files(talk.db, "never-published") is None
