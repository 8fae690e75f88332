"""Where one conversation stands in the queue, as its customer is told: how many are before it, and what was measured.

Everything here is read, in one round trip: customers ask for it again and again while they wait.
"""

from datetime import datetime

import sqlalchemy as sa

from domain.base import Noun
from domain.desk import DeskSettings
from domain.handoff import QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from store import tables as t
from store.database import Database
from store.desk import LAST_DESK, to_desk
from store.log import ONE_OF_MINE, whose
from store.pipeline import Statement
from store.queue import TAKEN

_h, _before = t.handoffs.c, t.handoffs.alias("before").c
_MINE = Statement(ONE_OF_MINE)
_WAITING = QueueStatus.WAITING.value
_AHEAD = (  # by `handoffs_by_urgency`
    sa.select(sa.func.count())
    .where(
        _before.tenant_id == _h.tenant_id,
        _before.queue_status != QueueStatus.DONE.value,
        _before.queue_status == _WAITING,
        sa.tuple_(_before.urgency, _before.opened_at, _before.id) < sa.tuple_(_h.urgency, _h.opened_at, _h.id),
    )
    .scalar_subquery()
)
_STANDS = Statement(
    sa.select(_h.queue_status, sa.case((_h.queue_status == _WAITING, _AHEAD)).label("ahead")).where(
        _h.conversation_id == sa.bindparam("conversation_id"), _h.queue_status != QueueStatus.DONE.value
    )
)


class StandingPlace(Noun):
    """`ahead`: how many others come before it; None where it does not wait. `status` None: nobody was asked for."""

    status: QueueStatus | None
    ahead: int | None
    waits_s: tuple[float, ...]  # of what was taken since the moment asked about
    document: DeskSettings


async def standing_place(
    db: Database, principal: VerifiedPrincipal, conversation_id: str, taken_since: datetime
) -> StandingPlace:
    """Return where a conversation that `principal` may see stands. Raises NotFound."""
    mine, stands, taken, desk = await db.at_once(
        principal.tenant_id,
        _MINE(conversation_id=conversation_id, **whose(principal)),
        _STANDS(conversation_id=conversation_id),
        TAKEN(since=taken_since),
        LAST_DESK(),
    )
    if not mine:
        raise NotFound("There is no such conversation.")
    handoff = stands[0] if stands else None
    return StandingPlace(
        status=QueueStatus(handoff.queue_status) if handoff else None,
        ahead=handoff.ahead if handoff else None,
        waits_s=tuple(row.s for row in taken) if handoff and handoff.ahead is not None else (),
        document=to_desk(desk).document,
    )
