"""Reconciliation of whole books: every tenant's ledger beside its business system, every hour and on demand.

Each difference becomes a case with a person; a violated invariant stops that tenant's dispatch.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from domain.base import Noun
from domain.fault import OperationalFault
from store.comparison import Difference, Effect, all_tenants, compare, named_by, open_cases, sent_since
from store.database import Database
from store.faults import passes
from store.switches import turn

log = structlog.get_logger()

INTERVAL_S = 3_600.0
FIRST_AFTER_S = 300.0  # not at once: a worker that is started again and again must not ask for a day each time
CLOCK_MARGIN = timedelta(hours=1)  # effects from a little earlier, so that two clocks need not agree
_RESTORER = "restore:interlock"
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
        """Compare every tenant's books since then. Raises, after all others were, when one could not be compared."""
        return _all_of(await self._each(await all_tenants(self._relay_db), since))

    async def _each(
        self, tenants: list[str], since: datetime, own_holds: frozenset[str] = frozenset()
    ) -> tuple[list[Compared], list[Exception]]:
        """Compare tenant by tenant, and lift an own hold where nothing differs; one tenant's fault stops no other."""
        compared: list[Compared] = []
        faults: list[Exception] = []
        for tenant in tenants:
            try:
                books = await self.compare_tenant(tenant, since)
                if tenant in own_holds and not books.differences:
                    await self._hold(tenant, held=False, why="the books agree after the restore")
                compared.append(books)
            except Exception as fault:  # noqa: BLE001  it is told here, and kept for whoever asked
                _tell(fault, tenant_id=tenant)
                faults.append(fault)
        return compared, faults

    async def compare_tenant(self, tenant_id: str, since: datetime) -> Compared:
        """Compare one tenant's books and open its cases. Raises OperationalFault when they cannot be read."""
        sent = await sent_since(self._db, tenant_id, since)
        effects = _effects(await self._business.effects_since(tenant_id, since - CLOCK_MARGIN))
        found = compare(sent, effects, await named_by(self._db, tenant_id, effects))
        new = await open_cases(self._db, tenant_id, found) if found else 0
        for difference in found:
            log.warning("books.differed", tenant_id=tenant_id, **difference.model_dump(mode="json"))
        return Compared(
            tenant_id=tenant_id, effects=len(effects), actions=len(sent), differences=tuple(found), new_cases=new
        )

    async def after_restore(self, since: datetime) -> list[Compared]:
        """After a restore of Postgres: hold every tenant, ask for the effects it has forgotten, then let go on.

        A tenant stays on hold where anything differs, or where it was on hold before. Raises OperationalFault with
        those on hold that could not be compared: from then on nothing tells that hold from anybody else's.
        """
        tenants = await all_tenants(self._relay_db)
        why = "Postgres was restored: its books are compared first"
        own = frozenset([tenant for tenant in tenants if await self._hold(tenant, held=True, why=why)])
        return _all_of(await self._each(tenants, since, own))

    async def _hold(self, tenant_id: str, *, held: bool, why: str) -> bool:
        return await turn(self._db, tenant_id, None, stopped=held, by=_RESTORER, why=why)

    async def run(self, first_after_s: float = FIRST_AFTER_S, interval_s: float = INTERVAL_S) -> None:
        """Compare every hour until cancelled; what fails now, for whatever reason, is looked at an hour later.

        A defect here is said loudly and ends nothing: the worker carries on with the conversations of all tenants.
        """
        await asyncio.sleep(first_after_s)
        while True:
            try:
                await self._each(await all_tenants(self._relay_db), datetime.now(UTC) - LOOK_BACK)
            except Exception as fault:  # noqa: BLE001  the tenants themselves could not be read
                _tell(fault)
            await asyncio.sleep(interval_s)


def _all_of(found: tuple[list[Compared], list[Exception]]) -> list[Compared]:
    compared, faults = found
    if faults:
        raise faults[0]
    return compared


def _tell(fault: Exception, **where: str) -> None:
    """Say that books were not compared, and why: by a label or a type, since a message may hold what was read."""
    expected = isinstance(fault, OperationalFault) or passes(fault)
    why = fault.code if isinstance(fault, OperationalFault) else type(fault).__name__
    (log.warning if expected else log.error)("books.not_compared", fault=why, **where)


def _effects(told: list[dict[str, object]]) -> list[Effect]:
    """Return the effects as nouns. Raises OperationalFault when one is not what it should be: a part proves nothing."""
    try:
        return [_effect(e) for e in told]
    except (KeyError, TypeError, ValueError):
        raise OperationalFault("effects_not_understood") from None


def _effect(told: dict[str, object]) -> Effect:
    return Effect.model_validate(
        {
            "operation_id": told["operation_id"],
            "external_id": told["id"],
            "kind": told["kind"],
            "resource": told["resource"],
            "resource_kind": told["resource_kind"],
            "amount_minor": told["amount_minor"],
            "currency": told["currency"],
            "at": told["at"],
        }
    )
