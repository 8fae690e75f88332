"""What staff see of a conversation beside what its customer does: who has it, what waits, what is around it.

Everything here is read, in one transaction.
"""

from datetime import datetime

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import ConversationView
from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.teamwork import Glance
from domain.waiting import Waiting
from store import tables as t
from store.conversations import view_in
from store.database import Database
from store.desk import StandingDesk, standing_desk
from store.drafts import DraftItem, draft_that_waits
from store.pipeline import Row
from store.queue import open_handoff_of
from store.teamwork import glance

_c = t.conversations.c


class Whose(Noun):
    """The customer or visitor whose conversation it is."""

    kind: PrincipalKind
    id: str


class SeenByStaff(Noun):
    """A conversation as staff see it. `handoff` is the open one, as it stands in the queue."""

    view: ConversationView
    principal: Whose
    language: str
    channel: str
    holder: str | None
    created_at: datetime
    updated_at: datetime
    glance: Glance
    handoff: Waiting | None
    draft: DraftItem | None
    desk: StandingDesk


async def staff_view(db: Database, staff: VerifiedPrincipal, conversation_id: str, now: datetime) -> SeenByStaff:
    """Return it. Raises NotFound."""
    async with db.transaction(staff.tenant_id) as tx:
        view = await view_in(tx, staff, conversation_id)
        row: Row = (await tx.execute(sa.select(t.conversations).where(_c.id == conversation_id))).one()
        return SeenByStaff(
            view=view,
            principal=Whose(kind=PrincipalKind(row.principal_kind), id=row.principal_id),
            language=row.language,
            channel=row.channel,
            holder=row.holder,
            created_at=row.created_at,
            updated_at=row.updated_at,
            glance=await glance(tx, conversation_id, now),
            handoff=await open_handoff_of(tx, conversation_id, now),
            draft=await draft_that_waits(tx, conversation_id, now),
            desk=await standing_desk(tx),
        )
