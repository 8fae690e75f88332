"""A wake-up for a workflow: identifiers that say what to look at, never what it says.

It may be delivered twice, late or out of order, and is safe in every state.
"""

from domain.base import Noun


class Wake(Noun):
    """One outbox row. `operation_id` set: for the action's workflow; else for the conversation's."""

    outbox_id: int
    tenant_id: str
    conversation_id: str
    operation_id: str | None
    seq: int
    event_id: str
    owner_epoch: int
