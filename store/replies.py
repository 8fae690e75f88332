"""What people write: staff replies, in the same log and under the same rules as the bot's.

A reply requires that a person owns the conversation, and deals with what its author had seen (design §4).
"""

import sqlalchemy as sa

from domain.conversation import EventKind, Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import MessageConflict, NotOwned, VersionConflict
from store import tables as t
from store.conversations import Accepted
from store.database import Database
from store.ledger import actions_of
from store.log import append, change_row, leave_wake, lock_conversation


async def staff_reply(
    db: Database,
    staff: VerifiedPrincipal,
    conversation_id: str,
    client_message_id: str,
    text: str,
    seen_version: int | None,
) -> Accepted:
    """Put a person's reply into the log, once. Raises NotFound, NotOwned, MessageConflict, VersionConflict."""
    e = t.events.c
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, staff)
        query = sa.select(t.events).where(
            e.conversation_id == conversation_id,
            e.client_message_id == client_message_id,
            e.kind == EventKind.STAFF_REPLY.value,
        )
        if (prior := (await tx.execute(query)).one_or_none()) is not None:
            if prior.body["text"] != text or prior.actor != staff.key:
                raise MessageConflict("This client_message_id came before with other words; use a new id.")
            return Accepted(seq=prior.seq, version=row.version, duplicate=True)
        if row.owner != Owner.HUMAN:
            raise NotOwned("Take the conversation over before you reply.", owner=row.owner, owner_epoch=row.owner_epoch)
        if seen_version is not None and seen_version > row.version:
            raise VersionConflict(f"There is no version {seen_version} yet.", current_version=row.version)
        event = await append(
            tx, row, EventKind.STAFF_REPLY, staff.key, {"text": text}, client_message_id=client_message_id
        )
        seen = row.version if seen_version is None else seen_version
        await change_row(tx, conversation_id, answered_seq=max(row.answered_seq, min(seen, row.customer_seq)))
        for waiting in await actions_of(tx, conversation_id):
            if waiting.state.unexecuted:  # it may have waited for this: what the customer said is dealt with
                await leave_wake(tx, row, event, row.owner_epoch, waiting.operation_id)
        wake = await leave_wake(tx, row, event, row.owner_epoch)
        return Accepted(seq=event.seq, version=event.seq, duplicate=False, wake=wake)
