"""By which route turns were understood, counted from what stands behind the replies: what the cheap routes save.

Reads only; a turn that was handed over counts as well as one that was answered.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import EventKind
from domain.model import Route
from store import tables as t
from store.database import Database

_e = t.events.c
_ROUTE = _e.body["route"].astext
_PERSON = _e.body["step"].astext == "hand_off"


class RouteCount(Noun):
    """How many turns of a tenant were understood by a route, and how many of those went to a person."""

    tenant_id: str
    route: Route
    turns: int
    handed_off: int


async def turns_by_route(db: Database, tenants: Sequence[str], since: datetime | None) -> list[RouteCount]:
    """Return the counts of these tenants, from `since` on, most turns first within each tenant."""
    query = (
        sa.select(
            _e.tenant_id,
            _ROUTE.label("route"),
            sa.func.count().label("turns"),
            sa.func.count().filter(_PERSON).label("handed_off"),
        )
        .where(_e.kind == EventKind.UNDERSTANDING.value, _ROUTE.in_([route.value for route in Route]))
        .group_by(_e.tenant_id, _ROUTE)
        .order_by(sa.desc("turns"), _ROUTE)
    )
    if since is not None:
        query = query.where(_e.at >= since)
    counts: list[RouteCount] = []
    for tenant in tenants:
        async with db.transaction(tenant) as tx:
            counts += [RouteCount.model_validate(dict(row)) for row in (await tx.execute(query)).mappings()]
    return counts
