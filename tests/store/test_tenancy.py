"""INVARIANT 8: nothing of one tenant is readable or changeable by another, through any table, by either role."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.sql import SQL, Identifier, Literal

from store.policies import stored_bundle
from tests.conftest import MakeTenant
from tests.postgres import Postgres
from tests.store.rows import (
    TENANT_TABLES,
    Owner,
    as_tenant,
    changes,
    copy_of,
    key,
    one_row,
    touched,
)
from tests.store.world import Talk


@pytest.fixture
def app(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.app_url, autocommit=True) as connection:
        yield connection


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
        owned = SQL("SELECT count(*) FROM {} WHERE {} IS NOT NULL").format(Identifier(table), Identifier(key(table)))
        assert app.execute(owned).fetchone() == (0,), table
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
    never_given = born | {"external_id", "asked_at", "reminded_at", "escalated_at"}
    row = {c: v for c, v in stolen.items() if c not in never_given} | {"operation_id": f"op-{mine}"}
    as_tenant(app, mine)
    with pytest.raises(errors.ForeignKeyViolation):
        app.execute(copy_of("actions", row))


async def test_a_base_is_readable_whoever_asks_and_a_layer_by_its_tenant_alone(
    filled: str, talk: Talk, make_tenant: MakeTenant
) -> None:
    base = await stored_bundle(talk.db, make_tenant(), "test-bundle")
    assert base is not None
    assert (base.tenant_id, base.base_digest, base.base_files) == (None, None, None)
    layer = await stored_bundle(talk.db, filled, f"layer-{filled}")
    assert layer is not None
    assert (layer.tenant_id, layer.base_digest, layer.base_files) == (filled, "test-bundle", {})
    assert await stored_bundle(talk.db, make_tenant(), f"layer-{filled}") is None
    assert await stored_bundle(talk.db, filled, "never-published") is None
