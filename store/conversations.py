"""Conversations begin here, take the customer's messages, and are looked at.

Each public function is one transaction.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert

from domain.action import ActionKind, ActionState
from domain.base import Noun
from domain.conversation import ActionGlimpse, ConversationView, EventKind, HandoffGlimpse, Owner, Phase
from domain.principal import VerifiedPrincipal
from domain.refusal import MessageConflict, NotFound, QueueFull, VersionConflict
from domain.wake import Wake
from store import tables as t
from store.database import Database, Tx
from store.log import LOCK_MINE, MINE, append, change_row, leave_wake, mine, to_wake, whose
from store.phase import PHASE
from store.pipeline import Row, Statement


class Accepted(Noun):
    """What became of a posted message. `wake` is None for a repeat."""

    seq: int
    version: int
    duplicate: bool
    wake: Wake | None = None


async def open_conversation(
    db: Database, principal: VerifiedPrincipal, conversation_id: str, channel: str, language: str = "en"
) -> ConversationView:
    """Begin a conversation of `principal` under an id minted by the caller; the same id again returns what is there."""
    async with db.transaction(principal.tenant_id) as tx:
        await tx.execute(
            insert(t.conversations)
            .values(
                id=conversation_id,
                tenant_id=principal.tenant_id,
                principal_kind=principal.kind.value,
                principal_id=principal.id,
                channel=channel,
                language=language,
            )
            .on_conflict_do_nothing()
        )
        return await view_in(tx, principal, conversation_id)


_c, _e = t.conversations.c, t.events.c
_PRIOR = sa.select(t.events).where(
    _e.conversation_id == sa.bindparam("conversation_id"),
    _e.client_message_id == sa.bindparam("client_message_id"),
    _e.kind == EventKind.CUSTOMER_MESSAGE.value,
)
_EXPECTED_VERSION = sa.bindparam("expected_version", type_=sa.BigInteger)
_ACCEPTABLE = (
    sa.select(
        _c.tenant_id,
        _c.id,
        sa.literal(EventKind.CUSTOMER_MESSAGE.value),
        sa.bindparam("actor", type_=sa.Text),
        sa.bindparam("client_message_id", type_=sa.Text),
        sa.bindparam("body", type_=JSONB),
    )
    .where(_c.id == sa.bindparam("conversation_id"), MINE, _c.owner != Owner.CLOSED.value)
    .where(sa.or_(_EXPECTED_VERSION.is_(None), _c.version == _EXPECTED_VERSION))
    .where(_c.customer_seq - _c.answered_seq < sa.bindparam("unanswered_max", type_=sa.Integer))
    .where(sa.not_(_PRIOR.exists()))
)
_WRITTEN = (
    sa.insert(t.events)
    .from_select(["tenant_id", "conversation_id", "kind", "actor", "client_message_id", "body"], _ACCEPTABLE)
    .returning(_e.tenant_id, _e.conversation_id, _e.seq, _e.event_id)
    .cte("written")
)
_PRIOR_MESSAGE = Statement(_PRIOR)
_ACCEPT = Statement(
    sa.insert(t.outbox)
    .from_select(
        ["tenant_id", "conversation_id", "event_seq", "event_id", "owner_epoch"],
        sa.select(
            _WRITTEN.c.tenant_id,
            _WRITTEN.c.conversation_id,
            _WRITTEN.c.seq,
            sa.cast(_WRITTEN.c.event_id, sa.Text),
            _c.owner_epoch,
        ).join(t.conversations, _c.id == _WRITTEN.c.conversation_id),
    )
    .returning(t.outbox)
)


async def accept_message(
    db: Database,
    principal: VerifiedPrincipal,
    conversation_id: str,
    client_message_id: str,
    text: str,
    expected_version: int | None,
    unanswered_max: int,
) -> Accepted:
    """Put one customer message into the log, once, with its outbox row; a closed conversation reopens in the same step.

    Raises NotFound, MessageConflict, VersionConflict (with current_version) and QueueFull.
    """
    mine = {"conversation_id": conversation_id, **whose(principal)}
    _, accepted = await db.at_once(  # the usual case, in one round trip; whatever hinders it is looked at in steps
        principal.tenant_id,
        LOCK_MINE(**mine),
        _ACCEPT(
            **mine,
            actor=principal.key,
            client_message_id=client_message_id,
            body={"text": text},
            expected_version=expected_version,
            unanswered_max=unanswered_max,
        ),
    )
    if accepted:
        wake = to_wake(accepted[0])
        return Accepted(seq=wake.seq, version=wake.seq, duplicate=False, wake=wake)
    return await _accept_in_steps(
        db, principal, conversation_id, client_message_id, text, expected_version, unanswered_max
    )


async def _accept_in_steps(
    db: Database,
    principal: VerifiedPrincipal,
    conversation_id: str,
    client_message_id: str,
    text: str,
    expected_version: int | None,
    unanswered_max: int,
) -> Accepted:
    begun = db.transaction_after(
        principal.tenant_id,
        LOCK_MINE(conversation_id=conversation_id, **whose(principal)),
        _PRIOR_MESSAGE(conversation_id=conversation_id, client_message_id=client_message_id),
    )
    async with begun as (tx, (rows, priors)):
        if not rows:
            raise NotFound("There is no such conversation.")
        row = rows[0]
        if priors:
            prior = priors[0]
            if prior.body["text"] != text:
                raise MessageConflict("This client_message_id came before with other words; use a new id.")
            return Accepted(seq=prior.seq, version=row.version, duplicate=True)
        if expected_version is not None and expected_version != row.version:
            raise VersionConflict(
                f"You saw version {expected_version}; it is {row.version} now. "
                "Read the events after yours, then send again.",
                current_version=row.version,
            )
        await _check_depth(tx, row, unanswered_max)
        epoch = await _reopened(tx, row, principal) if row.owner == Owner.CLOSED else row.owner_epoch
        event = await append(
            tx, row, EventKind.CUSTOMER_MESSAGE, principal.key, {"text": text}, client_message_id=client_message_id
        )
        wake = await leave_wake(tx, row, event, epoch)
        return Accepted(seq=event.seq, version=event.seq, duplicate=False, wake=wake)


async def _reopened(tx: Tx, row: Row, principal: VerifiedPrincipal) -> int:
    """Give a closed conversation back to the bot, and return the new epoch."""
    epoch = int(row.owner_epoch) + 1
    await change_row(tx, row.id, owner=Owner.BOT.value, owner_epoch=epoch)
    now = {"owner": Owner.BOT.value, "owner_epoch": epoch}
    await append(tx, row, EventKind.OWNER_CHANGED, principal.key, now)
    return epoch


async def _check_depth(tx: Tx, row: Row, unanswered_max: int) -> None:
    if row.customer_seq - row.answered_seq < unanswered_max:
        return
    e = t.events.c
    waiting = (
        await tx.execute(
            sa.select(sa.func.count()).where(
                e.conversation_id == row.id,
                e.seq > row.answered_seq,
                e.kind == EventKind.CUSTOMER_MESSAGE.value,
            )
        )
    ).scalar_one()
    if waiting >= unanswered_max:
        raise QueueFull(
            f"{waiting} messages wait for an answer here; the limit is {unanswered_max}. Nothing was stored.",
            retry_after_s=5,
        )


async def view_conversation(db: Database, principal: VerifiedPrincipal, conversation_id: str) -> ConversationView:
    """Return the view of design §8. Raises NotFound."""
    async with db.transaction(principal.tenant_id) as tx:
        return await view_in(tx, principal, conversation_id)


async def view_in(tx: Tx, principal: VerifiedPrincipal, conversation_id: str) -> ConversationView:
    """The same, in a transaction that has more to read."""
    c, a, h = t.conversations.c, t.actions.c, t.handoffs.c
    row = (
        await tx.execute(
            sa.select(t.conversations, PHASE.label("phase")).where(c.id == conversation_id, mine(principal))
        )
    ).one_or_none()
    if row is None:
        raise NotFound("There is no such conversation.")
    actions = (
        await tx.execute(
            sa.select(a.operation_id, a.kind, a.state)
            .where(a.conversation_id == conversation_id)
            .order_by(a.created_at, a.operation_id)
        )
    ).all()
    handoff = (
        await tx.execute(
            sa.select(h.id, h.queue_status).where(h.conversation_id == conversation_id, h.queue_status != "done")
        )
    ).one_or_none()
    return ConversationView(
        id=row.id,
        owner=Owner(row.owner),
        owner_epoch=row.owner_epoch,
        version=row.version,
        phase=Phase(row.phase),
        actions=tuple(
            ActionGlimpse(operation_id=x.operation_id, kind=ActionKind(x.kind), state=ActionState(x.state))
            for x in actions
        ),
        handoff=HandoffGlimpse(id=handoff.id, queue_status=handoff.queue_status) if handoff else None,
    )


class Found(Noun):
    """One conversation of a search, newest first by `updated_at`."""

    id: str
    owner: Owner
    owner_epoch: int
    version: int
    phase: Phase
    principal: str
    channel: str
    language: str
    created_at: datetime
    updated_at: datetime


class Search(Noun):
    """What to look for; every condition given must hold. `before` is the last item of the page before."""

    owner: Owner | None = None
    phase: Phase | None = None
    principal_id: str | None = None
    text: str | None = None
    before_at: datetime | None = None
    before_id: str | None = None
    limit: int = 50


async def search_conversations(db: Database, principal: VerifiedPrincipal, search: Search) -> list[Found]:
    """Return at most `search.limit` conversations that exist for `principal`, newest first."""
    c = t.conversations.c
    query = sa.select(t.conversations, PHASE.label("phase")).where(mine(principal))
    if search.owner:
        query = query.where(c.owner == search.owner.value)
    if search.phase:
        query = query.where(PHASE.in_([search.phase.value]))
    if search.principal_id:
        query = query.where(c.principal_id == search.principal_id)
    if search.text:
        e = t.events.c
        words = sa.func.strpos(sa.func.lower(e.body["text"].astext), search.text.lower()) > 0
        query = query.where(sa.exists().where(e.conversation_id == c.id, e.part == 0, words))
    if search.before_at and search.before_id:
        query = query.where(sa.tuple_(c.updated_at, c.id) < sa.tuple_(search.before_at, search.before_id))
    query = query.order_by(c.updated_at.desc(), c.id.desc()).limit(search.limit)
    async with db.transaction(principal.tenant_id) as tx:
        rows = (await tx.execute(query)).all()
    return [
        Found(
            id=r.id,
            owner=r.owner,
            owner_epoch=r.owner_epoch,
            version=r.version,
            phase=r.phase,
            principal=f"{r.principal_kind}:{r.principal_id}",
            channel=r.channel,
            language=r.language,
            created_at=r.created_at,
            updated_at=r.updated_at,
        )
        for r in rows
    ]
