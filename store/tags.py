"""Tags: put on by people here and by the bot's understanding in the database; taken off, they stay on record.

How good the bot's tags are is measured from the rows: a tag of the bot is wrong where somebody has taken it off and
nobody has put it on again.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.principal import VerifiedPrincipal
from domain.refusal import Refusal
from domain.teamwork import Tag, TagCount, TagSource, Topic
from store import tables as t
from store.beside import beside, ring
from store.database import Database, Tx
from store.pipeline import Statement

TAGS_PER_CONVERSATION_MAX = 50
TAGS_LISTED_MAX = 500

_g = t.tags.c
_IN_USE = Statement(
    sa.select(_g.tag, sa.func.count().label("conversations"))
    .where(_g.removed_at.is_(None))
    .group_by(_g.tag)
    .order_by(sa.func.count().desc(), _g.tag)
    .limit(TAGS_LISTED_MAX)
)


async def add_tag(db: Database, staff: VerifiedPrincipal, conversation_id: str, tag: str) -> tuple[Tag, ...]:
    """Put a tag on, once, and return all that the conversation has. Raises NotFound, and Refusal for one too many."""
    async with beside(db, staff, conversation_id) as (tx, _):
        before = await tags_of(tx, conversation_id)
        if len(before) >= TAGS_PER_CONVERSATION_MAX:
            raise Refusal(f"A conversation has at most {TAGS_PER_CONVERSATION_MAX} tags; take one off first.")
        new = {"tag": tag, "source": TagSource.STAFF.value, "added_by": staff.key}
        added = await tx.execute(
            insert(t.tags)
            .values(tenant_id=staff.tenant_id, conversation_id=conversation_id, **new)
            .on_conflict_do_nothing()
            .returning(_g.id)
        )
        if added.one_or_none() is not None:
            await ring(tx, staff.tenant_id, conversation_id, Topic.TAGS)
        return await tags_of(tx, conversation_id)


async def remove_tag(
    db: Database, staff: VerifiedPrincipal, conversation_id: str, tag: str, now: datetime
) -> tuple[Tag, ...]:
    """Take a tag off, whoever put it on, and return those that are left. Raises NotFound for the conversation."""
    async with beside(db, staff, conversation_id) as (tx, _):
        standing = sa.and_(_g.conversation_id == conversation_id, _g.tag == tag, _g.removed_at.is_(None))
        removed = await tx.execute(sa.update(t.tags).where(standing).values(removed_by=staff.key, removed_at=now))
        if removed.rowcount:
            await ring(tx, staff.tenant_id, conversation_id, Topic.TAGS)
        return await tags_of(tx, conversation_id)


async def tags_of(tx: Tx, conversation_id: str) -> tuple[Tag, ...]:
    """Return the tags that a conversation has, in the order in which they came."""
    query = sa.select(_g.tag, _g.source, _g.added_by, _g.added_at)
    of = query.where(_g.conversation_id == conversation_id, _g.removed_at.is_(None)).order_by(_g.id)
    return tuple(Tag.model_validate(row, from_attributes=True) for row in await tx.execute(of))


async def tags_in_use(db: Database, tenant_id: str) -> tuple[TagCount, ...]:
    """Return the tenant's tags, the most frequent first."""
    (rows,) = await db.at_once(tenant_id, _IN_USE())
    return tuple(TagCount(tag=row.tag, conversations=row.conversations) for row in rows)
