"""Drafts as people of the staff look at them: what waits to be let out, and what became of the others.

Everything here is read; what each rests on and which messages it answers stand beside it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import EventKind
from domain.draft_review import DraftState, Superseded
from domain.freshness import REVIEW, max_age_s
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.reply import Author, Segment, Source
from store import tables as t
from store.database import Database, Tx
from store.turns import cited_by

_d = t.drafts.c


class DraftedSegment(Noun):
    """A stretch of a draft in the words in which it would be said, and what it rests on."""

    text: str
    source: Source
    sources: tuple[str, ...]


class DraftEvidence(Noun):
    """What was read for a draft, where and when; the values are in the evidence."""

    evidence_id: str
    source: str
    observed_at: datetime
    max_age_s: int


class AnsweredMessage(Noun):
    """A message that a draft answers."""

    seq: int
    at: datetime
    text: str


class DraftItem(Noun):
    """One draft. `stale`: it waits and could not be let out as it is; a decision would have a new one made."""

    draft_id: str
    conversation_id: str
    through_seq: int
    owner_epoch: int
    language: str
    intent: str | None
    author: Author
    text: str
    citations: tuple[str, ...]
    segments: tuple[DraftedSegment, ...]
    evidence: tuple[DraftEvidence, ...]
    messages: tuple[AnsweredMessage, ...]
    made_at: datetime
    waited_s: int
    state: DraftState
    stale: bool
    cause: Superseded | None
    ended_at: datetime | None
    decided_by: str | None
    reason: str | None
    said: str | None
    change_permille: int | None
    seq: int | None


class DraftSearch(Noun):
    """Which drafts: what waits, the longest first, or what ended so, the latest first; `after`: where a page ended."""

    state: DraftState = DraftState.WAITING
    after_at: datetime | None = None
    after_id: str | None = None
    limit: int = 50


async def list_drafts(db: Database, staff: VerifiedPrincipal, search: DraftSearch, now: datetime) -> list[DraftItem]:
    """Return at most `search.limit` drafts of the tenant."""
    query = sa.select(t.drafts).where(_d.state == search.state.value).limit(search.limit)
    waits = search.state is DraftState.WAITING
    place = (_d.made_at, _d.draft_id) if waits else (_d.ended_at, _d.draft_id)
    if search.after_at is not None and search.after_id is not None:
        here, last = sa.tuple_(*place), sa.tuple_(search.after_at, search.after_id)
        query = query.where(here > last if waits else here < last)
    query = query.order_by(*(place if waits else (c.desc() for c in place)))
    async with db.transaction(staff.tenant_id) as tx:
        return await _items(tx, (await tx.execute(query)).all(), now)


async def one_draft(db: Database, staff: VerifiedPrincipal, draft_id: str, now: datetime) -> DraftItem:
    """Return one draft, whatever became of it. Raises NotFound."""
    async with db.transaction(staff.tenant_id) as tx:
        found = await _items(tx, (await tx.execute(sa.select(t.drafts).where(_d.draft_id == draft_id))).all(), now)
    if not found:
        raise NotFound("There is no such draft.")
    return found[0]


async def draft_that_waits(tx: Tx, conversation_id: str, now: datetime) -> DraftItem | None:
    """Return the draft that waits in a conversation, if one does."""
    query = sa.select(t.drafts).where(_d.conversation_id == conversation_id, _d.state == DraftState.WAITING.value)
    found = await _items(tx, (await tx.execute(query)).all(), now)
    return found[0] if found else None


async def _items(tx: Tx, rows: Sequence[sa.Row[Any]], now: datetime) -> list[DraftItem]:
    if not rows:
        return []
    evidence, moved = await _evidence(tx, rows), await _moved(tx, rows)
    messages = await _messages(tx, rows)
    return [_item(r, evidence, moved, messages.get(r.draft_id, ()), now) for r in rows]


def _item(
    row: sa.Row[Any],
    evidence: dict[str, DraftEvidence],
    moved: dict[str, datetime],
    messages: Sequence[AnsweredMessage],
    now: datetime,
) -> DraftItem:
    segments = _segments(row)
    read = tuple(evidence[i] for i in sorted({s.rests_on for s in segments if s.source is Source.EVIDENCE}))
    told = [moved[s.rests_on] for s in segments if s.source is Source.LEDGER and s.rests_on in moved]
    waits = row.state == DraftState.WAITING
    old = any((now - e.observed_at).total_seconds() > max_age_s("account", REVIEW) for e in read)
    own = {name: getattr(row, name) for name in DraftItem.model_fields if name in _d}
    return DraftItem.model_validate(
        {
            **own,
            "citations": cited_by(segments),
            "segments": [_told(s) for s in segments],
            "evidence": read,
            "messages": messages,
            "waited_s": max(0, int(((row.ended_at or now) - row.made_at).total_seconds())),
            "stale": waits and (old or any(at > row.made_at for at in told)),
        }
    )


def _segments(row: sa.Row[Any]) -> list[Segment]:
    return [Segment.model_validate(s) for s in row.segments]


def _told(segment: Segment) -> DraftedSegment:
    rests = () if segment.source is Source.TEMPLATE else (segment.rests_on,)
    return DraftedSegment(text=segment.text, source=segment.source, sources=rests)


async def _evidence(tx: Tx, rows: Sequence[sa.Row[Any]]) -> dict[str, DraftEvidence]:
    v, cited = t.evidence.c, _cited(rows, Source.EVIDENCE)
    query = sa.select(v.evidence_id, v.source, v.observed_at, v.max_age_s).where(v.evidence_id.in_(cited))
    found = (await tx.execute(query)).all() if cited else []
    return {r.evidence_id: DraftEvidence.model_validate(r, from_attributes=True) for r in found}


async def _moved(tx: Tx, rows: Sequence[sa.Row[Any]]) -> dict[str, datetime]:
    """When what is told of each action last changed: its state, or who has agreed to it."""
    cited = _cited(rows, Source.LEDGER)
    if not cited:
        return {}
    x, p = t.transitions.c, t.approvals.c
    agreed = sa.func.greatest(p.decided_at, p.voided_at)
    moves = sa.union_all(
        sa.select(x.operation_id, x.at).where(x.operation_id.in_(cited)),
        sa.select(p.operation_id, agreed.label("at")).where(p.operation_id.in_(cited)),
    ).subquery()
    query = sa.select(moves.c.operation_id, sa.func.max(moves.c.at).label("at")).group_by(moves.c.operation_id)
    return {r.operation_id: r.at for r in (await tx.execute(query)).all()}


async def _messages(tx: Tx, rows: Sequence[sa.Row[Any]]) -> dict[str, list[AnsweredMessage]]:
    e = t.events.c
    query = (
        sa.select(_d.draft_id, e.seq, e.at, e.body["text"].astext.label("text"))
        .join(t.events, sa.and_(e.conversation_id == _d.conversation_id, e.seq > _d.answered_seq))
        .where(
            _d.draft_id.in_([r.draft_id for r in rows]),
            e.seq <= _d.through_seq,
            e.kind == EventKind.CUSTOMER_MESSAGE.value,
        )
        .order_by(_d.draft_id, e.seq)
    )
    found: dict[str, list[AnsweredMessage]] = {}
    for r in (await tx.execute(query)).all():
        found.setdefault(r.draft_id, []).append(AnsweredMessage(seq=r.seq, at=r.at, text=r.text))
    return found


def _cited(rows: Sequence[sa.Row[Any]], source: Source) -> list[str]:
    return sorted({s.rests_on for row in rows for s in _segments(row) if s.source is source})
