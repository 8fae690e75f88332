"""Who is at a conversation right now, and how far the customer has seen it.

Presence runs out by itself; only a change of it is told to others, not that it goes on.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.principal import VerifiedPrincipal
from domain.teamwork import (
    CUSTOMER_TTL,
    PRESENCE_TTL,
    CustomerPresence,
    Presence,
    PresenceState,
    Present,
    Topic,
)
from store import tables as t
from store.beside import beside, ring
from store.database import Database, Tx
from store.pipeline import Row

_p, _s = t.presences.c, t.staff.c
_OF_STAFF = _p.principal.startswith("staff:", autoescape=True)


async def attend(
    db: Database,
    principal: VerifiedPrincipal,
    conversation_id: str,
    state: PresenceState,
    now: datetime,
) -> Present:
    """Say that somebody is at the conversation, for some seconds, and return who else is. Raises NotFound."""
    async with beside(db, principal, conversation_id) as (tx, row):
        mine = sa.and_(_p.conversation_id == conversation_id, _p.principal == principal.key)
        before = (await tx.execute(sa.select(_p.state).where(mine, _p.until_at > now))).scalar_one_or_none()
        until = now + (PRESENCE_TTL if principal.is_staff else CUSTOMER_TTL)
        new = {"state": state.value, "until_at": until} | ({} if before == state.value else {"at": now})
        await tx.execute(
            insert(t.presences)
            .values(
                tenant_id=principal.tenant_id,
                conversation_id=conversation_id,
                principal=principal.key,
                **{"at": now, **new},
            )
            .on_conflict_do_update(index_elements=["conversation_id", "principal"], set_=new)
        )
        if before != state.value:
            await ring(tx, principal.tenant_id, conversation_id, Topic.PRESENCE)
        return await _present(tx, row, now)


async def leave(db: Database, principal: VerifiedPrincipal, conversation_id: str, now: datetime) -> Present:
    """Say that somebody is there no more, and return who is. Raises NotFound."""
    async with beside(db, principal, conversation_id) as (tx, row):
        mine = sa.and_(_p.conversation_id == conversation_id, _p.principal == principal.key)
        if (await tx.execute(sa.delete(t.presences).where(mine))).rowcount:
            await ring(tx, principal.tenant_id, conversation_id, Topic.PRESENCE)
        return await _present(tx, row, now)


async def present(db: Database, staff: VerifiedPrincipal, conversation_id: str, now: datetime) -> Present:
    """Return who is at the conversation. Raises NotFound."""
    async with beside(db, staff, conversation_id) as (tx, row):
        return await _present(tx, row, now)


async def _present(tx: Tx, row: Row, now: datetime) -> Present:
    query = (
        sa.select(_s.id, _s.name, _p.state, _p.at)
        .join(t.staff, sa.and_(_s.tenant_id == _p.tenant_id, sa.literal("staff:") + _s.id == _p.principal))
        .where(_p.conversation_id == row.id, _p.until_at > now, _OF_STAFF)
        .order_by(_p.at, _s.id)
    )
    items = [Presence(staff=r.id, name=r.name, state=r.state, at=r.at) for r in await tx.execute(query)]
    return Present(items=tuple(items), customer=await customer_presence(tx, row.id, now))


async def customer_presence(tx: Tx, conversation_id: str, now: datetime) -> CustomerPresence:
    """Return whether the customer follows the conversation, and how far they have seen it."""
    here = sa.exists().where(_p.conversation_id == conversation_id, _p.until_at > now, sa.not_(_OF_STAFF))
    so_far = sa.select(t.seen.c.seq).where(t.seen.c.conversation_id == conversation_id).scalar_subquery()
    found = (await tx.execute(sa.select(here.label("here"), sa.func.coalesce(so_far, 0).label("seq")))).one()
    return CustomerPresence(here=found.here, seen_seq=found.seq)


async def see(db: Database, customer: VerifiedPrincipal, conversation_id: str, seq: int, now: datetime) -> int:
    """Note that the customer has seen the log through `seq`, and return how far they have. Raises NotFound.

    What they have seen stays seen, and nobody sees further than the log goes.
    """
    async with beside(db, customer, conversation_id) as (tx, row):
        new = {"seq": min(seq, row.version), "seen_at": now}
        moved = await tx.execute(
            insert(t.seen)
            .values(conversation_id=conversation_id, tenant_id=customer.tenant_id, **new)
            .on_conflict_do_update(index_elements=["conversation_id"], set_=new, where=t.seen.c.seq < new["seq"])
            .returning(t.seen.c.seq)
        )
        if moved.one_or_none() is not None:
            await ring(tx, customer.tenant_id, conversation_id, Topic.SEEN)
        return (await customer_presence(tx, conversation_id, now)).seen_seq
