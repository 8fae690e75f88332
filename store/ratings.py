"""Ratings: the customer's of an answer, and that of a handoff by the person who received it.

One transaction each. A rating says nothing to the bot; measures are made of them.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal
from domain.teamwork import RATING_OPEN, AnswerRating, HandoffRating, Topic
from store import tables as t
from store.beside import beside, ring
from store.database import Database, Tx

_r, _e, _q, _h = t.answer_ratings.c, t.events.c, t.handoff_ratings.c, t.handoffs.c
_ANSWERS = (EventKind.BOT_REPLY.value, EventKind.STAFF_REPLY.value)


async def rate_answer(
    db: Database,
    customer: VerifiedPrincipal,
    conversation_id: str,
    seq: int,
    score: int,
    comment: str | None,
    now: datetime,
) -> AnswerRating:
    """Rate one answer, or think again within the hour. Raises NotFound, and Refusal for no answer or too late."""
    async with beside(db, customer, conversation_id) as (tx, _):
        answer = sa.select(_e.seq).where(
            _e.conversation_id == conversation_id, _e.seq == seq, _e.part == 0, _e.kind.in_(_ANSWERS)
        )
        if (await tx.execute(answer)).one_or_none() is None:
            raise Refusal(f"Event {seq} of this conversation is no answer; rate a bot_reply or a staff_reply.")
        prior = await _rating(tx, conversation_id, seq)
        if prior is not None and now >= prior.rated_at + RATING_OPEN:
            raise Refusal("A rating can be changed within an hour; this one stays.")
        new = {"score": score, "comment": comment}
        rated = (
            insert(t.answer_ratings)
            .values(tenant_id=customer.tenant_id, conversation_id=conversation_id, seq=seq, rated_at=now, **new)
            .on_conflict_do_update(index_elements=["conversation_id", "seq"], set_={**new, "changed_at": now})
            .returning(t.answer_ratings)
        )
        row = (await tx.execute(rated)).one()
        await ring(tx, customer.tenant_id, conversation_id, Topic.RATING)
        return _answer_rating(row)


async def _rating(tx: Tx, conversation_id: str, seq: int) -> sa.Row[Any] | None:
    query = sa.select(t.answer_ratings).where(_r.conversation_id == conversation_id, _r.seq == seq)
    return (await tx.execute(query)).one_or_none()


async def ratings(db: Database, reader: VerifiedPrincipal, conversation_id: str) -> tuple[AnswerRating, ...]:
    """Return what was rated in a conversation, in order. Raises NotFound."""
    async with beside(db, reader, conversation_id) as (tx, _):
        return await ratings_of(tx, conversation_id)


async def ratings_of(tx: Tx, conversation_id: str) -> tuple[AnswerRating, ...]:
    """Return what was rated in a conversation, in order."""
    query = sa.select(t.answer_ratings).where(_r.conversation_id == conversation_id).order_by(_r.seq)
    return tuple(_answer_rating(row) for row in await tx.execute(query))


def _answer_rating(row: sa.Row[Any]) -> AnswerRating:
    return AnswerRating(
        seq=row.seq,
        score=row.score,
        comment=row.comment,
        rated_at=row.rated_at,
        changeable_until=row.rated_at + RATING_OPEN,
    )


async def rate_handoff(
    db: Database,
    staff: VerifiedPrincipal,
    handoff_id: str,
    score: int,
    right_to_escalate: bool,
    note: str | None,
    now: datetime,
) -> HandoffRating:
    """Rate a handoff that one has received; again, to think it over. Raises NotFound, and Forbidden for another's."""
    async with db.transaction(staff.tenant_id) as tx:
        row = (await tx.execute(sa.select(t.handoffs).where(_h.id == handoff_id))).one_or_none()
        if row is None:
            raise NotFound("There is no such handoff.")
        if row.assignee != staff.id:
            raise Forbidden("Only the person who received a handoff rates it.")
        new = {"score": score, "right_to_escalate": right_to_escalate, "note": note, "rated_at": now}
        rated = (
            insert(t.handoff_ratings)
            .values(tenant_id=staff.tenant_id, handoff_id=handoff_id, rated_by=staff.id, **new)
            .on_conflict_do_update(index_elements=["handoff_id"], set_=new, where=_q.rated_by == staff.id)
            .returning(t.handoff_ratings)
        )
        kept = (await tx.execute(rated)).one_or_none()
        if kept is None:
            raise Refusal("Who had this handoff before you has rated it.")
        await ring(tx, staff.tenant_id, row.conversation_id, Topic.RATING)
        return _handoff_rating(kept)


async def last_handoff_rating(tx: Tx, conversation_id: str) -> HandoffRating | None:
    """Return the rating of the conversation's last handoff, if it has one."""
    last = sa.select(_h.id).where(_h.conversation_id == conversation_id).order_by(_h.opened_at.desc()).limit(1)
    query = sa.select(t.handoff_ratings).where(_q.handoff_id == last.scalar_subquery())
    row = (await tx.execute(query)).one_or_none()
    return None if row is None else _handoff_rating(row)


def _handoff_rating(row: sa.Row[Any]) -> HandoffRating:
    return HandoffRating(**{name: getattr(row, name) for name in HandoffRating.model_fields})
