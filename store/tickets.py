"""Tickets as they came in: whose conversation each is, what people in copy wrote, and which events were taken.

Each public function is one transaction, and each may be repeated.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.principal import PrincipalKind
from domain.ticket import CHANNEL, Ticket
from store import tables as t
from store.database import Database

_KEPT = sa.text("DELETE FROM ticket_posts WHERE received_at < now() - interval '30 days'")


class Post(Noun):
    """An event of a help desk that was taken: what it said, by its digest, and where it stands."""

    webhook_id: str
    body_digest: str
    conversation_id: str
    seq: int | None


class Copy(Noun):
    """What somebody other than the requester wrote in a ticket."""

    message_id: str
    author_id: str
    text: str
    at: datetime


class TicketView(Noun):
    """A conversation's ticket, for staff."""

    ticket_id: str
    subject: str
    requester_id: str
    closed_at: datetime | None
    copies: tuple[Copy, ...]


async def post_of(db: Database, tenant_id: str, webhook_id: str) -> Post | None:
    """Return the event that was taken under this id, or None."""
    async with db.transaction(tenant_id) as tx:
        query = sa.select(t.ticket_posts).where(t.ticket_posts.c.webhook_id == webhook_id)
        row = (await tx.execute(query)).one_or_none()
    return None if row is None else _post(row)


async def keep_post(db: Database, tenant_id: str, post: Post) -> Post:
    """Keep what became of an event, unless another of its id was first, and return what is kept; forget the old."""
    async with db.transaction(tenant_id) as tx:
        await tx.execute(_KEPT)
        add = insert(t.ticket_posts).values(tenant_id=tenant_id, **post.model_dump()).on_conflict_do_nothing()
        await tx.execute(add)
        query = sa.select(t.ticket_posts).where(t.ticket_posts.c.webhook_id == post.webhook_id)
        return _post((await tx.execute(query)).one())


async def open_ticket(db: Database, tenant_id: str, ticket: Ticket, subject: str, language: str) -> Ticket:
    """Begin the ticket's conversation, and return the ticket as it is known here: it may have been before."""
    async with db.transaction(tenant_id) as tx:
        conversation = {
            "id": ticket.conversation_id,
            "tenant_id": tenant_id,
            "principal_kind": ticket.principal_kind.value,
            "principal_id": ticket.principal_id,
            "channel": CHANNEL,
            "language": language,
        }
        await tx.execute(insert(t.conversations).values(**conversation).on_conflict_do_nothing())
        row = {"tenant_id": tenant_id, "subject": subject, **ticket.model_dump(mode="json")}
        await tx.execute(insert(t.tickets).values(**row).on_conflict_do_nothing())
        known = (await tx.execute(sa.select(t.tickets).where(t.tickets.c.ticket_id == ticket.ticket_id))).one()
    return Ticket(
        ticket_id=known.ticket_id,
        conversation_id=known.conversation_id,
        requester_id=known.requester_id,
        principal_kind=PrincipalKind(known.principal_kind),
        principal_id=known.principal_id,
    )


async def keep_copy(db: Database, tenant_id: str, conversation_id: str, copy: Copy) -> None:
    """Keep, once, what somebody in copy wrote, and ring the pages that show the conversation."""
    row = {"tenant_id": tenant_id, "conversation_id": conversation_id, **copy.model_dump()}
    async with db.transaction(tenant_id) as tx:
        await tx.execute(insert(t.ticket_copies).values(**row).on_conflict_do_nothing())
        await tx.execute(sa.select(sa.func.pg_notify("interlock_events", f"{tenant_id} {conversation_id} 0")))


async def mark_closed(db: Database, tenant_id: str, ticket_id: str, closed_at: datetime | None) -> None:
    """Record that the help desk has closed the ticket, or that it is open again (None)."""
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.update(t.tickets).where(t.tickets.c.ticket_id == ticket_id).values(closed_at=closed_at))


async def ticket_of(db: Database, tenant_id: str, conversation_id: str) -> TicketView | None:
    """Return a conversation's ticket with what people in copy wrote, or None where it is none."""
    k, c = t.tickets.c, t.ticket_copies.c
    async with db.transaction(tenant_id) as tx:
        row = (await tx.execute(sa.select(t.tickets).where(k.conversation_id == conversation_id))).one_or_none()
        if row is None:
            return None
        copies = await tx.execute(
            sa.select(t.ticket_copies).where(c.conversation_id == conversation_id).order_by(c.at, c.message_id)
        )
        return TicketView(
            ticket_id=row.ticket_id,
            subject=row.subject,
            requester_id=row.requester_id,
            closed_at=row.closed_at,
            copies=tuple(
                Copy(message_id=x.message_id, author_id=x.author_id, text=x.text, at=x.at) for x in copies.all()
            ),
        )


def _post(row: sa.Row[Post]) -> Post:
    return Post(
        webhook_id=row.webhook_id, body_digest=row.body_digest, conversation_id=row.conversation_id, seq=row.seq
    )
