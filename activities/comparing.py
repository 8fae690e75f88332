"""Reconciliation of whole books: every tenant's ledger beside its business system, every hour and on demand.

Each difference becomes a case with a person; a violated invariant stops that tenant's dispatch.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from domain.base import Noun
from domain.fault import OperationalFault
from store.comparison import Difference, Effect, all_tenants, compare, hold_dispatch, named_by, open_cases, sent_since
from store.database import Database
from store.faults import passes

log = structlog.get_logger()

INTERVAL_S = 3_600.0
CLOCK_MARGIN = timedelta(hours=1)  # effects from a little earlier, so that two clocks need not agree
LOOK_BACK = timedelta(hours=26)  # more than a day, so that an hour that was missed is looked at again


class EffectsOf(Protocol):
    """What can list the committed effects of a business system."""

    async def effects_since(self, tenant_id: str, since: datetime) -> list[dict[str, object]]:
        """Return a tenant's effects since then. Raises Unreachable."""
        ...


class Compared(Noun):
    """What one comparison of one tenant found."""

    tenant_id: str
    effects: int
    actions: int
    differences: tuple[Difference, ...]
    new_cases: int


class Comparing:
    """Holds both books."""

    def __init__(self, db: Database, relay_db: Database, business: EffectsOf) -> None:
        self._db = db
        self._relay_db = relay_db
        self._business = business

    async def compare_all(self, since: datetime) -> list[Compared]:
        """Compare every tenant's books since then. Raises Unreachable when the business system does not answer."""
        return [await self.compare_tenant(tenant, since) for tenant in await all_tenants(self._relay_db)]

    async def compare_tenant(self, tenant_id: str, since: datetime) -> Compared:
        """Compare one tenant's books and open its cases."""
        sent = await sent_since(self._db, tenant_id, since)
        effects = [_effect(e) for e in await self._business.effects_since(tenant_id, since - CLOCK_MARGIN)]
        found = compare(sent, effects, await named_by(self._db, tenant_id, effects))
        new = await open_cases(self._db, tenant_id, found) if found else 0
        for difference in found:
            log.warning("books.differed", tenant_id=tenant_id, **difference.model_dump(mode="json"))
        return Compared(
            tenant_id=tenant_id, effects=len(effects), actions=len(sent), differences=tuple(found), new_cases=new
        )

    async def after_restore(self, since: datetime) -> list[Compared]:
        """After a restore of Postgres: hold every tenant, ask for the effects it has forgotten, then let go on.

        A tenant whose books violate an invariant stays on hold. Raises Unreachable with everything still on hold.
        """
        tenants = await all_tenants(self._relay_db)
        for tenant in tenants:
            await hold_dispatch(self._db, tenant, held=True)
        compared = [await self.compare_tenant(tenant, since) for tenant in tenants]
        for books in compared:
            if not any(d.violates for d in books.differences):
                await hold_dispatch(self._db, books.tenant_id, held=False)
        return compared

    async def run(self) -> None:
        """Compare every hour until cancelled; what cannot be reached now is looked at an hour later."""
        while True:
            try:
                await self.compare_all(datetime.now(UTC) - LOOK_BACK)
            except OperationalFault as fault:
                log.warning("books.not_compared", fault=fault.code)
            except Exception as fault:
                if not passes(fault):
                    raise
                log.warning("books.not_compared", fault=type(fault).__name__)
            await asyncio.sleep(INTERVAL_S)


def _effect(told: dict[str, object]) -> Effect:
    return Effect.model_validate(
        {
            "operation_id": told["operation_id"],
            "external_id": told["id"],
            "kind": told["kind"],
            "resource": told["resource"],
            "amount_minor": told["amount_minor"],
            "currency": told["currency"],
            "at": told["at"],
        }
    )
