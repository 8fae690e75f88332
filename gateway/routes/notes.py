"""Notes of the staff beside a conversation: no customer sees them, and no model reads them.

Who wrote one can take it back for ten minutes.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal, RequestConflict
from domain.teamwork import Note
from gateway.admission import GuardedRoute, require_short
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import staff_of
from gateway.shapes import Id
from gateway.teamwork_shapes import NoteGone, Notes, WriteNote
from store.notes import add_note, notes_of, take_back

router = APIRouter(route_class=GuardedRoute, tags=["teamwork"])


@router.post(
    "/conversations/{conversation_id}/notes",
    status_code=201,
    summary="Write a note",
    responses=posted(NotFound, Forbidden, RequestConflict),
)
async def write(request: Request, conversation_id: Id, body: WriteNote) -> Note:
    """Keep a note for the staff; repeated, the first answer."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    require_short(desk, body.text)
    return await add_note(desk.db, staff, conversation_id, body.note_id, body.text)


@router.get("/conversations/{conversation_id}/notes", summary="Read the notes", responses=guarded(NotFound, Forbidden))
async def read(request: Request, conversation_id: Id) -> Notes:
    """Return the notes in order, the last 500 at most."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.READ_CONVERSATIONS)
    return Notes(items=list(await notes_of(desk.db, staff, conversation_id)))


@router.delete(
    "/conversations/{conversation_id}/notes/{note_id}",
    summary="Take a note back",
    responses=guarded(NotFound, Forbidden, Refusal),
)
async def remove(request: Request, conversation_id: Id, note_id: Id) -> NoteGone:
    """Delete your own note while it is fresh."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    await take_back(desk.db, staff, conversation_id, note_id, desk.clock())
    return NoteGone(note_id=note_id)
