"""The measures of the service, for its staff: what was counted, over how much, and how sure that is.

Reckoned from the log and the ledger when they are asked for, and kept for some seconds, since many ask for the same.
"""

from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from domain.measures import Figure, Measure, grouped, overall, quantile
from domain.permission import Tool
from domain.refusal import Forbidden
from gateway.admission import GuardedRoute
from gateway.answers import Answer
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded
from gateway.duties import require_staff, require_tool
from gateway.identity import Caller
from gateway.refusals import InvalidRequest
from store.desk import read_desk
from store.numbers import Asked, By, cost_currency, observations, queue_ages

router = APIRouter(route_class=GuardedRoute, tags=["numbers"])

DAYS_MAX = 93
DAYS_DEFAULT = 14
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2999, 12, 31)  # every day of these has days before and after it


class GroupNumbers(Answer):
    """The measures of one group."""

    group: str
    measures: list[Measure]


class DayNumbers(Answer):
    """The measures of the conversations that began on one day."""

    day: date
    measures: list[Measure]


class Numbers(Answer):
    """Measures over the conversations that began on the days from `from_day` to `to_day`, both included (UTC)."""

    from_day: date
    to_day: date
    by: By
    recontact_hours: float = Field(description="Coming back within so many hours is a recontact.")
    cost_currency: str | None = Field(description="Of `cost`; null where models were paid in none or several.")
    queue_age: Measure = Field(description="How long those have waited who wait at this moment.")
    overall: list[Measure]
    groups: list[GroupNumbers] = Field(description="The largest first.")
    days: list[DayNumbers]


@router.get("/numbers", summary="The measures of the service", responses=guarded(Forbidden))
async def numbers(
    request: Request,
    by: By = By.INTENT,
    from_day: Annotated[
        date | None, Query(alias="from", ge=FIRST_DAY, le=LAST_DAY, description="Default: two weeks before `to`.")
    ] = None,
    to_day: Annotated[date | None, Query(alias="to", ge=FIRST_DAY, le=LAST_DAY, description="Default: today.")] = None,
) -> Numbers:
    """Return every figure with its count and its 95 % interval: in all, by group and by day."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_QUEUE)
    last = to_day or desk.clock().date()
    first = from_day or last - timedelta(days=DAYS_DEFAULT - 1)
    if not timedelta(0) <= last - first < timedelta(days=DAYS_MAX):
        message = f"`from` has to be before `to`, and no more than {DAYS_MAX} days before it"
        raise InvalidRequest(message, errors=[{"field": "query.from", "message": message}])
    key = f"{first} {last} {by.value}"
    found: Numbers = await desk.counted.of(staff.tenant_id, key, lambda: _numbers(desk, staff, first, last, by))
    return found


async def _numbers(desk: Desk, staff: Caller, first: date, last: date, by: By) -> Numbers:
    now = desk.clock()
    recontact_hours = (await read_desk(desk.db, staff.tenant_id)).document.recontact_hours
    asked = Asked.of_days(first, last, by, timedelta(hours=recontact_hours), now)
    observed = await observations(desk.db, staff.tenant_id, asked)
    ages = sorted(await queue_ages(desk.db, staff.tenant_id, now))
    by_group = grouped(observed, lambda one: one.group)
    by_day = grouped(observed, lambda one: one.day)
    waiting = Measure(
        figure=Figure.QUEUE_AGE,
        unit=Figure.QUEUE_AGE.unit,
        n=len(ages),
        value=quantile(ages, 0.5),
        p95=quantile(ages, 0.95),
    )
    groups = [GroupNumbers(group=name, measures=list(found.values())) for name, found in by_group.items()]
    return Numbers(
        from_day=first,
        to_day=last,
        by=by,
        recontact_hours=recontact_hours,
        cost_currency=await cost_currency(desk.db, staff.tenant_id, asked),
        queue_age=waiting,
        overall=overall(observed),
        groups=sorted(groups, key=lambda g: (-_size(g.measures), g.group)),
        days=[DayNumbers(day=day, measures=list(by_day[day].values())) for day in sorted(by_day)],
    )


def _size(measures: list[Measure]) -> int:
    return next((m.n for m in measures if m.figure is Figure.CONVERSATIONS), 0)
