"""Conversations: begun, looked at, searched.

A customer's are their own; the staff's are all of the tenant.
"""

from fastapi import APIRouter, Request, Response

from domain.conversation import ConversationView
from domain.refusal import Forbidden, NotFound
from gateway import cursor
from gateway.admission import GuardedRoute
from gateway.answers import ConversationOpened, SearchPage
from gateway.bodies import OpenConversation, SearchConversations
from gateway.conversation_shapes import StaffConversation, shown_to_staff
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import reader_of, require_author, require_reader
from gateway.idempotency import conversation_id as new_id
from gateway.idempotency import key_of
from gateway.shapes import Id
from store.conversations import Search, open_conversation, search_conversations, view_conversation
from store.staff_view import staff_view

router = APIRouter(route_class=GuardedRoute, tags=["conversations"])

_ANY_CHANNEL, _EVERYTHING = OpenConversation(), SearchConversations()


@router.post("/conversations", status_code=201, summary="Begin a conversation", responses=posted(Forbidden))
async def begin(request: Request, response: Response, body: OpenConversation = _ANY_CHANNEL) -> ConversationOpened:
    """Begin a conversation of the customer or visitor whose token this is."""
    desk = desk_of(request)
    caller = await require_author(desk, caller_of(request))
    view = await open_conversation(desk.db, caller, new_id(caller, key_of(request)), body.channel)
    response.headers["Location"] = f"/conversations/{view.id}"
    return ConversationOpened.model_validate(view, from_attributes=True)


@router.get("/conversations/{conversation_id}", summary="How a conversation stands", responses=guarded(NotFound))
async def look(request: Request, conversation_id: Id) -> StaffConversation | ConversationView:
    """Return owner, version and phase, the actions with their states, and the open handoff; for staff, much more."""
    desk = desk_of(request)
    reader, now = await reader_of(desk, caller_of(request)), desk.clock()
    if reader.is_staff:
        return shown_to_staff(await staff_view(desk.db, reader, conversation_id, now), now)
    return await view_conversation(desk.db, reader, conversation_id)


@router.post("/conversations/search", summary="Find conversations", responses=posted(Forbidden))
async def search(request: Request, body: SearchConversations = _EVERYTHING) -> SearchPage:
    """Return the conversations that you may see and of which every condition holds, the latest changed first."""
    desk, caller = desk_of(request), caller_of(request)
    await require_reader(desk, caller)
    at, ident = cursor.decode(body.cursor) if body.cursor else (None, None)
    wanted = Search(
        owner=body.owner,
        phase=body.phase,
        principal_id=body.principal_id,
        text=body.text,
        before_at=at,
        before_id=ident,
        limit=body.limit + 1,
    )
    found = await search_conversations(desk.db, caller, wanted)
    page = found[: body.limit]
    more = len(found) > body.limit
    return SearchPage(items=page, next_cursor=cursor.encode(page[-1].updated_at, page[-1].id) if more else None)
