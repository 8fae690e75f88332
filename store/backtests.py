"""Backtests that were kept: what a bundle would have changed, as the command told it, for people to read.

One transaction each; a result that is kept never changes.
"""

from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from domain.base import Noun
from store import tables as t
from store.database import Database
from store.pipeline import Statement

BACKTESTS_LISTED_MAX = 100

_b = t.policy_backtests.c
_TOLD = ("under", "against", "since", "decisions", "same", "flipped")
_KEPT = Statement(
    sa.select(_b.id, _b.kept_at, *(_b.report[name].label(name) for name in _TOLD))
    .order_by(_b.kept_at.desc(), _b.id)
    .limit(BACKTESTS_LISTED_MAX)
)
_ONE = Statement(sa.select(_b.id, _b.kept_at, _b.report).where(_b.id == sa.bindparam("id", type_=sa.Text)))


class KeptBacktest(Noun):
    """A kept result in short: under which bundle, against which (None: what was decided), and how much it changes."""

    id: str
    kept_at: datetime
    under: str
    against: str | None
    since: datetime | None
    decisions: int
    same: int
    flipped: int


class Backtest(Noun):
    """A kept result whole; `report` is what `interlock policy backtest --json` prints."""

    id: str
    kept_at: datetime
    report: dict[str, Any]


async def keep_backtest(db: Database, tenant_id: str, report: dict[str, Any]) -> str:
    """Keep a report that is of this tenant alone, and return its id."""
    ident = str(uuid4())
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.insert(t.policy_backtests).values(id=ident, tenant_id=tenant_id, report=report))
    return ident


async def kept_backtests(db: Database, tenant_id: str) -> tuple[KeptBacktest, ...]:
    """Return the last results that were kept, the newest first."""
    (rows,) = await db.at_once(tenant_id, _KEPT())
    return tuple(KeptBacktest(**row._asdict()) for row in rows)


async def one_backtest(db: Database, tenant_id: str, backtest_id: str) -> Backtest | None:
    """Return one result, or None where there is none of that id."""
    (rows,) = await db.at_once(tenant_id, _ONE(id=backtest_id))
    return Backtest(**rows[0]._asdict()) if rows else None
