"""Who may do what: staff do what is theirs, customers what is theirs, and what one may not see is not there.

A 403 is told only to those who may see the thing; to everybody else it does not exist.
"""

from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.refusal import Forbidden
from gateway.desk import Desk
from store.conversations import view_conversation

_AUTHORS = frozenset({PrincipalKind.CUSTOMER, PrincipalKind.ANONYMOUS})


def require_staff(caller: VerifiedPrincipal) -> VerifiedPrincipal:
    """Return the caller, a person of the staff. Raises Forbidden."""
    if not caller.is_staff:
        raise Forbidden("This is for the staff of the organisation.")
    return caller


def require_author(caller: VerifiedPrincipal) -> VerifiedPrincipal:
    """Return the caller, a customer or visitor. Raises Forbidden."""
    if caller.kind not in _AUTHORS:
        raise Forbidden("Only customers and visitors begin conversations.")
    return caller


async def staff_of(desk: Desk, caller: VerifiedPrincipal, conversation_id: str) -> VerifiedPrincipal:
    """Return the caller, a person of the staff. Raises NotFound for what they may not see, else Forbidden."""
    if not caller.is_staff:
        await view_conversation(desk.db, caller, conversation_id)
        raise Forbidden("This is for the staff of the organisation.")
    return caller


async def author_of(desk: Desk, caller: VerifiedPrincipal, conversation_id: str) -> VerifiedPrincipal:
    """Return the caller, a customer or visitor. Raises NotFound for what they may not see, else Forbidden."""
    if caller.kind not in _AUTHORS:
        await view_conversation(desk.db, caller, conversation_id)
        raise Forbidden("Only the customer writes as the customer; people of the staff reply.")
    return caller


async def person_of(desk: Desk, caller: VerifiedPrincipal, conversation_id: str) -> VerifiedPrincipal:
    """Return the caller, anybody but a machine. Raises NotFound for what they may not see, else Forbidden."""
    if caller.kind is PrincipalKind.SERVICE:
        await view_conversation(desk.db, caller, conversation_id)
        raise Forbidden("Services look, and ask for nobody.")
    return caller
