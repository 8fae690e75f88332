"""What happened stays: the log, the ledger's history and evidence only ever grow; no row is born in progress."""

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from domain.action import ActionState
from domain.principal import VerifiedPrincipal
from store.tables import metadata
from tests.store.world import Talk


async def refused(talk: Talk, statement: str, **values: object) -> str:
    """The SQLSTATE with which the product's own role is refused."""
    with pytest.raises(DBAPIError) as raised:
        async with talk.db.transaction(talk.tenant) as tx:
            await tx.execute(sa.text(statement), values)
    assert isinstance(raised.value.orig, psycopg.Error)
    return str(raised.value.orig.sqlstate)


FORBIDDEN, VIOLATED, NO_SUCH_MOVE, TAKEN = "42501", "23514", "23503", "23505"


@pytest.mark.parametrize("table", ["events", "transitions", "evidence", "ownership_requests"])
async def test_history_is_neither_changed_nor_deleted(table: str, talk: Talk) -> None:
    await talk.claimed()
    assert await refused(talk, f"DELETE FROM {table}") == FORBIDDEN
    for column in metadata.tables[table].columns:
        assert await refused(talk, f"UPDATE {table} SET {column.name} = {column.name}") == FORBIDDEN


@pytest.mark.parametrize("column", ["state", "cause", "settled_at", "moves", "payload", "payload_digest"])
async def test_an_action_is_not_moved_except_by_a_transition(column: str, talk: Talk) -> None:
    await talk.proposed()
    assert await refused(talk, f"UPDATE actions SET {column} = {column}") == FORBIDDEN


@pytest.mark.parametrize("column", ["version", "customer_seq", "updated_at", "principal_id", "tenant_id"])
async def test_the_log_alone_numbers_and_dates_a_conversation(column: str, talk: Talk) -> None:
    assert await refused(talk, f"UPDATE conversations SET {column} = {column}") == FORBIDDEN


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("actions", "state"),
        ("actions", "send_count"),
        ("actions", "settled_at"),
        ("approvals", "consumed_at"),
        ("approvals", "voided_at"),
        ("conversations", "answered_seq"),
        ("conversations", "owner_epoch"),
    ],
)
async def test_no_row_is_born_in_progress(table: str, column: str, talk: Talk) -> None:
    assert await refused(talk, f"INSERT INTO {table} ({column}) VALUES (NULL)") == FORBIDDEN


@pytest.mark.parametrize("to_state", ["confirmed", "unknown", "proposed", "done"])
async def test_an_illegal_move_is_refused(to_state: str, talk: Talk) -> None:
    operation_id = await talk.proposed()
    statement = (
        "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
        " VALUES (:t, :o, 0, 'awaiting_approval', :s, 'x', 'x')"
    )
    state = await refused(talk, statement, t=talk.tenant, o=operation_id, s=to_state)
    assert state in (VIOLATED, NO_SUCH_MOVE)
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_a_move_from_where_the_action_is_not_is_refused(talk: Talk) -> None:
    operation_id = await talk.proposed()
    statement = (
        "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
        " VALUES (:t, :o, 0, 'submitted', 'confirmed', 'succeeded', 'x')"
    )
    assert await refused(talk, statement, t=talk.tenant, o=operation_id) == VIOLATED


async def test_a_settled_action_never_moves_again(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id)
    for to_state in ("submitted", "unknown", "rejected", "awaiting_approval"):
        statement = (
            "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
            " VALUES (:t, :o, 0, 'confirmed', :s, 'refused', 'x')"
        )
        state = await refused(talk, statement, t=talk.tenant, o=operation_id, s=to_state)
        assert state in (VIOLATED, NO_SUCH_MOVE)
    assert (await talk.action(operation_id)).state is ActionState.CONFIRMED


@pytest.mark.parametrize("change", ["owner = 'human'", "owner_epoch = owner_epoch + 2", "owner_epoch = 0"])
async def test_the_owner_changes_only_with_the_epoch_and_by_one(change: str, talk: Talk) -> None:
    assert await refused(talk, f"UPDATE conversations SET {change} WHERE id = '{talk.id}'") == VIOLATED


async def test_the_holder_changes_only_with_the_epoch(talk: Talk, ann: VerifiedPrincipal) -> None:
    await talk.take_over(ann)
    assert await refused(talk, "UPDATE conversations SET holder = 'ben'") == VIOLATED


async def test_nobody_speaks_in_a_conversation_that_is_not_theirs(talk: Talk, ann: VerifiedPrincipal) -> None:
    speak = (
        "INSERT INTO events (tenant_id, conversation_id, kind, actor, body) VALUES (:t, :id, :kind, 'x', '{}'::jsonb)"
    )
    assert await refused(talk, speak, t=talk.tenant, id=talk.id, kind="staff_reply") == VIOLATED
    await talk.take_over(ann)
    assert await refused(talk, speak, t=talk.tenant, id=talk.id, kind="bot_reply") == VIOLATED
    assert await refused(talk, speak, t=talk.tenant, id=talk.id, kind="proposal") == VIOLATED


async def test_answered_and_consumed_never_go_back(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    for column in ("answered_seq", "consumed_seq"):
        assert await refused(talk, f"UPDATE conversations SET {column} = 0") == VIOLATED


SUBMIT = (
    "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
    " VALUES (:t, :o, 0, 'awaiting_approval', 'submitted', 'reserved', 'x')"
)
APPROVE_LATE = (
    "INSERT INTO approvals (tenant_id, operation_id, approver, role, decision, payload_digest, policy_digest,"
    " evidence_digest, decided_at, expires_at) SELECT tenant_id, operation_id, 'customer:c', 'customer', 'approve',"
    " payload_digest, policy_digest, evidence_digest, expires_at, expires_at FROM actions WHERE operation_id = :o"
)


@pytest.mark.parametrize("state", ["submitted", "unknown"])
async def test_a_resource_in_flight_is_not_taken_twice_whoever_asks(state: str, talk: Talk) -> None:
    await (talk.claimed() if state == "submitted" else talk.unknown())
    waiting = await (await talk.beside()).proposed()
    assert await refused(talk, SUBMIT, t=talk.tenant, o=waiting) == TAKEN


async def test_an_approval_that_has_run_out_is_neither_given_nor_used(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await refused(talk, "UPDATE approvals SET consumed_at = expires_at") == VIOLATED
    assert await refused(talk, APPROVE_LATE, o=operation_id) == VIOLATED


async def test_an_approval_is_used_once(talk: Talk) -> None:
    await talk.reserved()
    assert await refused(talk, "UPDATE approvals SET consumed_at = NULL") == VIOLATED
    assert await refused(talk, "UPDATE approvals SET voided_at = now()") == VIOLATED
