"""What every transaction beside the log begins and ends with: the conversation is there, and staff are told.

A change that is in no event rings the staff's streams by a notification of its own, with what it is about.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa

from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.teamwork import Topic
from store.database import Database, Tx
from store.listening import CHANNEL
from store.log import ONE_OF_MINE, whose
from store.pipeline import Row, Statement

# Shared, so that turns are not held up, and taken first, as everywhere: a turn tags under its own lock of the same row.
_HELD = Statement(ONE_OF_MINE.with_for_update(read=True, key_share=True))
_RING = sa.select(sa.func.pg_notify(CHANNEL, sa.bindparam("told", type_=sa.Text)))


@asynccontextmanager
async def beside(db: Database, principal: VerifiedPrincipal, conversation_id: str) -> AsyncIterator[tuple[Tx, Row]]:
    """Open a transaction beside a conversation that exists for `principal`, and give its row. Raises NotFound."""
    asked = _HELD(conversation_id=conversation_id, **whose(principal))
    async with db.transaction_after(principal.tenant_id, asked) as (tx, (rows,)):
        if not rows:
            raise NotFound("There is no such conversation.")
        yield tx, rows[0]


async def ring(tx: Tx, tenant_id: str, conversation_id: str, topic: Topic) -> None:
    """Tell the staff's streams, once this transaction commits, what has changed; the log has nothing new."""
    await tx.execute(_RING, {"told": f"{tenant_id} {conversation_id} 0 {topic.value}"})
