"""What one page of the queue shows of its conversations besides: tags, actions in flight, the last message.

Everything here is read, for the rows of the page alone, in one round trip.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from domain.action import ActionKind, ActionState
from domain.base import Noun
from domain.conversation import EventKind
from store import tables as t
from store.database import Database
from store.pipeline import Statement

_a, _c, _e, _g = t.actions.c, t.conversations.c, t.events.c, t.tags.c
_OPEN = [s.value for s in ActionState if not s.terminal]
_SPOKEN = [EventKind.CUSTOMER_MESSAGE.value, EventKind.BOT_REPLY.value, EventKind.STAFF_REPLY.value]
_IDS = sa.bindparam("ids", type_=ARRAY(sa.Text))
_LAST = (
    sa.select(_e.at)
    .where(_e.conversation_id == _c.id, _e.part == 0, _e.kind == sa.any_(sa.literal(_SPOKEN, ARRAY(sa.Text))))
    .order_by(_e.seq.desc())
    .limit(1)
    .scalar_subquery()
)
_ACTIONS = Statement(
    sa.select(_a.conversation_id, _a.operation_id, _a.kind, _a.state)
    .where(_a.conversation_id == sa.any_(_IDS), _a.state == sa.any_(sa.literal(_OPEN, ARRAY(sa.Text))))
    .order_by(_a.created_at, _a.operation_id)
)
_TAGS = Statement(
    sa.select(_g.conversation_id, _g.tag)
    .where(_g.conversation_id == sa.any_(_IDS), _g.removed_at.is_(None))
    .order_by(_g.tag)
)
_SPOKE = Statement(sa.select(_c.id, _LAST.label("at")).where(_c.id == sa.any_(_IDS)))
_TAGGED = Statement(sa.select(_g.conversation_id).where(_g.tag == sa.bindparam("tag"), _g.removed_at.is_(None)))


class InFlight(Noun):
    """An action that has not ended."""

    operation_id: str
    kind: ActionKind
    state: ActionState


class Detail(Noun):
    """What a page shows of a conversation besides."""

    tags: tuple[str, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    last_message_at: datetime | None = None


async def details(db: Database, tenant_id: str, conversation_ids: Iterable[str]) -> dict[str, Detail]:
    """Return what a page shows of each of these conversations besides."""
    ids = sorted(set(conversation_ids))
    if not ids:
        return {}
    actions, tags, spoke = await db.at_once(tenant_id, _ACTIONS(ids=ids), _TAGS(ids=ids), _SPOKE(ids=ids))
    found: dict[str, dict[str, Any]] = {ident: {"tags": [], "in_flight": []} for ident in ids}
    for row in actions:
        move = InFlight(operation_id=row.operation_id, kind=ActionKind(row.kind), state=ActionState(row.state))
        found[row.conversation_id]["in_flight"].append(move)
    for row in tags:
        found[row.conversation_id]["tags"].append(row.tag)
    for row in spoke:
        found[row.id]["last_message_at"] = row.at
    return {ident: Detail.model_validate(one) for ident, one in found.items()}


async def tagged(db: Database, tenant_id: str, tag: str) -> frozenset[str]:
    """Return the conversations that have the tag."""
    (rows,) = await db.at_once(tenant_id, _TAGGED(tag=tag))
    return frozenset(row.conversation_id for row in rows)
