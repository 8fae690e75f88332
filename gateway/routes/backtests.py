"""Backtests that were kept: what another bundle of policy would have changed.

They are made at the command line (`interlock policy backtest BUNDLE --tenant T --keep`), and read here.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound
from gateway.admission import GuardedRoute
from gateway.answers import Answer
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import require_staff, require_tool
from gateway.identity import Caller
from gateway.shapes import Id
from store.backtests import Backtest, KeptBacktest, kept_backtests, one_backtest

router = APIRouter(route_class=GuardedRoute, tags=["policy"])


class BacktestsKept(Answer):
    """Results in short, the newest first."""

    items: list[KeptBacktest]


async def _reader(desk: Desk, caller: Caller) -> Caller:
    staff = require_staff(caller)
    await require_tool(desk, staff, Tool.READ_POLICY)
    return staff


@router.get("/policy/backtests", summary="Backtests that were kept", responses=guarded(Forbidden))
async def listed(request: Request) -> BacktestsKept:
    """Return the last hundred results, each in short."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    return BacktestsKept(items=list(await kept_backtests(desk.db, staff.tenant_id)))


@router.get("/policy/backtests/{backtest_id}", summary="One backtest", responses=guarded(NotFound, Forbidden))
async def shown(request: Request, backtest_id: Id) -> Backtest:
    """Return one result whole: what would come out otherwise, in which amounts, by which rules."""
    desk = desk_of(request)
    staff = await _reader(desk, caller_of(request))
    found = await one_backtest(desk.db, staff.tenant_id, backtest_id)
    if found is None:
        raise NotFound("There is no such backtest.")
    return found
