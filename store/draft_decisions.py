"""What people decide of drafts: let out as they are or in other words, kept in, or asked for anew; each once.

INVARIANT 3: a draft that waits is of this owner, this epoch and the customer's last message: whatever changes one of
these ends it in its own transaction, under the lock that is taken here.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import EventKind
from domain.draft_review import DraftDecision, DraftRequest, DraftState, Superseded, change_permille
from domain.freshness import REVIEW, max_age_s
from domain.handoff import HandoffReason
from domain.principal import VerifiedPrincipal
from domain.refusal import DraftStale, NotFound, RequestConflict
from domain.reply import Segment, Source
from domain.wake import Wake
from domain.words import Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import LOCK_ACTIONS_OF
from store.log import append, append_behind, change_row, last_event, leave_wake, lock_conversation, under_lock
from store.ownership import BOT, take_for
from store.pipeline import Row, run
from store.turns import Behind, as_one, cited_by, in_words, with_disclosure

_d = t.drafts.c
FACTS_AGE_MAX = timedelta(seconds=max_age_s("account", REVIEW))


class DraftDecided(Noun):
    """What became of a draft: `seq` of the reply, or the handoff to whoever rejected it; `wake` None for a repeat."""

    draft_id: str
    state: DraftState
    seq: int | None = None
    handoff_id: str | None = None
    wake: Wake | None = None


async def decide_draft(
    db: Database, staff: VerifiedPrincipal, draft_id: str, asked: DraftRequest, words: Words, now: datetime
) -> DraftDecided:
    """Let a draft out, or keep it in and give the conversation to `staff`; repeated, the first answer.

    Raises NotFound; RequestConflict for another decision under the same id; DraftStale for what waits no more, or
    rests on facts that are too old or have changed: then a new draft is made, which its `wakes` set going.
    """
    found = await _found(db, staff, draft_id)
    said = asked.text.strip() if asked.text is not None else found.text
    changed = 0 if said == found.text else await asyncio.to_thread(change_permille, found.text, said)
    async with db.transaction(staff.tenant_id) as tx:
        row, draft = await _locked(tx, staff, found.conversation_id, draft_id)
        if draft.state != DraftState.WAITING:
            return await _first_answer(tx, draft, staff, asked, said)
        now = await under_lock(tx, now)
        if asked.decision is DraftDecision.REJECT:
            return await _reject(tx, row, draft, staff, asked, words, now)
        passed = await _passed(tx, row, draft, words, now)
        if passed is None:
            return await _let_out(tx, row, draft, staff, asked.request_id, said, changed, words, now)
        wake = await _supersede(tx, row, draft, passed, now)
    raise _stale(passed.value, (wake,))


async def renew_draft(db: Database, staff: VerifiedPrincipal, draft_id: str, now: datetime) -> DraftDecided:
    """Have a draft made anew, from what is known now; of one that was superseded before, nothing more.

    Raises NotFound, and DraftStale for one that was decided.
    """
    found = await _found(db, staff, draft_id)
    async with db.transaction(staff.tenant_id) as tx:
        row, draft = await _locked(tx, staff, found.conversation_id, draft_id)
        if draft.decided_by is not None:
            raise _decided(draft)
        waits = draft.state == DraftState.WAITING
        wake = await _supersede(tx, row, draft, Superseded.RENEWED, now) if waits else None
        return DraftDecided(draft_id=draft_id, state=DraftState.SUPERSEDED, wake=wake)


async def _found(db: Database, staff: VerifiedPrincipal, draft_id: str) -> sa.Row[Any]:
    async with db.transaction(staff.tenant_id) as tx:
        draft = (await tx.execute(sa.select(t.drafts).where(_d.draft_id == draft_id))).one_or_none()
    if draft is None:
        raise NotFound("There is no such draft.")
    return draft


async def _locked(
    tx: Tx, staff: VerifiedPrincipal, conversation_id: str, draft_id: str
) -> tuple[sa.Row[Any], sa.Row[Any]]:
    """The conversation, locked, and the draft as it stands under that lock."""
    row = await lock_conversation(tx, conversation_id, staff)
    return row, (await tx.execute(sa.select(t.drafts).where(_d.draft_id == draft_id))).one()


async def _first_answer(
    tx: Tx, draft: sa.Row[Any], staff: VerifiedPrincipal, asked: DraftRequest, said: str
) -> DraftDecided:
    if (draft.decided_by, draft.request_id) != (staff.key, asked.request_id):
        raise _decided(draft) if draft.decided_by else _stale(draft.cause)
    rejects = asked.decision is DraftDecision.REJECT
    same = draft.reason == asked.reason if rejects else said == (draft.said or draft.text)
    if rejects is not (draft.state == DraftState.REJECTED) or not same:
        raise RequestConflict("This request_id was used for another decision on this draft; use a new one.")
    h = t.handoffs.c
    opened = sa.select(h.id).where(
        h.conversation_id == draft.conversation_id, h.request_id == f"{staff.key}:{_request_of(draft.draft_id)}"
    )
    handoff_id = (await tx.execute(opened)).scalar_one_or_none() if rejects else None
    return DraftDecided(draft_id=draft.draft_id, state=DraftState(draft.state), seq=draft.seq, handoff_id=handoff_id)


def _decided(draft: sa.Row[Any]) -> DraftStale:
    who = draft.decided_by.partition(":")[2]
    told = f"This draft was {draft.state} by {who}. Nothing was changed."
    return DraftStale(told, "decided", staff=who, state=draft.state, decided_at=draft.ended_at.isoformat())


_WHY = {
    Superseded.NEWER_MESSAGE: "The customer has written again; the answer to all of it is being drafted.",
    Superseded.OWNER_CHANGED: "The conversation has changed hands since this was drafted.",
    Superseded.ANSWERED: "What this draft would answer has been answered.",
    Superseded.FACTS_OLD: "The facts in this draft were read too long ago; it is being drafted anew.",
    Superseded.FACTS_CHANGED: "An action that this draft tells of has moved on; it is being drafted anew.",
    Superseded.RENEWED: "A new draft was asked for in place of this one.",
}


def _stale(cause: str, wakes: tuple[Wake, ...] = ()) -> DraftStale:
    return DraftStale(f"{_WHY[Superseded(cause)]} Nothing was sent.", cause, wakes)


async def _passed(tx: Tx, row: Row, draft: sa.Row[Any], words: Words, now: datetime) -> Superseded | None:
    """What has overtaken the facts of a draft, or None: a sentence on an action is as new as its row (INVARIANT 6)."""
    segments = [Segment.model_validate(s) for s in draft.segments]
    read = [s.rests_on for s in segments if s.source is Source.EVIDENCE]
    v = t.evidence.c
    oldest = (await tx.execute(sa.select(sa.func.min(v.observed_at)).where(v.evidence_id.in_(read)))).scalar_one()
    if oldest is not None and now - oldest > FACTS_AGE_MAX:
        return Superseded.FACTS_OLD
    (ledger,) = await run(tx, LOCK_ACTIONS_OF(conversation_id=row.id))
    as_now = as_one(await in_words(tx, segments, ledger, draft.language, words))
    return None if as_now == draft.text else Superseded.FACTS_CHANGED


async def _let_out(
    tx: Tx,
    row: Row,
    draft: sa.Row[Any],
    staff: VerifiedPrincipal,
    request_id: str,
    said: str,
    changed: int,
    words: Words,
    now: datetime,
) -> DraftDecided:
    """Put the reply into the log, as the bot's, and as looked at by a person."""
    edited = said != draft.text
    state = DraftState.EDITED if edited else DraftState.ACCEPTED
    body = {
        "text": await with_disclosure(tx, row.id, said, draft.language, words),
        "citations": cited_by(Segment.model_validate(s) for s in draft.segments),
        "automated": True,
        "reviewed": True,
        "answers_through": draft.through_seq,
        "draft_digest": draft.draft_digest,
        "draft_id": draft.draft_id,
        "reviewed_by": staff.key,
        "edited": edited,
    }
    event = await append(tx, row, EventKind.BOT_REPLY, BOT, body)
    await append_behind(tx, row, [*_behind(draft), *([_as_drafted(draft, state)] if edited else [])])
    told = {"said": said if edited else None, "change_permille": changed, "seq": event.seq}
    await _end(tx, draft, state, now, decided_by=staff.key, request_id=request_id, **told)
    await change_row(tx, row.id, answered_seq=draft.through_seq, language=draft.language)
    wake = await leave_wake(tx, row, event, row.owner_epoch)
    return DraftDecided(draft_id=draft.draft_id, state=state, seq=event.seq, wake=wake)


async def _reject(
    tx: Tx,
    row: sa.Row[Any],
    draft: sa.Row[Any],
    staff: VerifiedPrincipal,
    asked: DraftRequest,
    words: Words,
    now: datetime,
) -> DraftDecided:
    """Keep the draft in; whoever rejects it has the conversation, and answers what is unanswered."""
    state = DraftState.REJECTED
    await _end(tx, draft, state, now, decided_by=staff.key, request_id=asked.request_id, reason=asked.reason or "")
    behind = [*_behind(draft), _as_drafted(draft, state, asked.reason)]
    change = await take_for(
        tx, row, staff, _request_of(draft.draft_id), words, now, HandoffReason.DRAFT_REJECTED, behind
    )
    return DraftDecided(draft_id=draft.draft_id, state=state, handoff_id=change.handoff_id, wake=change.wake)


def _request_of(draft_id: str) -> str:
    """The id under which a rejected draft asks for its handoff: one for each draft."""
    return f"draft/{draft_id}"


async def _supersede(tx: Tx, row: Row, draft: sa.Row[Any], why: Superseded, now: datetime) -> Wake:
    """End a draft that nobody has decided, and have the bot look at the conversation again."""
    await _end(tx, draft, DraftState.SUPERSEDED, now, cause=why.value)
    return await leave_wake(tx, row, await last_event(tx, row), row.owner_epoch)


async def _end(tx: Tx, draft: sa.Row[Any], state: DraftState, now: datetime, **told: Any) -> None:
    ended = {"state": state.value, "ended_at": now, **told}
    await tx.execute(sa.update(t.drafts).where(_d.draft_id == draft.draft_id).values(ended))


def _behind(draft: sa.Row[Any]) -> Behind:
    return [(EventKind(kind), body) for kind, body in draft.behind]


def _as_drafted(draft: sa.Row[Any], state: DraftState, reason: str | None = None) -> tuple[EventKind, dict[str, Any]]:
    """What staff see of a draft that was not let out as it was."""
    told = {"draft_id": draft.draft_id, "text": draft.text, "segments": draft.segments, "state": state.value}
    return EventKind.DRAFT, {**told, "author": draft.author, **({"reason": reason} if reason else {})}
