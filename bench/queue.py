"""`python -m bench.queue [--json FILE] [--quick]`: how long one look at the queue takes, and Postgres' plans.

Ten thousand conversations, two thousand of them with an open handoff, in a database of its own: a page as the api makes
it from a board that it has, from one made after a change, and from the first; a customer's look at their place, and
staff's look at one conversation. Without the wire.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from bench.figures import Figures, circumstances, percentile_ms, report
from bench.queue_world import CONVERSATIONS, HANDOFFS, TENANT, fill
from bench.scratch import Urls, scratch_database
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from gateway.boards import Boards
from gateway.conversation_shapes import shown_to_staff
from gateway.hub import Hub
from gateway.queue_shapes import QueueFilters
from gateway.queueing import page_of
from policy.desk.estimate import WINDOW_S
from seeding.desks import give_desks
from seeding.tenants import provision
from store.database import Database
from store.listening import listening
from store.pipeline import Asked, Row
from store.queue import look
from store.staff_view import staff_view
from store.waiting_place import standing_place

LOOKS, LOOKS_QUICK, WARM = 60, 6, 3
STAFF = VerifiedPrincipal(tenant_id=TENANT, kind=PrincipalKind.STAFF, id="agent-1", role=StaffRole.AGENT)


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.queue", description="Measure looks at the queue.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--plans", action="store_true", help="also print how Postgres runs the slowest statements")
    parser.add_argument("--quick", action="store_true", help="a tenth of the looks: a look, not a measurement")
    asked = parser.parse_args()
    with scratch_database() as urls:
        figures = circumstances() | asyncio.run(
            _measure(urls, LOOKS_QUICK if asked.quick else LOOKS, plans=asked.plans)
        )
    report(figures, asked.json)
    return 0


async def _measure(urls: Urls, looks: int, *, plans: bool) -> Figures:
    owner, db = Database(urls.owner, 1), Database(urls.app, 2)
    world = {"tenants": [{"id": TENANT, "kind": "marketplace"}]}
    try:
        await provision(owner, world)
        await give_desks(db, world)
        fill(urls)
        if plans:
            await _print_plans(urls.app)
        figures: Figures = {"conversations": CONVERSATIONS, "open_handoffs": HANDOFFS, "looks": looks}
        for name, look in _looks(db).items():
            figures |= await _timed(name, look, looks)
        return figures
    finally:
        await owner.close()
        await db.close()


def _looks(db: Database) -> dict[str, Callable[[], Awaitable[object]]]:
    customer = STAFF.model_copy(update={"kind": PrincipalKind.CUSTOMER, "role": None, "id": "customer-1999"})
    deaf, now = Hub(partial(listening, db), 1), datetime.now(UTC)  # hears nothing, so every look is at a new board
    first = partial(Boards, partial(look, db), deaf, lambda: now)
    kept, changed = first(clock=lambda: 0.0), first(clock=count(0, 60).__next__)

    def page(boards: Boards, **wanted: Any) -> Awaitable[object]:
        return page_of(db, boards, STAFF, QueueFilters(**wanted), now)

    async def one() -> object:
        return shown_to_staff(await staff_view(db, STAFF, "c1999", now), now)

    return {
        "first_page": lambda: page(first(), limit=50),
        "page_after_change": lambda: page(changed, limit=50),
        "page_of_50": lambda: page(kept, limit=50),
        "page_of_200": lambda: page(kept),
        "page_for_me": lambda: page(kept, limit=50, for_me="me"),
        "page_by_language": lambda: page(kept, limit=50, language="de"),
        "page_by_tag": lambda: page(kept, limit=50, tag="refund_request"),
        "waiting": lambda: standing_place(db, customer, "c1999", now - timedelta(seconds=WINDOW_S)),
        "conversation": one,
    }


async def _timed(name: str, look: Callable[[], Awaitable[object]], count: int) -> Figures:
    """Return the time of a look, and what of it the api's side computes: that does not grow with what else runs."""
    whole, computed = [], []
    for _ in range(count + WARM):
        began_at, used_s = time.perf_counter(), time.process_time()
        await look()
        whole.append(time.perf_counter() - began_at)
        computed.append(time.process_time() - used_s)
    return {
        f"{name}_p50_ms": percentile_ms(whole[WARM:], 0.5),
        f"{name}_p95_ms": percentile_ms(whole[WARM:], 0.95),
        f"{name}_processor_ms": percentile_ms(computed[WARM:], 0.5),
    }


class _Noting(Database):
    """Notes what it is asked."""

    asked: list[Asked]

    async def at_once(self, tenant_id: str, *asked: Asked) -> list[list[Row]]:
        self.asked += asked
        return await super().at_once(tenant_id, *asked)


async def _print_plans(url: str) -> None:
    """Print how Postgres runs each statement of a look at the queue, and of a waiting customer's."""
    db = _Noting(url, 1)
    db.asked = []
    for name in ("first_page", "page_by_tag", "waiting"):
        await _looks(db)[name]()
    async with db.transaction(TENANT) as tx:
        connection = (await tx.get_raw_connection()).driver_connection
        assert isinstance(connection, AsyncConnection)
        for statement, values in db.asked:
            sql = statement.sql(tx.dialect)
            print(f"\n-- {' '.join(sql.decode().split())[:300]}")
            plan = await connection.execute(b"EXPLAIN (ANALYZE, COSTS OFF) " + sql, statement.parameters(values))
            for (line,) in await plan.fetchall():
                print(line)
    await db.close()


if __name__ == "__main__":
    sys.exit(main())
