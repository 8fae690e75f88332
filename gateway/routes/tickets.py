"""Tickets of a tenant's help desk: each becomes a conversation of whoever asked for help, and of nobody else.

The tenant's signature stands for a token here; what the requester may do is looked up as for any customer.
"""

import hashlib

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from domain.permission import Tool
from domain.refusal import Forbidden, MessageConflict, NotFound, QueueFull, RequestConflict
from domain.ticket import Part, Ticket, new_ticket
from gateway import refusals as r
from gateway.admission import GuardedRoute, require_json
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, problems, written_out
from gateway.duties import require_author, staff_of
from gateway.shapes import Id
from gateway.signatures import HEADERS, signed_id
from gateway.ticket_shapes import CopyAnswer, PostTicket, TicketAnswer, TicketEventType, TicketMessage, TicketTaken
from store import tickets
from store.conversations import accept_message
from store.secrets import TICKETS

router = APIRouter(tags=["tickets"])
mine = APIRouter(route_class=GuardedRoute, tags=["tickets"])

_PROBLEMS = problems(
    r.BadSignature,
    r.CustomerBlocked,
    Forbidden,
    r.MalformedJson,
    r.InvalidRequest,
    r.BodyTooLarge,
    r.UnsupportedMediaType,
    r.RequestTimeout,
    r.RateLimited,
    r.Unavailable,
    RequestConflict,
    MessageConflict,
    QueueFull,
)
_SIGNED = {
    "parameters": [
        {
            "name": name,
            "in": "header",
            "required": True,
            "schema": {"type": "string"},
            "description": "Standard Webhooks.",
        }
        for name in HEADERS
    ],
    "requestBody": {"required": True, "content": {"application/json": {"schema": written_out(PostTicket)}}},
}


@router.post("/tickets", status_code=202, summary="Tell of a ticket", responses=_PROBLEMS, openapi_extra=_SIGNED)
async def post_ticket(request: Request, tenant: str = Query(max_length=63, examples=["acme-market"])) -> TicketTaken:
    """Take one event of the help desk, once per `webhook-id`; signed by Standard Webhooks with the secret `tickets`."""
    desk = desk_of(request)
    await require_json(request)
    webhook_id = await signed_id(desk, request, tenant, TICKETS)
    desk.rates.admit_tenant(tenant)
    raw = await request.body()
    digest = hashlib.sha256(raw).hexdigest()
    known = await tickets.post_of(desk.db, tenant, webhook_id)
    if known is not None:
        return _again(known, digest)
    told = _read(desk, raw)
    conversation_id, seq, duplicate = await _take(desk, tenant, told)
    post = tickets.Post(webhook_id=webhook_id, body_digest=digest, conversation_id=conversation_id, seq=seq)
    kept = await tickets.keep_post(desk.db, tenant, post)
    if kept != post:  # it came twice at once, and the other one was first
        return _again(kept, digest)
    return TicketTaken(conversation_id=conversation_id, seq=seq, duplicate=duplicate)


@mine.get(
    "/conversations/{conversation_id}/ticket",
    summary="The ticket of a conversation",
    responses=guarded(NotFound, Forbidden),
)
async def look(request: Request, conversation_id: Id) -> TicketAnswer:
    """Return what the help desk calls it and, of what was written there, what others than the requester wrote."""
    desk = desk_of(request)
    staff = await staff_of(desk, caller_of(request), conversation_id, Tool.READ_CONVERSATIONS)
    found = await tickets.ticket_of(desk.db, staff.tenant_id, conversation_id)
    if found is None:
        raise NotFound("There is no such conversation, or it is no ticket.")
    copies = [CopyAnswer.model_validate(copy, from_attributes=True) for copy in found.copies]
    return TicketAnswer(**found.model_dump(exclude={"copies"}), copies=copies)


def _again(known: tickets.Post, digest: str) -> TicketTaken:
    if known.body_digest != digest:
        raise RequestConflict("This `webhook-id` came before with another body; use a new id for a new event.")
    return TicketTaken(conversation_id=known.conversation_id, seq=known.seq, duplicate=True)


def _read(desk: Desk, raw: bytes) -> PostTicket:
    """Return the event. Raises what a body raises that FastAPI reads."""
    try:
        told = PostTicket.model_validate_json(raw)
    except ValidationError as fault:
        errors = fault.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**error, "loc": ("body", *error["loc"])} for error in errors]) from None
    limit = desk.settings.text_chars_max
    if told.message is not None and len(_words(told, told.message)) > limit:
        message = f"at most {limit} characters are taken, of subject and text together"
        where = "body.message.text"
        raise r.InvalidRequest(f"{where}: {message}", errors=[{"field": where, "message": message}])
    return told


def _words(told: PostTicket, message: TicketMessage) -> str:
    """What the requester has said: the first message with the ticket's subject over it, unless it begins so anyway."""
    subject = told.ticket.subject.strip()
    if told.type is not TicketEventType.CREATED or not subject or message.text.lstrip().startswith(subject):
        return message.text
    return f"{subject}\n\n{message.text}"


async def _take(desk: Desk, tenant_id: str, told: PostTicket) -> tuple[str, int | None, bool]:
    """Do what an event asks for, which may be repeated; return conversation, seq, and whether it was there already."""
    requester = told.ticket.asked_by
    fresh = new_ticket(tenant_id, told.ticket.id, requester)
    kind, ident = requester.principal
    await require_author(desk, await desk.identity.vouched_for(tenant_id, kind, ident))
    ticket = await tickets.open_ticket(desk.db, tenant_id, fresh, told.ticket.subject, told.ticket.tongue)
    if told.type is TicketEventType.CLOSED:
        await tickets.mark_closed(desk.db, tenant_id, ticket.ticket_id, desk.clock())
    if told.message is None:
        return ticket.conversation_id, None, False
    if ticket.part_of(told.message.author.id, requester) is Part.COPY:
        await _keep_copy(desk, tenant_id, ticket, told.message)
        return ticket.conversation_id, None, False
    seq, duplicate = await _say(desk, tenant_id, ticket, told, told.message)
    return ticket.conversation_id, seq, duplicate


async def _keep_copy(desk: Desk, tenant_id: str, ticket: Ticket, message: TicketMessage) -> None:
    copy = tickets.Copy(
        message_id=message.id, author_id=message.author.id, text=message.text, at=message.at or desk.clock()
    )
    await tickets.keep_copy(desk.db, tenant_id, ticket.conversation_id, copy)


async def _say(
    desk: Desk, tenant_id: str, ticket: Ticket, told: PostTicket, message: TicketMessage
) -> tuple[int, bool]:
    """Put the requester's message into the log, as whoever the ticket has always been of."""
    author = await desk.identity.vouched_for(tenant_id, ticket.principal_kind, ticket.principal_id)
    accepted = await accept_message(
        desk.db,
        await require_author(desk, author),
        ticket.conversation_id,
        message.id,
        _words(told, message),
        None,
        desk.settings.unanswered_messages_max,
    )
    desk.send(accepted.wake)
    if told.type is not TicketEventType.CLOSED and not accepted.duplicate:
        await tickets.mark_closed(desk.db, tenant_id, ticket.ticket_id, None)
    return accepted.seq, accepted.duplicate
