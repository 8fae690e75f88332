"""Evidence as staff see it beside a conversation: the customer's account as it was last read.

Everything here is read, in one transaction of the tenant.
"""

import sqlalchemy as sa

from domain.account import Evidence
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from store import tables as t
from store.database import Database
from store.log import mine
from store.reading import load_evidence


async def last_evidence(db: Database, staff: VerifiedPrincipal, conversation_id: str) -> Evidence | None:
    """Return what was read last for a conversation, None where nothing was. Raises NotFound."""
    c, e = t.conversations.c, t.evidence.c
    newest = (
        sa.select(e.evidence_id)
        .where(e.conversation_id == conversation_id)
        .order_by(e.observed_at.desc(), e.evidence_id)
        .limit(1)
    )
    async with db.transaction(staff.tenant_id) as tx:
        there = await tx.execute(sa.select(c.id).where(c.id == conversation_id, mine(staff)))
        if there.one_or_none() is None:
            raise NotFound("There is no such conversation.")
        found = (await tx.execute(newest)).scalar_one_or_none()
        return await load_evidence(tx, found) if found is not None else None
