"""Keeping a draft for a person: the effect of a turn that may not speak for itself, fenced as a reply would be.

The customer is told, once for all that is unanswered, that a person looks at the answer first; and nothing more.
"""

from datetime import datetime
from uuid import uuid4

import sqlalchemy as sa

from domain.conversation import EventKind
from domain.draft_review import DraftState
from domain.refusal import NotFound
from domain.reply import CheckedReply, Segment
from domain.turn import Effect, TurnFence
from domain.words import NoticeKind, Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import LOCK_ACTIONS_OF
from store.log import LOCK, append, change_row
from store.ownership import BOT
from store.pipeline import Row, Statement
from store.turns import Behind, as_one, in_words, refusal_of, standing_of

_d = t.drafts.c
_OF_STEP = Statement(
    sa.select(_d.draft_id).where(
        _d.conversation_id == sa.bindparam("conversation_id"), _d.step_id == sa.bindparam("step_id")
    )
)
_WAITING = Statement(
    sa.select(_d.draft_id).where(
        _d.conversation_id == sa.bindparam("conversation_id"), _d.state == DraftState.WAITING.value
    )
)


async def standing_of_draft(db: Database, fence: TurnFence) -> Effect | None:
    """Return how a step that drafts would end, without taking it; None while it may take effect. Locks nothing."""
    (kept,) = await db.at_once(fence.tenant_id, _OF_STEP(conversation_id=fence.conversation_id, step_id=fence.step_id))
    return Effect.KEPT if kept else await standing_of(db, fence)


async def keep_draft(
    db: Database,
    fence: TurnFence,
    reply: CheckedReply,
    language: str,
    intent: str | None,
    words: Words,
    behind: Behind,
    now: datetime,
) -> Effect:
    """Keep a checked reply for a person to let out, once; however often it was tried, never beside a newer message."""
    here = {"conversation_id": fence.conversation_id}
    asked = (LOCK(**here), _OF_STEP(**here, step_id=fence.step_id), _WAITING(**here), LOCK_ACTIONS_OF(**here))
    async with db.transaction_after(fence.tenant_id, *asked) as (tx, (rows, kept, waiting, ledger)):
        if not rows:
            raise NotFound("There is no such conversation.")
        row = rows[0]
        if kept:
            return Effect.KEPT
        refused = await refusal_of(tx, row, fence.model_copy(update={"last_round": False}))
        if refused is not None or waiting:
            return refused or Effect.OVERTAKEN
        spoken = await in_words(tx, reply.draft.segments, ledger, language, words)
        segments = [s.model_copy(update={"text": said}) for s, said in zip(reply.draft.segments, spoken, strict=True)]
        await _insert(tx, fence, reply, segments, language, intent, behind, now)
        seq = await _tell_once(tx, row, language, words)
        await change_row(tx, row.id, language=language, consumed_seq=seq)
        return Effect.KEPT


async def _insert(
    tx: Tx,
    fence: TurnFence,
    reply: CheckedReply,
    segments: list[Segment],
    language: str,
    intent: str | None,
    behind: Behind,
    now: datetime,
) -> None:
    await tx.execute(
        sa.insert(t.drafts).values(
            draft_id=str(uuid4()),
            tenant_id=fence.tenant_id,
            conversation_id=fence.conversation_id,
            owner_epoch=fence.owner_epoch,
            answered_seq=fence.answered_seq,
            through_seq=fence.through_seq,
            step_id=fence.step_id,
            language=language,
            intent=intent,
            author=reply.draft.author.value,
            text=as_one(s.text for s in segments),
            segments=[s.model_dump(mode="json") for s in segments],
            draft_digest=reply.draft_digest,
            behind=[[kind.value, body] for kind, body in behind],
            made_at=now,
        )
    )


async def _tell_once(tx: Tx, row: Row, language: str, words: Words) -> int:
    """Tell the customer, unless they were told since the first unanswered message; return where the log ends then."""
    e, m = t.events.c, t.events.alias("messages").c
    first = sa.select(sa.func.min(m.seq)).where(
        m.conversation_id == row.id, m.seq > row.answered_seq, m.kind == EventKind.CUSTOMER_MESSAGE.value
    )
    told = sa.exists().where(
        e.conversation_id == row.id,
        e.seq > first.scalar_subquery(),
        e.kind == EventKind.NOTICE.value,
        e.body["notice"].astext == NoticeKind.CHECKED_FIRST.value,
    )
    if (await tx.execute(sa.select(told))).scalar_one():
        return int(row.version)
    kind = NoticeKind.CHECKED_FIRST
    body = {"notice": kind.value, "text": words.notice(kind, language)}
    return (await append(tx, row, EventKind.NOTICE, BOT, body)).seq
