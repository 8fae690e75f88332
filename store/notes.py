"""Notes: what people of the staff write for each other beside a conversation; its author can take a fresh one back.

One transaction each. No model and no customer ever reads a note.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal, RequestConflict
from domain.teamwork import NOTE_FRESH, Note, Topic
from store import tables as t
from store.beside import beside, ring
from store.database import Database, Tx
from store.pipeline import Row

NOTES_LISTED_MAX = 500

_n, _s = t.notes.c, t.staff.c
_NOTES = sa.select(_n.note_id, _n.author, _s.name, _n.text, _n.at).join(
    t.staff, sa.and_(_s.tenant_id == _n.tenant_id, _s.id == _n.author)
)


async def add_note(db: Database, staff: VerifiedPrincipal, conversation_id: str, note_id: str, text: str) -> Note:
    """Keep a note and return it; the same id with the same words is a repeat. Raises NotFound, RequestConflict."""
    async with beside(db, staff, conversation_id) as (tx, _):
        new = {"note_id": note_id, "author": staff.id, "text": text}
        added = await tx.execute(
            insert(t.notes)
            .values(tenant_id=staff.tenant_id, conversation_id=conversation_id, **new)
            .on_conflict_do_nothing()
            .returning(_n.note_id)
        )
        is_new = added.one_or_none() is not None
        note = _note(await _one(tx, conversation_id, note_id))
        if (note.author, note.text) != (staff.id, text):
            raise RequestConflict("This note_id was used for another note; use a new one.")
        if is_new:
            await ring(tx, staff.tenant_id, conversation_id, Topic.NOTES)
        return note


async def take_back(db: Database, staff: VerifiedPrincipal, conversation_id: str, note_id: str, now: datetime) -> None:
    """Delete `staff`'s own fresh note. Raises NotFound, Forbidden for another's, and Refusal for one that stays."""
    async with beside(db, staff, conversation_id) as (tx, _):
        note = _note(await _one(tx, conversation_id, note_id))
        if note.author != staff.id:
            raise Forbidden("Only its author takes a note back.")
        gone = await tx.execute(sa.delete(t.notes).where(_n.conversation_id == conversation_id, _n.note_id == note_id))
        if not gone.rowcount or now - note.at > NOTE_FRESH:
            raise Refusal(f"A note can be taken back for {NOTE_FRESH.seconds // 60} minutes; this one stays.")
        await ring(tx, staff.tenant_id, conversation_id, Topic.NOTES)


async def notes_of(db: Database, staff: VerifiedPrincipal, conversation_id: str) -> tuple[Note, ...]:
    """Return the last notes of a conversation, in order. Raises NotFound."""
    async with beside(db, staff, conversation_id) as (tx, _):
        of = _NOTES.where(_n.conversation_id == conversation_id)
        rows = (await tx.execute(of.order_by(_n.at.desc(), _n.note_id).limit(NOTES_LISTED_MAX))).all()
        return tuple(_note(row) for row in reversed(rows))


async def _one(tx: Tx, conversation_id: str, note_id: str) -> Row:
    query = _NOTES.where(_n.conversation_id == conversation_id, _n.note_id == note_id)
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such note.")
    return row


def _note(row: Row) -> Note:
    return Note.model_validate(row, from_attributes=True)
