"""Claims: who of the staff is about to take a handoff, so that two people do not read themselves into one.

A claim ends by itself, and with whoever takes the conversation over: it never keeps anybody from that.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.handoff import QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import HandoffClaimed, NotFound, Refusal
from domain.teamwork import Topic
from store import tables as t
from store.beside import ring
from store.database import Database, Tx
from store.desk import standing_desk
from store.log import lock_conversation, under_lock

_k, _s, _h = t.handoff_claims.c, t.staff.c, t.handoffs.c


class HandoffClaim(Noun):
    """Who has a handoff, and until when at most."""

    handoff_id: str
    staff: str
    until: datetime


async def claim(
    db: Database, staff: VerifiedPrincipal, handoff_id: str, minutes: int | None, now: datetime
) -> HandoffClaim:
    """Take a handoff for `minutes` (None: as the desk's document says); again by the same person extends it.

    Raises NotFound, HandoffClaimed while somebody else has it, and Refusal where it is done.
    """
    async with db.transaction(staff.tenant_id) as tx:
        row = await _locked(tx, handoff_id)
        now = await under_lock(tx, now)
        if row.queue_status == QueueStatus.DONE.value:
            raise Refusal("This handoff is done; there is nothing to take.")
        if row.queue_status == QueueStatus.CLAIMED.value:
            raise HandoffClaimed(f"{row.assignee} has taken this conversation over.", staff=row.assignee, until=None)
        await _require_unclaimed(tx, staff, handoff_id, now)
        kept = minutes or (await standing_desk(tx)).document.claim_minutes
        taken = {"staff_id": staff.id, "claimed_at": now, "until_at": now + timedelta(minutes=kept)}
        await tx.execute(
            insert(t.handoff_claims)
            .values(tenant_id=staff.tenant_id, handoff_id=handoff_id, **taken)
            .on_conflict_do_update(index_elements=["handoff_id"], set_=taken)
        )
        await ring(tx, staff.tenant_id, row.conversation_id, Topic.CLAIM)
        return HandoffClaim(handoff_id=handoff_id, staff=staff.id, until=taken["until_at"])


async def give_back(db: Database, staff: VerifiedPrincipal, handoff_id: str, now: datetime) -> None:
    """End `staff`'s own claim; where there is none, nothing happens. Raises NotFound, HandoffClaimed."""
    async with db.transaction(staff.tenant_id) as tx:
        row = await _locked(tx, handoff_id)
        await _require_unclaimed(tx, staff, handoff_id, await under_lock(tx, now))
        await tx.execute(sa.delete(t.handoff_claims).where(_k.handoff_id == handoff_id))
        await ring(tx, staff.tenant_id, row.conversation_id, Topic.CLAIM)


async def _locked(tx: Tx, handoff_id: str) -> sa.Row[Any]:
    """The handoff, its conversation locked as every change of owner locks it."""
    query = sa.select(t.handoffs).where(_h.id == handoff_id)
    found = (await tx.execute(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such handoff.")
    await lock_conversation(tx, found.conversation_id)
    return (await tx.execute(query)).one()


async def _require_unclaimed(tx: Tx, staff: VerifiedPrincipal, handoff_id: str, now: datetime) -> None:
    """Pass unless somebody else who still works here has it now."""
    query = (
        sa.select(_k.staff_id, _k.until_at)
        .join(t.staff, sa.and_(_s.tenant_id == _k.tenant_id, _s.id == _k.staff_id))
        .where(_k.handoff_id == handoff_id, _k.until_at > now, _s.revoked_at.is_(None))
    )
    held = (await tx.execute(query)).one_or_none()
    if held is not None and held.staff_id != staff.id:
        told = f"{held.staff_id} is about to take this, until {held.until_at:%Y-%m-%d %H:%M:%S} UTC at most."
        raise HandoffClaimed(told, staff=held.staff_id, until=held.until_at.isoformat())
