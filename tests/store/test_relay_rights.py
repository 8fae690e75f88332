"""INVARIANT 8: the relay reads identifiers of every tenant, nothing that anybody wrote, and marks deliveries alone."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.sql import SQL, Identifier

from store.tables import metadata
from tests.postgres import Postgres
from tests.store.rows import (
    TENANT_TABLES,
    Owner,
    one_row,
    without_identity,
)

# What the relay may read: nothing that anybody wrote, and nothing that says who a customer is.
RELAY_READS = {
    "tenants": {"id", "kind"},
    "conversations": {
        *("id", "tenant_id", "owner", "owner_epoch", "version"),
        *("customer_seq", "answered_seq", "consumed_seq", "updated_at"),
    },
    "actions": {"operation_id", "tenant_id", "conversation_id", "state", "owner_epoch", "created_at", "sent_at"},
    "handoffs": {"id", "tenant_id", "conversation_id", "queue_status"},
    "drafts": {"conversation_id", "state"},
    "outbox": {c.name for c in metadata.tables["outbox"].columns},
    "webhooks": {"tenant_id", "id", "active", "busy_until"},
    "webhook_deliveries": {c.name for c in metadata.tables["webhook_deliveries"].columns} - {"last_status"},
}

RELAY_CHANGES = {
    "outbox": {"delivered_at", "attempts", "next_attempt_at"},
    "webhooks": {"busy_until"},
    "webhook_deliveries": {"state", "attempts", "next_attempt_at", "settled_at", "last_status", "last_fault"},
}
RELAY_FORGETS = {"outbox", "webhook_deliveries"}  # only what is delivered


@pytest.fixture
def relay(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.relay_url, autocommit=True) as connection:
        yield connection


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
        for column in set(without_identity(one_row(owner, table, filled))) - RELAY_CHANGES.get(table, set()):
            with pytest.raises(errors.InsufficientPrivilege):
                relay.execute(SQL("UPDATE {} SET {c} = {c}").format(Identifier(table), c=Identifier(column)))
        if table not in RELAY_FORGETS:
            with pytest.raises(errors.InsufficientPrivilege):
                relay.execute(SQL("DELETE FROM {}").format(Identifier(table)))
