"""The read-only effects of a turn: the reply that answers it, the notice that it waits, how far it has worked.

Each is fenced by epoch, by nobody having answered that far, and by no newer message (INVARIANTS 1, 3).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from domain.conversation import EventKind, Owner
from domain.refusal import NotFound
from domain.reply import CheckedReply, Segment, Source
from domain.turn import Effect, TurnFence
from domain.words import NoticeKind, Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import LOCK_ACTIONS_OF, actions_of, to_action, with_given
from store.log import (
    LOCK,
    STEP_RESULT,
    append,
    appended,
    appended_behind,
    change_row,
    lock_conversation,
    step_result,
)
from store.ownership import BOT
from store.pipeline import COMMIT, Row, Statement, run

Behind = list[tuple[EventKind, dict[str, Any]]]

_c, _e = t.conversations.c, t.events.c


async def refusal_of(tx: Tx, row: Row, fence: TurnFence) -> Effect | None:
    """Return why a turn may no longer take effect on the locked row, or None when it may."""
    if row.owner != Owner.BOT or row.owner_epoch != fence.owner_epoch:
        return Effect.FENCED
    if row.answered_seq != fence.answered_seq or fence.through_seq <= row.answered_seq:
        return Effect.OVERTAKEN
    if row.customer_seq > fence.through_seq and not fence.last_round:
        return Effect.NEWER_MESSAGE
    return None


_AS_IT_STANDS = Statement(sa.select(t.conversations).where(_c.id == sa.bindparam("conversation_id")))


async def standing_of(db: Database, fence: TurnFence) -> Effect | None:
    """Return how a step would end, without taking it: as it did before, or refused; None while it may take effect.

    Locks nothing and promises nothing: for whoever is about to pay for what the step then may not use.
    """
    here = {"conversation_id": fence.conversation_id}
    begun = db.transaction_after(fence.tenant_id, _AS_IT_STANDS(**here), STEP_RESULT(**here, step_id=fence.step_id))
    async with begun as (tx, (rows, written)):
        if not rows:
            raise NotFound("There is no such conversation.")
        if written:
            handed_off = written[0].kind == EventKind.OWNER_CHANGED.value
            return Effect.HANDED_OFF if handed_off else Effect.DONE
        return await refusal_of(tx, rows[0], fence)


_HAS_SPOKEN = Statement(
    sa.select(
        sa.exists()
        .where(
            _e.conversation_id == sa.bindparam("conversation_id"),
            sa.or_(_e.kind == EventKind.BOT_REPLY.value, _e.kind == EventKind.PROPOSAL.value),
            _e.actor == BOT,
        )
        .label("spoken")
    )
)
_ANSWERED = Statement(
    sa.update(t.conversations)
    .where(_c.id == sa.bindparam("conversation_id"))
    .values(
        answered_seq=sa.bindparam("through_seq", type_=sa.Integer),
        language=sa.bindparam("language_now"),
        consumed_seq=sa.case(
            (_c.customer_seq <= sa.bindparam("through_seq", type_=sa.Integer), _c.version), else_=_c.consumed_seq
        ),
    )
)


async def publish_reply(
    db: Database, fence: TurnFence, reply: CheckedReply, language: str, words: Words, behind: Behind
) -> Effect:
    """Put a checked reply into the log, once: the only way in which the bot speaks.

    Ledger segments are rendered here, from rows locked in this transaction (INVARIANT 6).
    """
    here = {"conversation_id": fence.conversation_id}
    begun = db.transaction_after(
        fence.tenant_id,
        LOCK(**here),
        STEP_RESULT(**here, step_id=fence.step_id),
        LOCK_ACTIONS_OF(**here),
        _HAS_SPOKEN(**here),
    )
    async with begun as (tx, (rows, written, ledger, spoken)):
        if not rows:
            raise NotFound("There is no such conversation.")
        row = rows[0]
        if written:
            return Effect.DONE
        if (refused := await refusal_of(tx, row, fence)) is not None:
            return refused
        text = as_one(await in_words(tx, reply.draft.segments, ledger, language, words))
        body = {
            "text": text if spoken[0].spoken else f"{words.disclosure(language)} {text}",
            "citations": cited_by(reply.draft.segments),
            "automated": True,
            "answers_through": fence.through_seq,
            "draft_digest": reply.draft_digest,
        }
        await run(
            tx,
            appended(row, EventKind.BOT_REPLY, BOT, body, step_id=fence.step_id),
            *appended_behind(row, behind),
            _ANSWERED(**here, through_seq=fence.through_seq, language_now=language),
            COMMIT(),
        )
        return Effect.DONE


async def in_words(
    tx: Tx, segments: Sequence[Segment], ledger: Sequence[Row], language: str, words: Words
) -> tuple[str, ...]:
    """Return each segment as it is said; what is said of actions comes from `ledger`, their locked rows."""
    cited = {s.rests_on for s in segments if s.source is Source.LEDGER}
    told = [await with_given(tx, to_action(r)) for r in ledger if r.operation_id in cited]
    status = {a.operation_id: words.status(a.model_copy(update={"language": language})) for a in told}
    return tuple(status[s.rests_on] if s.source is Source.LEDGER else s.text for s in segments)


def as_one(sentences: Iterable[str]) -> str:
    """Return the sentences of a reply as one text."""
    return " ".join(s for s in sentences if s)


def cited_by(segments: Iterable[Segment]) -> list[str]:
    """Return what a reply rests on besides fixed words, each once."""
    return sorted({s.rests_on for s in segments if s.source is not Source.TEMPLATE})


async def with_disclosure(tx: Tx, conversation_id: str, text: str, language: str, words: Words) -> str:
    """Return `text`, after the disclosure when it is the first thing that the bot says here (EU AI Act, Art. 50)."""
    (found,) = await run(tx, _HAS_SPOKEN(conversation_id=conversation_id))
    return text if found[0].spoken else f"{words.disclosure(language)} {text}"


async def answer_through(tx: Tx, row: sa.Row[Any], fence: TurnFence, seq: int, language: str) -> None:
    """Record that everything through the turn's seq is answered, and consumed when nothing else has happened."""
    untouched = row.customer_seq <= fence.through_seq
    await change_row(
        tx,
        row.id,
        answered_seq=fence.through_seq,
        language=language,
        **({"consumed_seq": seq} if untouched else {}),
    )


async def tell_waiting(db: Database, fence: TurnFence, operation_id: str, language: str, words: Words) -> Effect:
    """Tell the customer, once per turn, that an outcome is being established first; this answers nothing yet."""
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if await step_result(tx, row.id, fence.step_id) is not None:
            return Effect.DONE
        if (refused := await refusal_of(tx, row, fence)) is not None:
            return refused
        action = next(a for a in await actions_of(tx, row.id, lock=True) if a.operation_id == operation_id)
        if not action.state.in_flight:
            return Effect.OVERTAKEN  # its outcome is known by now: look again
        told = action.model_copy(update={"language": language})
        body = {
            "notice": NoticeKind.WAITING_FOR_OUTCOME.value,
            "text": f"{words.notice(NoticeKind.WAITING_FOR_OUTCOME, language)} {words.status(told)}",
            "operation_id": operation_id,
        }
        await append(tx, row, EventKind.NOTICE, BOT, body, step_id=fence.step_id)
        return Effect.DONE


_CONSUMED = Statement(
    sa.update(t.conversations)
    .where(_c.id == sa.bindparam("conversation_id"))
    .values(
        consumed_seq=sa.func.greatest(
            _c.consumed_seq, sa.func.least(sa.bindparam("through_seq", type_=sa.Integer), _c.version)
        )
    )
)


async def mark_consumed(db: Database, tenant_id: str, conversation_id: str, seq: int) -> None:
    """Record that the workflow has worked through `seq`; never goes back."""
    await db.at_once(tenant_id, _CONSUMED(conversation_id=conversation_id, through_seq=seq))
