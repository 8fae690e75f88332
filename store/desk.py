"""A tenant's desk as it stands: its document, of which every version stays, and what its staff can do.

The last version counts from the moment it is committed.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.base import Noun
from domain.desk import DeskSettings
from domain.principal import StaffRole
from domain.refusal import NotFound, VersionConflict
from store import tables as t
from store.database import Database, Tx
from store.pipeline import Row, Statement, run

_d, _s = t.desks.c, t.staff.c


class StandingDesk(Noun):
    """The document that counts; version 0 is what counts where none was ever set."""

    version: int
    document: DeskSettings


class Colleague(Noun):
    """Somebody of the staff, with what they can do; no languages named means any."""

    id: str
    name: str
    role: StaffRole
    skills: tuple[str, ...]
    languages: tuple[str, ...]


LAST_DESK = Statement(sa.select(_d.version, _d.document).order_by(_d.version.desc()).limit(1))


def to_desk(rows: Sequence[Row]) -> StandingDesk:
    """Return the document that counts, of the rows of `LAST_DESK`."""
    if not rows:
        return StandingDesk(version=0, document=DeskSettings())
    return StandingDesk(version=rows[0].version, document=DeskSettings.model_validate(rows[0].document))


async def standing_desk(tx: Tx) -> StandingDesk:
    """Return the document that counts for the tenant of this transaction."""
    (rows,) = await run(tx, LAST_DESK())
    return to_desk(rows)


async def read_desk(db: Database, tenant_id: str) -> StandingDesk:
    """Return the same, in a transaction of its own."""
    async with db.transaction(tenant_id) as tx:
        return await standing_desk(tx)


async def set_desk(db: Database, tenant_id: str, document: DeskSettings, expected_version: int, by: str) -> int:
    """Let a document count in the place of `expected_version`; return its own version. `by` is `kind:id`.

    Raises VersionConflict where another one counts by now.
    """
    try:
        async with db.transaction(tenant_id) as tx:
            stands = (await standing_desk(tx)).version
            if stands == expected_version:
                row = {"tenant_id": tenant_id, "version": stands + 1, "set_by": by}
                await tx.execute(sa.insert(t.desks).values(**row, document=document.model_dump(mode="json")))
                return stands + 1
    except IntegrityError:  # somebody else's came between
        stands = (await read_desk(db, tenant_id)).version
    told = f"You saw version {expected_version} of the desk; it is {stands} now. Read it again, then send yours."
    raise VersionConflict(told, current_version=stands)


async def colleagues(db: Database, tenant_id: str) -> list[Colleague]:
    """Return everybody of the staff who works here now, by name."""
    query = sa.select(t.staff).where(_s.revoked_at.is_(None)).order_by(_s.name, _s.id)
    async with db.transaction(tenant_id) as tx:
        return [_to_colleague(row) for row in (await tx.execute(query)).all()]


async def set_skills(
    db: Database, tenant_id: str, staff_id: str, skills: tuple[str, ...], languages: tuple[str, ...], by: str
) -> Colleague:
    """Say what somebody of the staff can do, and return them. Raises NotFound."""
    changed = (
        sa.update(t.staff)
        .where(_s.id == staff_id, _s.revoked_at.is_(None))
        .values(skills=list(skills), languages=list(languages))
        .returning(*_s)
    )
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.select(sa.func.set_config("interlock.actor", by, True)))  # for the trigger that audits it
        row = (await tx.execute(changed)).one_or_none()
    if row is None:
        raise NotFound("There is no such person on the staff.")
    return _to_colleague(row)


def _to_colleague(row: sa.Row[tuple[object, ...]]) -> Colleague:
    return Colleague(id=row.id, name=row.name, role=row.role, skills=tuple(row.skills), languages=tuple(row.languages))
