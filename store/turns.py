"""A turn's read and its read-only effects: what is unanswered, and the reply that answers through it.

Every effect is fenced by the turn's epoch, by nobody having answered that far, and by no newer message (1, 3).
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.account import Evidence
from domain.action import Action
from domain.base import Noun
from domain.conversation import EventKind, Owner, Phase
from domain.refusal import NotFound
from domain.reply import Article, CheckedReply, Source
from domain.turn import Effect, TurnFence, TurnRow
from domain.understanding import Intent, TurnContext
from domain.words import NoticeKind, Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import actions_of
from store.log import append, append_behind, change_row, lock_conversation, step_result
from store.ownership import BOT
from store.tenancy import customer_status, refunds_30d

Behind = list[tuple[EventKind, dict[str, Any]]]

TEXTS_PER_TURN_MAX = 50


async def read_turn(db: Database, tenant_id: str, conversation_id: str) -> TurnRow:
    """Return everything a turn begins with, in one read. Raises NotFound."""
    async with db.transaction(tenant_id) as tx:
        row = (
            await tx.execute(sa.select(t.conversations).where(t.conversations.c.id == conversation_id))
        ).one_or_none()
        if row is None:
            raise NotFound("There is no such conversation.")
        unanswered = row.owner == Owner.BOT and row.customer_seq > row.answered_seq
        texts = await _unanswered_texts(tx, row) if unanswered else ()
        last = await _left_open(tx, conversation_id) if unanswered else TurnContext()
        actions = await actions_of(tx, conversation_id)
        return TurnRow(
            tenant_id=tenant_id,
            conversation_id=conversation_id,
            customer_id=row.principal_id if row.principal_kind == "customer" else None,
            language=row.language,
            owner=Owner(row.owner),
            owner_epoch=row.owner_epoch,
            version=row.version,
            answered_seq=row.answered_seq,
            consumed_seq=row.consumed_seq,
            customer_seq=row.customer_seq,
            texts=texts,
            context=last,
            actions=tuple(actions),
            cases=await _with_a_person(tx, actions),
            confirmed=await _confirmed(tx, actions),
            updated_at=row.updated_at,
        )


async def _unanswered_texts(tx: Tx, row: sa.Row[Any]) -> tuple[str, ...]:
    e = t.events.c
    query = (
        sa.select(e.body["text"].astext)
        .where(
            e.conversation_id == row.id,
            e.seq > row.answered_seq,
            e.seq <= row.customer_seq,
            e.kind == EventKind.CUSTOMER_MESSAGE.value,
        )
        .order_by(e.seq.desc())
        .limit(TEXTS_PER_TURN_MAX)
    )
    return tuple(reversed((await tx.execute(query)).scalars().all()))


async def _left_open(tx: Tx, conversation_id: str) -> TurnContext:
    """What the last turn left open."""
    e = t.events.c
    query = (
        sa.select(e.body)
        .where(e.conversation_id == conversation_id, e.kind == EventKind.UNDERSTANDING.value)
        .order_by(e.seq.desc())
        .limit(1)
    )
    body = (await tx.execute(query)).scalar_one_or_none()
    if body is None:
        return TurnContext()
    meant = body.get("meant") or body.get("intent")
    intent = Intent(meant) if meant else None
    return TurnContext(
        intent=intent,
        resource=body.get("resource"),
        question=body.get("question"),
        language=body.get("language"),
    )


async def _with_a_person(tx: Tx, actions: list[Action]) -> tuple[str, ...]:
    ids = [a.operation_id for a in actions if a.state.in_flight]
    if not ids:
        return ()
    k = t.cases.c
    query = sa.select(k.operation_id).where(k.operation_id.in_(ids), k.queue_status != "done")
    return tuple((await tx.execute(query)).scalars())


async def _confirmed(tx: Tx, actions: list[Action]) -> tuple[str, ...]:
    ids = [a.operation_id for a in actions if a.state.unexecuted]
    if not ids:
        return ()
    p = t.approvals.c
    query = sa.select(p.operation_id).where(
        p.operation_id.in_(ids), p.role == "customer", p.decision == "approve", p.voided_at.is_(None)
    )
    return tuple((await tx.execute(query)).scalars())


async def record_evidence(db: Database, tenant_id: str, conversation_id: str, subject: str, found: Evidence) -> None:
    """Keep what was read; evidence is append-only. The same evidence id again changes nothing."""
    async with db.transaction(tenant_id) as tx:
        await tx.execute(
            insert(t.evidence)
            .values(
                evidence_id=found.evidence_id,
                tenant_id=tenant_id,
                conversation_id=conversation_id,
                source=found.source,
                subject=subject,
                value=found.account.model_dump(mode="json"),
                observed_at=found.observed_at,
                max_age_s=found.max_age_s,
            )
            .on_conflict_do_nothing()
        )


async def load_evidence(tx: Tx, evidence_id: str) -> Evidence:
    """Return kept evidence. Raises NotFound."""
    row = (await tx.execute(sa.select(t.evidence).where(t.evidence.c.evidence_id == evidence_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such evidence.")
    return Evidence(
        evidence_id=row.evidence_id,
        source=row.source,
        account=row.value,
        observed_at=row.observed_at,
        max_age_s=row.max_age_s,
    )


class DraftingFacts(Noun):
    """What a draft is made from: kept evidence, effective articles, the conversation's actions."""

    evidence: Evidence | None
    articles: tuple[Article, ...]
    actions: tuple[Action, ...]
    customer_id: str | None


async def drafting_facts(
    db: Database, tenant_id: str, conversation_id: str, evidence_id: str | None, with_articles: bool
) -> DraftingFacts:
    """Read what a draft may rest on, in one transaction."""
    async with db.transaction(tenant_id) as tx:
        return DraftingFacts(
            evidence=await load_evidence(tx, evidence_id) if evidence_id else None,
            articles=await effective_articles(tx) if with_articles else (),
            actions=tuple(await actions_of(tx, conversation_id)),
            customer_id=await customer_of(tx, conversation_id),
        )


async def customer_of(tx: Tx, conversation_id: str) -> str | None:
    """Return the customer whose conversation it is; None for an anonymous visitor. Raises NotFound."""
    c = t.conversations.c
    row = (await tx.execute(sa.select(c.principal_kind, c.principal_id).where(c.id == conversation_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such conversation.")
    return str(row.principal_id) if row.principal_kind == "customer" else None


class ProposingFacts(Noun):
    """What a proposal is judged on, beside the evidence."""

    tenant_id: str
    tenant_kind: str
    tenant_stage: str
    policy_digest: str
    customer_id: str | None
    customer_status: str
    refunds_30d_count: int
    refunds_30d_minor: int


async def proposing_facts(
    db: Database, tenant_id: str, conversation_id: str, evidence_id: str, now: datetime
) -> tuple[ProposingFacts, Evidence]:
    """Read what policy looks at for a proposal, in one transaction. Raises NotFound."""
    async with db.transaction(tenant_id) as tx:
        customer_id = await customer_of(tx, conversation_id)
        tenant = (await tx.execute(sa.select(t.tenants))).one()
        count, amount = await refunds_30d(tx, customer_id or "", now)
        facts = ProposingFacts(
            tenant_id=tenant_id,
            tenant_kind=tenant.kind,
            tenant_stage=tenant.stage,
            policy_digest=tenant.policy_digest,
            customer_id=customer_id,
            customer_status=await customer_status(tx, customer_id or ""),
            refunds_30d_count=count,
            refunds_30d_minor=amount,
        )
        return facts, await load_evidence(tx, evidence_id)


async def effective_articles(tx: Tx) -> tuple[Article, ...]:
    """Return the tenant's articles in force now that a customer may see, the newest version of each."""
    a = t.articles.c
    newest = (
        sa.select(a.slug, a.language, sa.func.max(a.version).label("version"))
        .where(
            a.effective_from <= sa.func.now(),
            sa.or_(a.effective_until.is_(None), a.effective_until > sa.func.now()),
            a.audience != "staff",
        )
        .group_by(a.slug, a.language)
        .subquery()
    )
    same = sa.and_(a.slug == newest.c.slug, a.language == newest.c.language, a.version == newest.c.version)
    query = sa.select(t.articles).join(newest, same).order_by(a.slug, a.language)
    rows = (await tx.execute(query)).all()
    return tuple(
        Article(slug=r.slug, version=r.version, language=r.language, title=r.title, body=r.body, audience=r.audience)
        for r in rows
    )


async def refusal_of(tx: Tx, row: sa.Row[Any], fence: TurnFence) -> Effect | None:
    """Return why a turn may no longer take effect on the locked row, or None when it may."""
    if row.owner != Owner.BOT or row.owner_epoch != fence.owner_epoch:
        return Effect.FENCED
    if row.answered_seq != fence.answered_seq or fence.through_seq <= row.answered_seq:
        return Effect.OVERTAKEN
    if row.customer_seq > fence.through_seq and not fence.last_round:
        return Effect.NEWER_MESSAGE
    return None


async def publish_reply(
    db: Database, fence: TurnFence, reply: CheckedReply, language: str, words: Words, behind: Behind
) -> Effect:
    """Put a checked reply into the log, once: the only way in which the bot speaks.

    Ledger segments are rendered here, from rows locked in this transaction (INVARIANT 6).
    """
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if await step_result(tx, row.id, fence.step_id) is not None:
            return Effect.DONE
        if (refused := await refusal_of(tx, row, fence)) is not None:
            return refused
        actions = {a.operation_id: a for a in await actions_of(tx, row.id, lock=True)}
        sentences = [
            words.status(actions[s.rests_on]) if s.source is Source.LEDGER else s.text for s in reply.draft.segments
        ]
        citations = sorted({s.rests_on for s in reply.draft.segments if s.source is not Source.TEMPLATE})
        body = {
            "text": await with_disclosure(tx, row.id, " ".join(s for s in sentences if s), language, words),
            "citations": citations,
            "automated": True,
            "answers_through": fence.through_seq,
            "draft_digest": reply.draft_digest,
        }
        event = await append(tx, row, EventKind.BOT_REPLY, BOT, body, step_id=fence.step_id)
        await append_behind(tx, row, behind)
        await answer_through(tx, row, fence, event.seq, language, Phase.IDLE)
        return Effect.DONE


async def with_disclosure(tx: Tx, conversation_id: str, text: str, language: str, words: Words) -> str:
    """Return `text`, after the disclosure when it is the first thing that the bot says here (EU AI Act, Art. 50)."""
    e = t.events.c
    spoken = sa.exists().where(
        e.conversation_id == conversation_id, e.kind.in_([EventKind.BOT_REPLY.value, EventKind.PROPOSAL.value])
    )
    if (await tx.execute(sa.select(spoken))).scalar_one():
        return text
    return f"{words.disclosure(language)} {text}"


async def answer_through(tx: Tx, row: sa.Row[Any], fence: TurnFence, seq: int, language: str, phase: Phase) -> None:
    """Record that everything through the turn's seq is answered, and consumed when nothing else has happened."""
    untouched = row.customer_seq <= fence.through_seq
    await change_row(
        tx,
        row.id,
        answered_seq=fence.through_seq,
        language=language,
        phase=phase.value,
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
        body = {
            "notice": NoticeKind.WAITING_FOR_OUTCOME.value,
            "text": f"{words.notice(NoticeKind.WAITING_FOR_OUTCOME, language)} {words.status(action)}",
            "operation_id": operation_id,
        }
        await append(tx, row, EventKind.NOTICE, BOT, body, step_id=fence.step_id)
        return Effect.DONE


async def mark_consumed(
    db: Database, tenant_id: str, conversation_id: str, seq: int, phase: Phase | None = None
) -> None:
    """Record that the workflow has worked through `seq`; never goes back."""
    c = t.conversations.c
    values: dict[str, Any] = {"consumed_seq": sa.func.greatest(c.consumed_seq, sa.func.least(seq, c.version))}
    if phase is not None:
        values["phase"] = phase.value
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.update(t.conversations).where(c.id == conversation_id).values(**values))
