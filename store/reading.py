"""What a turn begins with, and what drafts and proposals are made from: read in as few round trips as there are.

Nothing here changes anything but to keep the evidence that was read.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.account import Evidence
from domain.action import Action, ActionState, ApprovalRole, Payload, payload_of
from domain.base import Noun
from domain.catalogue.wish import Wish
from domain.conversation import EventKind, Owner
from domain.draft_review import DraftState
from domain.handoff import QueueStatus
from domain.knowledge import Article
from domain.refusal import NotFound
from domain.step import Withdraw
from domain.summary import Said, Summary, TurnNote
from domain.turn import TurnRow
from domain.understanding import Intent, TurnContext
from store import tables as t
from store.admission import TENANT, to_standing
from store.circumstances import Circumstances, circumstances, tenant_row
from store.database import Database, Tx
from store.knowledge import ARTICLES, to_article
from store.ledger import ACTIONS_OF, to_action
from store.pipeline import Row, Statement, run

TEXTS_PER_TURN_MAX = 50
NOTES_MAX = 20  # turns since the last summary; one is kept far more often
RECENT_MAX = 8  # things said before a turn that a model is told word for word
_WITHDRAWS = Withdraw.model_fields["step"].default

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
_ASKED_AT = sa.select(_e.at).where(_e.conversation_id == _c.id, _e.seq == _c.customer_seq, _e.part == 0)
_OF_TURNS = sa.select(_e.body).where(_e.conversation_id == _c.id, _e.kind == EventKind.UNDERSTANDING.value)
_LEFT_OPEN = _OF_TURNS.order_by(_e.seq.desc()).limit(1)  # what the last turn left open
_s = t.events.alias("summaries").c
_SUMMARY = (
    sa.select(_s.body)
    .where(_s.conversation_id == _c.id, _s.kind == EventKind.SUMMARY.value)
    .order_by(_s.seq.desc())
    .limit(1)
    .correlate(t.conversations)
)
_SUMMED_UP = sa.func.coalesce(sa.cast(_SUMMARY.scalar_subquery()["through_seq"].astext, sa.Integer), 0)
_SINCE = _OF_TURNS.where(_e.seq > _SUMMED_UP).order_by(_e.seq.desc()).limit(NOTES_MAX)
_SPOKEN = sa.func.coalesce(_e.body["text"].astext, _e.body["summary"].astext)
_RECENT = (
    sa.select(sa.func.jsonb_build_object("seq", _e.seq, "kind", _e.kind, "text", _SPOKEN))
    .where(
        _e.conversation_id == _c.id,
        sa.or_(
            sa.and_(_e.kind == EventKind.CUSTOMER_MESSAGE.value, _e.seq <= _c.answered_seq),
            *(_e.kind == kind.value for kind in (EventKind.BOT_REPLY, EventKind.PROPOSAL, EventKind.STAFF_REPLY)),
        ),
    )
    .order_by(_e.seq.desc())
    .limit(RECENT_MAX)
)
_TO_PEOPLE = (  # when a person last got the conversation: what had been left open was theirs from then on
    sa.select(_e.seq)
    .where(
        _e.conversation_id == _c.id,
        _e.kind == EventKind.OWNER_CHANGED.value,
        _e.body["owner"].astext == Owner.HUMAN.value,
    )
    .order_by(_e.seq.desc())
    .limit(1)
)
_LEFT_TO_PEOPLE = sa.func.coalesce(
    _TO_PEOPLE.scalar_subquery() >= _LEFT_OPEN.with_only_columns(_e.seq).scalar_subquery(), sa.false()
)
_WHY_A_PERSON = sa.select(t.handoffs.c.reason).where(
    t.handoffs.c.conversation_id == _c.id, t.handoffs.c.queue_status != QueueStatus.DONE.value
)
_DRAFTED = sa.exists().where(t.drafts.c.conversation_id == _c.id, t.drafts.c.state == DraftState.WAITING.value)
_UNANSWERED_BY_BOT = sa.and_(_c.owner == Owner.BOT.value, _c.customer_seq > _c.answered_seq)
_TURN = Statement(
    sa.select(
        t.conversations,
        sa.case((_UNANSWERED_BY_BOT, sa.func.array(_UNANSWERED.scalar_subquery()))).label("texts"),
        sa.case((_UNANSWERED_BY_BOT, _ASKED_AT.scalar_subquery())).label("asked_at"),
        sa.case((_UNANSWERED_BY_BOT, _LEFT_OPEN.scalar_subquery())).label("left_open"),
        sa.case((_UNANSWERED_BY_BOT, _LEFT_TO_PEOPLE)).label("left_to_people"),
        sa.case((_UNANSWERED_BY_BOT, _SUMMARY.scalar_subquery())).label("summary"),
        sa.case((_UNANSWERED_BY_BOT, sa.func.array(_SINCE.scalar_subquery()))).label("since"),
        sa.case((_UNANSWERED_BY_BOT, sa.func.array(_RECENT.scalar_subquery()))).label("recent"),
        sa.case((_c.owner == Owner.HUMAN.value, _WHY_A_PERSON.scalar_subquery())).label("handoff_reason"),
        sa.case((_UNANSWERED_BY_BOT, _DRAFTED), else_=sa.false()).label("draft_waits"),
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
    found, tenants, actions, cases, confirmed = await db.at_once(
        tenant_id,
        _TURN(conversation_id=conversation_id),
        TENANT(),
        ACTIONS_OF(conversation_id=conversation_id),
        _WITH_A_PERSON(conversation_id=conversation_id),
        _CONFIRMED(conversation_id=conversation_id),
    )
    if not found:
        raise NotFound("There is no such conversation.")
    row = found[0]
    return TurnRow(
        tenant_id=tenant_id,
        tenant=to_standing(tenants[0]),
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
        asked_at=row.asked_at,
        context=_context(row.left_open, left_to_people=bool(row.left_to_people)),
        summary=Summary.model_validate(row.summary or {}),
        notes=tuple(n for body in reversed(row.since or ()) if (n := _note(body))),
        recent=tuple(Said.model_validate(said) for said in reversed(row.recent or ())),
        actions=tuple(to_action(a) for a in actions),
        cases=tuple(c.operation_id for c in cases),
        confirmed=tuple(c.operation_id for c in confirmed),
        updated_at=row.updated_at,
        handoff_reason=row.handoff_reason,
        draft_waits=row.draft_waits,
    )


def _context(left_open: dict[str, Any] | None, *, left_to_people: bool) -> TurnContext:
    """What the last turn left open; what it asked and what waited was dealt with by the person who had it since."""
    if left_open is None:
        return TurnContext()
    meant = left_open.get("meant") or left_open.get("intent")
    kept = {} if left_to_people else left_open
    return TurnContext(
        intent=Intent(meant) if meant else None,
        resource=left_open.get("resource"),
        language=left_open.get("language"),
        question=kept.get("question"),
        amount=kept.get("amount"),
        asked_running=kept.get("asked_running", 0),
        offered=kept.get("offered", ()),
        waiting=kept.get("waiting", ()),
    )


def _note(body: dict[str, Any]) -> TurnNote | None:
    """What a turn came to, as kept behind its reply; None for one that was kept before there were notes."""
    if body.get("through_seq") is None:
        return None
    return TurnNote(
        seq=body["through_seq"],
        intent=body.get("meant") or body["intent"],
        resource=body.get("resource"),
        question=body.get("question"),
        corrects=body["corrects"],
        withdraws=body.get("step") == _WITHDRAWS,
        waiting=body["waiting"],
        named=body["named"],
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
        *([ARTICLES()] if with_articles else []),
    )
    return DraftingFacts(
        evidence=_to_evidence(more[0]) if evidence_id else None,
        articles=tuple(to_article(a) for a in more[-1]) if with_articles else (),
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
    """What a proposal is judged on: the payload, made from the account that was read, and its circumstances."""

    payload: Payload
    found: Evidence
    circumstances: Circumstances


async def proposing_facts(
    db: Database, tenant_id: str, conversation_id: str, evidence_id: str, wish: Wish, now: datetime
) -> ProposingFacts:
    """Read what policy looks at for a proposal, in one transaction. Raises NotFound, also for who has no account.

    Raises NotProposable where the wish does not fit the account.
    """
    async with db.transaction(tenant_id) as tx:
        customer_id = await customer_of(tx, conversation_id)
        if customer_id is None:
            raise NotFound("An anonymous visitor has no account.")
        found = await load_evidence(tx, evidence_id)
        payload = payload_of(wish, found.account, customer_id)
        around = await circumstances(tx, await tenant_row(tx), customer_id, conversation_id, payload, now)
        return ProposingFacts(payload=payload, found=found, circumstances=around)
