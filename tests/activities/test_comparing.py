"""Laws of comparing whole books: one tenant's trouble is its own, a restore lifts only its own hold, no loop ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from activities.comparing import FIRST_AFTER_S, Comparing
from domain.fault import OperationalFault, Unreachable
from store import tables as t
from store.database import Database
from store.switches import turn
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET, SAAS

SINCE = datetime(2026, 11, 1, tzinfo=UTC)


def effect(operation_id: str | None = None, **other: object) -> dict[str, object]:
    told = {
        "id": f"re_{uuid4().hex[:8]}",
        "operation_id": operation_id or f"op-{uuid4().hex[:8]}",
        "kind": "refund",
        "resource": "A-1",
        "resource_kind": "order",
        "amount_minor": 500,
        "currency": "EUR",
        "at": SINCE.isoformat(),
    }
    return {**told, **other}


@dataclass
class Books:
    """A business system whose effects are what a law says; a fault is raised instead."""

    effects: dict[str, list[dict[str, object]] | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def effects_since(self, tenant_id: str, since: datetime) -> list[dict[str, object]]:
        self.asked.append(tenant_id)
        found = self.effects.get(tenant_id, [])
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
async def relay_db(database: Postgres) -> AsyncIterator[Database]:
    opened = Database(database.relay_url, 2)
    yield opened
    await opened.close()


@pytest.fixture
def books() -> Books:
    return Books()


@pytest.fixture
async def comparing(db: Database, relay_db: Database, books: Books) -> Comparing:
    for tenant in (MARKET, SAAS):
        await turn(db, tenant, None, stopped=False, by="staff:mia", why="a fresh start")
    return Comparing(db, relay_db, books)


async def held(db: Database) -> set[str]:
    found = set()
    for tenant in (MARKET, SAAS):
        async with db.transaction(tenant) as tx:
            if (await tx.execute(sa.select(t.tenants.c.dispatch_halted))).scalar_one():
                found.add(tenant)
    return found


MALFORMED: tuple[dict[str, Any], ...] = (
    {"operation_id": "op"},
    effect(amount_minor="much"),
    effect(at="yesterday"),
    effect(resource_kind=None),
)


@pytest.mark.parametrize("malformed", MALFORMED)
async def test_one_effect_that_is_not_understood_is_a_fault_of_its_tenant_alone(
    malformed: dict[str, object], comparing: Comparing, books: Books, db: Database
) -> None:
    twice = [effect(ident := f"op-{uuid4().hex}"), effect(ident)]
    books.effects = {min(MARKET, SAAS): [effect(), malformed], max(MARKET, SAAS): twice}
    with pytest.raises(OperationalFault, match="effects_not_understood") as fault:
        await comparing.compare_all(SINCE)
    assert fault.value.__cause__ is None
    assert await held(db) == {max(MARKET, SAAS)}  # the other tenant's books were compared


async def test_a_restore_lifts_its_own_hold_only_where_nothing_differs(
    comparing: Comparing, books: Books, db: Database
) -> None:
    books.effects = {MARKET: [effect()]}  # of nobody, as far as the ledger remembers
    compared = await comparing.after_restore(SINCE)
    assert [len(c.differences) for c in sorted(compared, key=lambda c: c.tenant_id)] == [1, 0]
    assert await held(db) == {MARKET}


async def test_a_restore_leaves_the_holds_of_others(comparing: Comparing, db: Database) -> None:
    await turn(db, MARKET, None, stopped=True, by="staff:mia", why="somebody's own hold")
    await comparing.after_restore(SINCE)
    assert await held(db) == {MARKET}


async def test_a_restore_keeps_on_hold_what_could_not_be_compared(
    comparing: Comparing, books: Books, db: Database
) -> None:
    books.effects = {SAAS: Unreachable("shop_unreachable")}
    with pytest.raises(Unreachable):
        await comparing.after_restore(SINCE)
    assert await held(db) == {SAAS}


async def test_a_defect_is_told_by_its_type_and_does_not_end_the_loop(comparing: Comparing, books: Books) -> None:
    books.effects = dict.fromkeys((MARKET, SAAS), ZeroDivisionError("zebulon owes 500"))
    with capture_logs() as logs:
        loop = asyncio.create_task(comparing.run(first_after_s=0, interval_s=0.01))
        async with asyncio.timeout(10):
            while len(books.asked) < 3:  # noqa: ASYNC110  a loop without an end has no event for it
                await asyncio.sleep(0.01)
        books.effects = {}
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop
    told = [entry for entry in logs if entry["event"] == "books.not_compared"]
    assert {(e["log_level"], e["fault"]) for e in told} == {("error", "ZeroDivisionError")}
    assert "zebulon" not in str(logs)


async def test_a_defect_in_one_tenants_books_leaves_the_others_compared(
    comparing: Comparing, books: Books, db: Database
) -> None:
    first, last = sorted((MARKET, SAAS))
    books.effects = {first: ZeroDivisionError(), last: [effect(ident := f"op-{uuid4().hex}"), effect(ident)]}
    with pytest.raises(ZeroDivisionError):
        await comparing.compare_all(SINCE)
    assert await held(db) == {last}


async def test_a_worker_that_has_just_started_compares_nothing_yet(comparing: Comparing, books: Books) -> None:
    loop = asyncio.create_task(comparing.run())
    await asyncio.sleep(0.1)
    loop.cancel()
    with suppress(asyncio.CancelledError):
        await loop
    assert books.asked == []
    assert FIRST_AFTER_S >= 120
