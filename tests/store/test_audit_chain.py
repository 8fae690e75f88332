"""Laws of the audit's chain, over a real database: whoever touches a row leaves a place at which it shows."""

import asyncio
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from auditing.exporting import export_tenant
from auditing.verifying import NotARow, Verified, verify_lines, verify_tenant
from domain.audit import GENESIS, AuditRow, hash_of
from domain.chain import Chain, FaultKind, Head
from store.database import Database
from store.policies import Plan, publications, publish_in
from store.record import audit_page
from tests.store.world import Talk

ROWS = 8
FORBIDDEN = "42501"
NOTE = sa.text("INSERT INTO audit (tenant_id, kind, actor, body) VALUES (:tenant, 'verdict', :actor, :body)")


async def write(db: Database, tenant: str, rows: int = ROWS) -> None:
    """One transaction for each row."""
    for number in range(rows):
        async with db.transaction(tenant) as tx:
            await tx.execute(NOTE, {"tenant": tenant, "actor": "bot:interlock", "body": f'{{"a note": "ä\n{number}"}}'})


async def verified(db: Database, tenant: str, anchors: dict[int, str] | None = None) -> Verified:
    return await verify_tenant(db, tenant, anchors or {}, lambda _: None)


async def faults(db: Database, tenant: str, anchors: dict[int, str] | None = None) -> list[tuple[int, FaultKind]]:
    return [(fault.n, fault.kind) for fault in (await verified(db, tenant, anchors)).faults]


async def rows_of(db: Database, tenant: str) -> list[AuditRow]:
    return list((await audit_page(db, tenant, 0)).rows)


@pytest.fixture
async def chain(db: Database, tenant: str) -> str:
    """A tenant with a chain of ROWS + 1 rows; the first is its publication."""
    await write(db, tenant)
    return tenant


async def test_what_the_ledger_did_is_on_record_and_whole(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id)
    found = await verified(talk.db, talk.tenant)
    assert (found.faults, found.first, found.rows) == ((), 1, found.head.n)
    kinds = {row.kind for row in await rows_of(talk.db, talk.tenant) if row.operation_id == operation_id}
    assert kinds == {"verdict", "move", "approval"}


async def test_the_recipe_is_the_database_s_own(db: Database, chain: str, owner: psycopg.Connection[Any]) -> None:
    rows = await rows_of(db, chain)
    before = GENESIS
    for row in rows:
        assert row.previous == before
        assert hash_of(row, before, row.n) == row.hash
        before = row.hash
    head = owner.execute("SELECT n, hash FROM audit_heads WHERE tenant_id = %s", (chain,)).fetchone()
    assert head == (ROWS + 1, before)


TAMPERED: dict[str, tuple[str, list[tuple[int, FaultKind]]]] = {
    "a body is edited": ("UPDATE audit SET body = '{}' WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "an actor is edited": ("UPDATE audit SET actor = 'staff:eve' WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "a time is edited": ("UPDATE audit SET at = at + interval '1us' WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "a kind is edited": ("UPDATE audit SET kind = 'staff' WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "an operation is edited": ("UPDATE audit SET operation_id = 'op' WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "a hash is edited": (
        "UPDATE audit SET hash = repeat('a', 64) WHERE {n} = 5",
        [(5, FaultKind.CHANGED), (6, FaultKind.CHANGED)],
    ),
    "a hash is taken away": ("UPDATE audit SET hash = NULL WHERE {n} = 5", [(5, FaultKind.CHANGED)]),
    "a row is dropped": ("DELETE FROM audit WHERE {n} = 5", [(5, FaultKind.MISSING)]),
    "several rows are dropped": ("DELETE FROM audit WHERE {n} IN (5, 6)", [(5, FaultKind.MISSING)]),
    "the first row is dropped": ("DELETE FROM audit WHERE {n} = 1", [(1, FaultKind.MISSING)]),
    "the end is cut off": ("DELETE FROM audit WHERE {n} > 7", [(8, FaultKind.MISSING)]),
    "everything is dropped": ("DELETE FROM audit WHERE {n} > 0", [(1, FaultKind.MISSING)]),
    "the head is set back": (
        "UPDATE audit_heads h SET n = 7, hash = (SELECT hash FROM audit WHERE {n} = 7) WHERE h.tenant_id = %(t)s",
        [(9, FaultKind.HEAD)],
    ),
    "the head is dropped": ("DELETE FROM audit_heads h WHERE h.tenant_id = %(t)s", [(9, FaultKind.HEAD)]),
}


@pytest.mark.parametrize("deed", TAMPERED)
async def test_what_the_owner_of_the_tables_does_shows_where_he_did_it(
    deed: str, db: Database, chain: str, owner: psycopg.Connection[Any]
) -> None:
    statement, due = TAMPERED[deed]
    owner.execute(statement.replace("{n}", "tenant_id = %(t)s AND n"), {"t": chain})
    assert await faults(db, chain) == due


async def test_rows_that_change_places_show(db: Database, chain: str, owner: psycopg.Connection[Any]) -> None:
    for n, to in ((4, -1), (5, 4), (-1, 5)):
        owner.execute("UPDATE audit SET n = %s WHERE tenant_id = %s AND n = %s", (to, chain, n))
    assert await faults(db, chain) == [(4, FaultKind.CHANGED), (5, FaultKind.CHANGED), (6, FaultKind.CHANGED)]


async def test_a_dropped_row_shows_though_the_others_close_up(
    db: Database, chain: str, owner: psycopg.Connection[Any]
) -> None:
    owner.execute("DELETE FROM audit WHERE tenant_id = %s AND n = 5", (chain,))
    for n in range(6, ROWS + 2):
        owner.execute("UPDATE audit SET n = n - 1 WHERE tenant_id = %s AND n = %s", (chain, n))
    missing = (ROWS + 1, FaultKind.MISSING)
    assert await faults(db, chain) == [(5, FaultKind.CHANGED), (6, FaultKind.MOVED), missing]


async def test_a_row_put_in_between_shows_though_it_has_the_right_hash(
    db: Database, chain: str, owner: psycopg.Connection[Any]
) -> None:
    for n in range(ROWS + 1, 4, -1):
        owner.execute("UPDATE audit SET n = n + 1 WHERE tenant_id = %s AND n = %s", (chain, n))
    fourth = (await rows_of(db, chain))[3]
    forged = fourth.model_copy(update={"n": 5, "body": '{"forged": true}'})
    put_in(owner, forged.model_copy(update={"hash": hash_of(forged, fourth.hash, 5)}))
    assert await faults(db, chain) == [(6, FaultKind.CHANGED), (7, FaultKind.MOVED), (10, FaultKind.HEAD)]


async def test_a_row_written_past_the_chain_shows(
    db: Database, chain: str, postgres: Any, owner: psycopg.Connection[Any]
) -> None:
    last = (await rows_of(db, chain))[-1]
    put_in(owner, last.model_copy(update={"n": last.n + 1, "hash": "f" * 64}))
    assert await faults(db, chain) == [(10, FaultKind.CHANGED), (10, FaultKind.HEAD)]
    owner.execute("UPDATE audit SET n = NULL, hash = NULL WHERE tenant_id = %s AND n = 10", (chain,))
    assert await faults(db, chain) == [(0, FaultKind.UNCHAINED)]


async def test_a_chain_forged_from_end_to_end_shows_against_what_was_noted(
    db: Database, chain: str, owner: psycopg.Connection[Any]
) -> None:
    rows = await rows_of(db, chain)
    noted = {rows[-1].n: rows[-1].hash}
    assert await faults(db, chain, noted) == []
    before = rows[3].hash
    for row in rows[4:]:
        forged = row.model_copy(update={"actor": "staff:eve"})
        before = hash_of(forged, before, row.n)
        values = ("staff:eve", before, chain, row.n)
        owner.execute("UPDATE audit SET actor = %s, hash = %s WHERE tenant_id = %s AND n = %s", values)
    owner.execute("UPDATE audit_heads SET hash = %s WHERE tenant_id = %s", (before, chain))
    assert await faults(db, chain) == []
    assert await faults(db, chain, noted) == [(rows[-1].n, FaultKind.ANCHOR)]
    assert await faults(db, chain, {99: "a" * 64}) == [(99, FaultKind.ANCHOR)]


async def test_an_export_is_verified_without_the_database(db: Database, chain: str) -> None:
    lines: list[str] = []
    told = await export_tenant(db, chain, None, lines.append, lambda _: None)
    assert (told.rows, told.head) == (ROWS + 1, (await verified(db, chain)).head)
    assert verify(lines) == []
    assert verify(lines, {told.head.n: told.head.hash}) == []
    assert verify(lines[4:], {4: (await rows_of(db, chain))[3].hash}) == []
    assert verify(lines[4:], {4: "a" * 64}) == [(4, FaultKind.ANCHOR)]
    assert verify(lines[:-1], {told.head.n: told.head.hash}) == [(told.head.n, FaultKind.ANCHOR)]
    assert verify([*lines[:4], *lines[5:]])[0] == (5, FaultKind.MISSING)
    assert verify([*lines[:5], *lines[4:]]) == [(5, FaultKind.REPEATED)]
    with pytest.raises(NotARow, match="line 2 is no row of the audit"):
        verify([lines[0], lines[1][:-20]])


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_export_with_any_field_changed_is_not_whole(data: st.DataObject) -> None:
    rows, before = [], GENESIS
    for n in range(1, 6):
        bare = AuditRow(
            tenant_id="t", n=n, at=f"2026-01-01T00:00:0{n}.000000Z", kind="move", actor="bot:x", conversation_id=None,
            operation_id="op", body=f'{{"n": {n}}}', previous=before, hash="",
        )  # fmt: skip
        before = hash_of(bare, before, n)
        rows.append(bare.model_copy(update={"hash": before}))
    place = data.draw(st.integers(0, 4))
    name = data.draw(st.sampled_from([name for name in AuditRow.model_fields if name not in ("n", "tenant_id")]))
    other = data.draw(st.text(st.characters(codec="utf-8"), max_size=80).filter(lambda text: text.strip("0") != ""))
    value = getattr(rows[place], name)
    changed = rows[place].model_copy(update={name: other if other != value else other + "x"})
    walk = Chain("t", {})
    found = [f for row in (*rows[:place], changed, *rows[place + 1 :]) for f in walk.walk(row)]
    found += walk.end(Head(n=5, hash=before))
    assert {fault.n for fault in found} & {place + 1, place + 2}


async def test_transactions_at_once_chain_without_a_gap(db: Database, tenant: str) -> None:
    async def several(number: int) -> None:
        async with db.transaction(tenant) as tx:
            for part in range(3):
                note = {"tenant": tenant, "actor": f"staff:{number}", "body": f'{{"part": {part}}}'}
                await tx.execute(NOTE, note)
                await asyncio.sleep(0)

    await asyncio.gather(*(several(number) for number in range(40)))
    found = await verified(db, tenant)
    assert (found.faults, found.rows, found.head.n) == ((), 121, 121)
    actors = [row.actor for row in await rows_of(db, tenant)][1:]
    assert all(len(set(actors[n : n + 3])) == 1 for n in range(0, 120, 3)), "a transaction's rows stand together"


def test_a_tenant_has_its_head_from_the_beginning(owner: psycopg.Connection[Any]) -> None:
    owner.execute("INSERT INTO tenants (id, name, kind) VALUES ('just-made', 'x', 'saas')")
    (head,) = owner.execute("SELECT n, hash FROM audit_heads WHERE tenant_id = 'just-made'").fetchall()
    assert head == (0, GENESIS)


async def test_whoever_publishes_keeps_no_verdict_from_being_recorded(db: Database, tenant: str) -> None:
    """Neither at the first row nor later: the two lock in one order."""
    seen = (await publications(db, tenant))[0].n
    async with db.transaction(tenant) as tx:
        await publish_in(tx, tenant, Plan(seen=seen, terms=()), "staff:mia", None)
        await asyncio.wait_for(write(db, tenant, 1), timeout=5)
    assert (await verified(db, tenant)).faults == ()


async def test_what_is_rolled_back_leaves_no_gap(db: Database, chain: str) -> None:
    async with db.transaction(chain) as tx:
        await tx.execute(NOTE, {"tenant": chain, "actor": "x", "body": "{}"})
        await tx.execute(sa.text("ROLLBACK"))
    await write(db, chain, 1)
    assert (await verified(db, chain)).faults == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET body = '{}'",
        "UPDATE audit SET n = 1",
        "UPDATE audit SET hash = ''",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "UPDATE audit_heads SET n = 0",
        "DELETE FROM audit_heads",
        "INSERT INTO audit_heads VALUES (:t, 0, '')",
        "INSERT INTO audit (tenant_id, kind, actor, body, n) VALUES (:t, 'move', 'x', '{}', 1)",
        "INSERT INTO audit (tenant_id, kind, actor, body, hash) VALUES (:t, 'move', 'x', '{}', '')",
        "INSERT INTO audit (tenant_id, kind, actor, body, at) VALUES (:t, 'move', 'x', '{}', now())",
        "INSERT INTO audit (tenant_id, kind, actor, body) VALUES ('another', 'verdict', 'x', '{}')",
        "INSERT INTO audit (tenant_id, kind, actor, body) VALUES (:t, 'move', 'x', '{}')",
        "INSERT INTO audit (tenant_id, kind, actor, body) VALUES (:t, 'switch', 'staff:mia', '{}')",
        "INSERT INTO audit (tenant_id, kind, actor, body) VALUES (:t, 'publication', 'staff:mia', '{}')",
        "ALTER TABLE audit DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
    ],
)
async def test_the_product_s_own_role_can_only_add_verdicts(statement: str, db: Database, chain: str) -> None:
    with pytest.raises(DBAPIError) as raised:
        async with db.transaction(chain) as tx:
            await tx.execute(sa.text(statement), {"t": chain} if ":t" in statement else {})
    assert isinstance(raised.value.orig, psycopg.Error)
    assert raised.value.orig.sqlstate == FORBIDDEN
    assert (await verified(db, chain)).faults == ()


async def test_nobody_reads_another_tenant_s_audit(db: Database, chain: str, make_tenant: Any) -> None:
    async with db.transaction(make_tenant()) as tx:
        assert (
            await tx.execute(sa.text("SELECT count(*) FROM audit WHERE tenant_id = :t"), {"t": chain})
        ).scalar() == 0


def verify(lines: list[str], anchors: dict[int, str] | None = None) -> list[tuple[int, FaultKind]]:
    tenant = AuditRow.model_validate_json(lines[0]).tenant_id
    found = verify_lines([line.encode() for line in lines], tenant, anchors or {}, lambda _: None)
    return [(fault.n, fault.kind) for one in found for fault in one.faults]


def put_in(owner: psycopg.Connection[Any], row: AuditRow) -> None:
    """Write a row with its number and hash, as only who disables the triggers can."""
    with owner.transaction():
        owner.execute("ALTER TABLE audit DISABLE TRIGGER audit_chained")
        owner.execute(
            "INSERT INTO audit (tenant_id, n, at, kind, actor, body, hash) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (row.tenant_id, row.n, row.at, row.kind, row.actor, row.body, row.hash),
        )
        owner.execute("ALTER TABLE audit ENABLE TRIGGER audit_chained")
