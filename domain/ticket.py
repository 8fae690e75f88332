"""A ticket of a help desk, as a conversation: whose it is, and whose words in it count.

Pure; a ticket belongs to the one whom its first event named, and nobody else can drive anything in it.
"""

import json
from enum import StrEnum
from uuid import NAMESPACE_URL, uuid5

from domain.base import Noun
from domain.principal import PrincipalKind

CHANNEL = "ticket"
_CONVERSATIONS = uuid5(NAMESPACE_URL, "interlock:tickets")


class Part(StrEnum):
    """In what part somebody writes in a ticket."""

    REQUESTER = "requester"  # a customer message
    COPY = "copy"  # people in copy, agents of the help desk: kept for staff, and nothing more


class Requester(Noun):
    """Who asked for help: by the help desk's own id and, where the tenant vouches for it, as a customer."""

    id: str
    customer_id: str | None = None

    @property
    def principal(self) -> tuple[PrincipalKind, str]:
        """As whom they speak here: as the customer, or as a visitor who gets public help alone."""
        if self.customer_id is not None:
            return PrincipalKind.CUSTOMER, self.customer_id
        return PrincipalKind.ANONYMOUS, f"ticket:{self.id}"


class Ticket(Noun):
    """A ticket as it is known here."""

    ticket_id: str
    conversation_id: str
    requester_id: str
    principal_kind: PrincipalKind
    principal_id: str

    def part_of(self, author_id: str, requester: Requester) -> Part:
        """Return in what part the author writes, by whom the ticket's first event named; `requester` is as told now.

        A customer whom a later event names in the place of the first is somebody else: the conversation is not theirs.
        """
        if author_id != self.requester_id or requester.id != self.requester_id:
            return Part.COPY
        known_as = self.principal_id if self.principal_kind is PrincipalKind.CUSTOMER else None
        if known_as is not None and requester.customer_id not in (None, known_as):
            return Part.COPY
        return Part.REQUESTER


def new_ticket(tenant_id: str, ticket_id: str, requester: Requester) -> Ticket:
    """Return a ticket that is not known yet; its conversation's id is always the same, so that there is one."""
    kind, ident = requester.principal
    return Ticket(
        ticket_id=ticket_id,
        conversation_id=str(uuid5(_CONVERSATIONS, json.dumps([tenant_id, ticket_id]))),
        requester_id=requester.id,
        principal_kind=kind,
        principal_id=ident,
    )
