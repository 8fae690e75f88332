"""What people write: the customer's messages and the staff's replies, each in the log once.

An accepted message is committed before it is answered; whoever has to know is woken after that.
"""

from typing import Any

from fastapi import APIRouter, Request, Response

from domain.permission import Tool
from domain.refusal import Forbidden, MessageConflict, NotFound, NotOwned, QueueFull, VersionConflict
from gateway.admission import MessageRoute, require_short
from gateway.answers import MessageAccepted
from gateway.bodies import PostMessage, PostReply
from gateway.desk import caller_of, desk_of
from gateway.documents import posted
from gateway.duties import author_of, staff_of
from gateway.shapes import Id
from store.conversations import Accepted, accept_message
from store.replies import staff_reply

router = APIRouter(route_class=MessageRoute, tags=["messages"])

_REPEATED: dict[int | str, dict[str, Any]] = {
    200: {"model": MessageAccepted, "description": "The same id and text again: the first `seq`, nothing added."}
}


@router.post(
    "/conversations/{conversation_id}/messages",
    status_code=202,
    summary="Write as the customer",
    responses=_REPEATED | posted(NotFound, Forbidden, MessageConflict, VersionConflict, QueueFull),
)
async def post_message(request: Request, response: Response, conversation_id: Id, body: PostMessage) -> MessageAccepted:
    """Put a message into the log; what becomes of it appears among the events."""
    desk = desk_of(request)
    require_short(desk, body.text)
    caller = await author_of(desk, caller_of(request), conversation_id)
    accepted = await accept_message(
        desk.db,
        caller,
        conversation_id,
        body.client_message_id,
        body.text,
        body.expected_conversation_version,
        desk.settings.unanswered_messages_max,
    )
    desk.send(accepted.wake)
    return _told(accepted, response)


@router.post(
    "/conversations/{conversation_id}/replies",
    status_code=202,
    summary="Reply as a person",
    responses=_REPEATED | posted(NotFound, Forbidden, NotOwned, MessageConflict, VersionConflict),
)
async def post_reply(request: Request, response: Response, conversation_id: Id, body: PostReply) -> MessageAccepted:
    """Put a person's reply into the log; a person has to have the conversation."""
    desk = desk_of(request)
    require_short(desk, body.text)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.REPLY)
    accepted = await staff_reply(desk.db, staff, conversation_id, body.client_message_id, body.text, body.seen_version)
    desk.send(accepted.wake)
    return _told(accepted, response)


def _told(accepted: Accepted, response: Response) -> MessageAccepted:
    if accepted.duplicate:
        response.status_code = 200
    return MessageAccepted(seq=accepted.seq, version=accepted.version, duplicate=accepted.duplicate)
