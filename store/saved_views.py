"""Saved views: filters of the queue under a name, one person's own or shared with all of the staff.

One transaction each; who made a view is who deletes it.
"""

from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal
from domain.teamwork import SavedView
from store import tables as t
from store.database import Database

VIEWS_PER_PERSON_MAX = 100

_v = t.saved_views.c


async def views(db: Database, staff: VerifiedPrincipal) -> tuple[SavedView, ...]:
    """Return the person's own views and those that are shared, by name."""
    query = sa.select(t.saved_views).where(sa.or_(_v.owner == staff.id, _v.shared)).order_by(_v.name, _v.id)
    async with db.transaction(staff.tenant_id) as tx:
        return tuple(_view(row, staff) for row in await tx.execute(query))


async def save_view(
    db: Database, staff: VerifiedPrincipal, name: str, filters: dict[str, str | bool], *, shared: bool
) -> SavedView:
    """Keep a view and return it. Raises Refusal where the person has too many."""
    async with db.transaction(staff.tenant_id) as tx:
        mine = sa.select(sa.func.count()).where(_v.owner == staff.id)
        if (await tx.execute(mine)).scalar_one() >= VIEWS_PER_PERSON_MAX:
            raise Refusal(f"You have {VIEWS_PER_PERSON_MAX} views, which is the most; delete one first.")
        new = {"id": str(uuid4()), "name": name, "filters": filters, "shared": shared, "owner": staff.id}
        added = sa.insert(t.saved_views).values(tenant_id=staff.tenant_id, **new).returning(t.saved_views)
        return _view((await tx.execute(added)).one(), staff)


async def delete_view(db: Database, staff: VerifiedPrincipal, view_id: str) -> None:
    """Delete one's own view. Raises NotFound, and Forbidden for a shared one of somebody else."""
    async with db.transaction(staff.tenant_id) as tx:
        visible = sa.and_(_v.id == view_id, sa.or_(_v.owner == staff.id, _v.shared))
        owner = (await tx.execute(sa.select(_v.owner).where(visible))).scalar_one_or_none()
        if owner is None:
            raise NotFound("There is no such view.")
        if owner != staff.id:
            raise Forbidden("Only who saved a view deletes it.")
        await tx.execute(sa.delete(t.saved_views).where(_v.id == view_id))


def _view(row: sa.Row[Any], staff: VerifiedPrincipal) -> SavedView:
    mine = row.owner == staff.id
    return SavedView(id=row.id, name=row.name, filters=row.filters, shared=row.shared, mine=mine)
