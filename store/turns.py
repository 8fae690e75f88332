"""A turn's read and its read-only effects: what is unanswered, and the reply that answers through it.

Every effect is fenced by the turn's epoch, by nobody having answered that far, and by no newer message (1, 3).
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.account import Evidence
from domain.action import Action, ActionState, ApprovalRole
from domain.base import Noun
from domain.conversation import EventKind, Owner
from domain.handoff import QueueStatus
from domain.refusal import NotFound
from domain.reply import Article, CheckedReply, Source
from domain.turn import Effect, TurnFence, TurnRow
from domain.understanding import Intent, TurnContext
from domain.words import NoticeKind, Words
from store import tables as t
from store.database import Database, Tx
from store.ledger import ACTIONS_OF, LOCK_ACTIONS_OF, actions_of, to_action, with_given
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
from store.tenancy import customer_status, refunds_30d

Behind = list[tuple[EventKind, dict[str, Any]]]

TEXTS_PER_TURN_MAX = 50


_c, _e = t.conversations.c, t.events.c
_UNANSWERED = (
    sa.select(_e.body["text"].astext)
    .where(
        _e.conversation_id == _c.id,
        _e.seq > _c.answered_seq,
        _e.seq <= _c.customer_seq,
        _e.kind == EventKind.CUSTOMER_MESSAGE.value,
    )
    .order_by(_e.seq.desc())
    .limit(TEXTS_PER_TURN_MAX + 1)  # one more, so that a turn knows when there is too much for it
)
_LEFT_OPEN = (  # what the last turn left open
    sa.select(_e.body)
    .where(_e.conversation_id == _c.id, _e.kind == EventKind.UNDERSTANDING.value)
    .order_by(_e.seq.desc())
    .limit(1)
)
_WHY_A_PERSON = sa.select(t.handoffs.c.reason).where(
    t.handoffs.c.conversation_id == _c.id, t.handoffs.c.queue_status != QueueStatus.DONE.value
)
_UNANSWERED_BY_BOT = sa.and_(_c.owner == Owner.BOT.value, _c.customer_seq > _c.answered_seq)
_TURN = Statement(
    sa.select(
        t.conversations,
        sa.case((_UNANSWERED_BY_BOT, sa.func.array(_UNANSWERED.scalar_subquery()))).label("texts"),
        sa.case((_UNANSWERED_BY_BOT, _LEFT_OPEN.scalar_subquery())).label("left_open"),
        sa.case((_c.owner == Owner.HUMAN.value, _WHY_A_PERSON.scalar_subquery())).label("handoff_reason"),
    ).where(_c.id == sa.bindparam("conversation_id"))
)
_WITH_A_PERSON = Statement(
    sa.select(t.cases.c.operation_id)
    .join(t.actions, t.actions.c.operation_id == t.cases.c.operation_id)
    .where(
        t.actions.c.conversation_id == sa.bindparam("conversation_id"),
        sa.or_(*(t.actions.c.state == s.value for s in ActionState if s.in_flight)),
        t.cases.c.queue_status != "done",
    )
)

_CONFIRMED = Statement(
    sa.select(t.approvals.c.operation_id)
    .join(t.actions, t.actions.c.operation_id == t.approvals.c.operation_id)
    .where(
        t.actions.c.conversation_id == sa.bindparam("conversation_id"),
        t.actions.c.state == ActionState.AWAITING_APPROVAL.value,
        t.approvals.c.role == ApprovalRole.CUSTOMER.value,
        t.approvals.c.decision == "approve",
        t.approvals.c.voided_at.is_(None),
        t.approvals.c.payload_digest == t.actions.c.payload_digest,
        t.approvals.c.policy_digest == t.actions.c.policy_digest,
        t.approvals.c.evidence_digest == t.actions.c.evidence_digest,
    )
)


async def read_turn(db: Database, tenant_id: str, conversation_id: str) -> TurnRow:
    """Return everything a turn begins with, in one read. Raises NotFound."""
    found, actions, cases, confirmed = await db.at_once(
        tenant_id,
        _TURN(conversation_id=conversation_id),
        ACTIONS_OF(conversation_id=conversation_id),
        _WITH_A_PERSON(conversation_id=conversation_id),
        _CONFIRMED(conversation_id=conversation_id),
    )
    if not found:
        raise NotFound("There is no such conversation.")
    row = found[0]
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
        texts=tuple(reversed(row.texts or ())),
        context=_context(row.left_open),
        actions=tuple(to_action(a) for a in actions),
        cases=tuple(c.operation_id for c in cases),
        confirmed=tuple(c.operation_id for c in confirmed),
        updated_at=row.updated_at,
        handoff_reason=row.handoff_reason,
    )


def _context(left_open: dict[str, Any] | None) -> TurnContext:
    if left_open is None:
        return TurnContext()
    meant = left_open.get("meant") or left_open.get("intent")
    return TurnContext(
        intent=Intent(meant) if meant else None,
        resource=left_open.get("resource"),
        question=left_open.get("question"),
        language=left_open.get("language"),
    )


_KEEP_EVIDENCE = Statement(insert(t.evidence).on_conflict_do_nothing())
_EVIDENCE = Statement(sa.select(t.evidence).where(t.evidence.c.evidence_id == sa.bindparam("evidence_id")))


async def record_evidence(db: Database, tenant_id: str, conversation_id: str, subject: str, found: Evidence) -> None:
    """Keep what was read; evidence is append-only. The same evidence id again changes nothing."""
    kept = _KEEP_EVIDENCE(
        evidence_id=found.evidence_id,
        tenant_id=tenant_id,
        conversation_id=conversation_id,
        source=found.source,
        subject=subject,
        value=found.account.model_dump(mode="json"),
        observed_at=found.observed_at,
        max_age_s=found.max_age_s,
    )
    await db.at_once(tenant_id, kept)


async def load_evidence(tx: Tx, evidence_id: str) -> Evidence:
    """Return kept evidence. Raises NotFound."""
    (found,) = await run(tx, _EVIDENCE(evidence_id=evidence_id))
    return _to_evidence(found)


def _to_evidence(found: list[Row]) -> Evidence:
    if not found:
        raise NotFound("There is no such evidence.")
    row = found[0]
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
    """Read what a draft may rest on, in one transaction. Raises NotFound."""
    customers, actions, *more = await db.at_once(
        tenant_id,
        _CUSTOMER(conversation_id=conversation_id),
        ACTIONS_OF(conversation_id=conversation_id),
        *([_EVIDENCE(evidence_id=evidence_id)] if evidence_id else []),
        *([_ARTICLES()] if with_articles else []),
    )
    return DraftingFacts(
        evidence=_to_evidence(more[0]) if evidence_id else None,
        articles=tuple(_to_article(a) for a in more[-1]) if with_articles else (),
        actions=tuple(to_action(a) for a in actions),
        customer_id=_to_customer(customers),
    )


_CUSTOMER = Statement(sa.select(_c.principal_kind, _c.principal_id).where(_c.id == sa.bindparam("conversation_id")))


async def customer_of(tx: Tx, conversation_id: str) -> str | None:
    """Return the customer whose conversation it is; None for an anonymous visitor. Raises NotFound."""
    (found,) = await run(tx, _CUSTOMER(conversation_id=conversation_id))
    return _to_customer(found)


def _to_customer(found: list[Row]) -> str | None:
    if not found:
        raise NotFound("There is no such conversation.")
    return str(found[0].principal_id) if found[0].principal_kind == "customer" else None


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


_a = t.articles.c
_NEWEST = (
    sa.select(_a.slug, _a.language, sa.func.max(_a.version).label("version"))
    .where(
        _a.effective_from <= sa.func.now(),
        sa.or_(_a.effective_until.is_(None), _a.effective_until > sa.func.now()),
        _a.audience != "staff",
    )
    .group_by(_a.slug, _a.language)
    .subquery()
)
_ARTICLES = Statement(
    sa.select(t.articles)
    .join(
        _NEWEST,
        sa.and_(_a.slug == _NEWEST.c.slug, _a.language == _NEWEST.c.language, _a.version == _NEWEST.c.version),
    )
    .order_by(_a.slug, _a.language)
)


async def effective_articles(tx: Tx) -> tuple[Article, ...]:
    """Return the tenant's articles in force now that a customer may see, the newest version of each."""
    (rows,) = await run(tx, _ARTICLES())
    return tuple(_to_article(r) for r in rows)


def _to_article(r: Row) -> Article:
    return Article(slug=r.slug, version=r.version, language=r.language, title=r.title, body=r.body, audience=r.audience)


async def refusal_of(tx: Tx, row: Row, fence: TurnFence) -> Effect | None:
    """Return why a turn may no longer take effect on the locked row, or None when it may."""
    if row.owner != Owner.BOT or row.owner_epoch != fence.owner_epoch:
        return Effect.FENCED
    if row.answered_seq != fence.answered_seq or fence.through_seq <= row.answered_seq:
        return Effect.OVERTAKEN
    if row.customer_seq > fence.through_seq and not fence.last_round:
        return Effect.NEWER_MESSAGE
    return None


_HAS_SPOKEN = Statement(
    sa.select(
        sa.exists()
        .where(
            _e.conversation_id == sa.bindparam("conversation_id"),
            sa.or_(_e.kind == EventKind.BOT_REPLY.value, _e.kind == EventKind.PROPOSAL.value),
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
        cited = {s.rests_on for s in reply.draft.segments if s.source is Source.LEDGER}
        told = [to_action(r) for r in ledger if r.operation_id in cited]
        actions = {a.operation_id: await with_given(tx, a) for a in told}
        text = _spoken_text(reply, actions, words)
        body = {
            "text": text if spoken[0].spoken else f"{words.disclosure(language)} {text}",
            "citations": sorted({s.rests_on for s in reply.draft.segments if s.source is not Source.TEMPLATE}),
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


def _spoken_text(reply: CheckedReply, actions: dict[str, Action], words: Words) -> str:
    sentences = [
        words.status(actions[s.rests_on]) if s.source is Source.LEDGER else s.text for s in reply.draft.segments
    ]
    return " ".join(s for s in sentences if s)


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
        body = {
            "notice": NoticeKind.WAITING_FOR_OUTCOME.value,
            "text": f"{words.notice(NoticeKind.WAITING_FOR_OUTCOME, language)} {words.status(action)}",
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
