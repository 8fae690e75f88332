"""Changes of owner: takeover, release, handoff, idle close. Each locks the row, raises the epoch, and is answered once.

INVARIANT 3: whatever the bot lets out requires the epoch that these transactions raise.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.conversation import EventKind, Owner
from domain.handoff import HandoffReason, QueueStatus
from domain.opening import calendar_of
from domain.principal import VerifiedPrincipal
from domain.refusal import NotOwned
from domain.summary import Summary
from domain.turn import Effect, TurnFence
from domain.wake import Wake
from domain.words import NoticeKind, Words
from store import tables as t
from store.database import Database, Tx
from store.desk import standing_desk
from store.handoffs import claim_handoff, insert_handoff, open_handoff
from store.ledger import actions_of, withdraw_unsent
from store.log import append, append_behind, change_row, leave_wake, lock_conversation, step_result
from store.requests import first_answer, record_answer

BOT = "bot:interlock"


class OwnerChange(Noun):
    """The first answer to a request that changed the owner; a repeat gets the same. `wake` is None for a repeat."""

    owner: Owner
    owner_epoch: int
    in_flight: tuple[str, ...] = ()
    handoff_id: str | None = None
    queue_status: QueueStatus | None = None
    wake: Wake | None = None


async def take_over(
    db: Database,
    staff: VerifiedPrincipal,
    conversation_id: str,
    request_id: str,
    words: Words,
    now: datetime,
) -> OwnerChange:
    """Give the conversation to `staff` at once and withdraw what was not sent. Raises NotFound, RequestConflict."""
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, staff)
        if (prior := await _first_answer(tx, row, staff, request_id, "takeover")) is not None:
            return prior
        change = await take_for(tx, row, staff, request_id, words, now)
        await record_answer(tx, row, staff, request_id, "takeover", change.model_dump(mode="json", exclude={"wake"}))
        return change


async def take_for(
    tx: Tx,
    row: sa.Row[Any],
    staff: VerifiedPrincipal,
    request_id: str,
    words: Words,
    now: datetime,
    reason: HandoffReason = HandoffReason.STAFF_TAKEOVER,
    behind: list[tuple[EventKind, dict[str, Any]]] | None = None,
) -> OwnerChange:
    """Under the row's lock: `staff` has the conversation, unsent actions are withdrawn, the customer is told.

    `reason` is why, where a handoff is opened for it; `behind` is what staff see behind the change.
    """
    actions = await withdraw_unsent(tx, row, words, staff.key, now)
    epoch = row.owner_epoch + 1
    await change_row(tx, row.id, owner=Owner.HUMAN.value, owner_epoch=epoch, holder=staff.id)
    understood = next((body for kind, body in behind or [] if kind is EventKind.UNDERSTANDING), {})
    intent = understood.get("meant") or understood.get("intent")
    handoff_id = await claim_handoff(tx, row, staff, request_id, now, reason, intent)
    event = await _tell_owner(tx, row, staff.key, Owner.HUMAN, epoch)
    await append_behind(tx, row, behind or [])
    await _tell_handoff(tx, row, staff.key, handoff_id, QueueStatus.CLAIMED, reason)
    await _tell_notice(tx, row, NoticeKind.TAKEN_OVER, words)
    return OwnerChange(
        owner=Owner.HUMAN,
        owner_epoch=epoch,
        in_flight=tuple(a.operation_id for a in actions if a.state.in_flight),
        handoff_id=handoff_id,
        queue_status=QueueStatus.CLAIMED,
        wake=await leave_wake(tx, row, event, epoch),
    )


async def release(
    db: Database,
    staff: VerifiedPrincipal,
    conversation_id: str,
    request_id: str,
    owner_epoch: int | None,
    words: Words,
    now: datetime,
) -> OwnerChange:
    """Give the conversation back to the bot; only its holder can, and only the epoch named (if it is) is ended.

    What the holder asked for and was not sent is withdrawn, as at every change of owner. Raises NotFound,
    RequestConflict and NotOwned; a refusal is a first answer too, so a late repeat ends nothing.
    """
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, staff)
        if (prior := await _first_answer(tx, row, staff, request_id, "release")) is not None:
            return prior
        refusal = _refusal_to_release(row, staff, owner_epoch)
        if refusal is None:
            return await _release(tx, row, staff, request_id, words, now)
        await record_answer(tx, row, staff, request_id, "release", {"refused": refusal.detail, **refusal.fields})
    raise refusal


async def _release(
    tx: Tx, row: sa.Row[Any], staff: VerifiedPrincipal, request_id: str, words: Words, now: datetime
) -> OwnerChange:
    actions = await withdraw_unsent(tx, row, words, staff.key, now)
    epoch = row.owner_epoch + 1
    await change_row(tx, row.id, owner=Owner.BOT.value, owner_epoch=epoch, holder=None)
    h = t.handoffs.c
    done = (
        sa.update(t.handoffs)
        .where(h.conversation_id == row.id, h.queue_status != QueueStatus.DONE.value)
        .values(queue_status=QueueStatus.DONE.value, done_at=now)
        .returning(h.id, h.reason)
    )
    ended = (await tx.execute(done)).all()
    event = await _tell_owner(tx, row, staff.key, Owner.BOT, epoch)
    for handoff in ended:
        await _tell_handoff(tx, row, staff.key, handoff.id, QueueStatus.DONE, HandoffReason(handoff.reason))
    await _tell_notice(tx, row, NoticeKind.RELEASED, words)
    in_flight = tuple(a.operation_id for a in actions if a.state.in_flight)
    change = OwnerChange(owner=Owner.BOT, owner_epoch=epoch, in_flight=in_flight)
    await record_answer(tx, row, staff, request_id, "release", change.model_dump(mode="json", exclude={"wake"}))
    return change.model_copy(update={"wake": await leave_wake(tx, row, event, epoch)})


def _refusal_to_release(row: sa.Row[Any], staff: VerifiedPrincipal, owner_epoch: int | None) -> NotOwned | None:
    stands = {"owner": row.owner, "owner_epoch": row.owner_epoch}
    if row.owner != Owner.HUMAN or row.holder != staff.id:
        return NotOwned("Only the person who holds the conversation can release it.", **stands)
    if owner_epoch is not None and owner_epoch != row.owner_epoch:
        return NotOwned(f"This release ends epoch {owner_epoch}; the conversation is at {row.owner_epoch}.", **stands)
    return None


async def request_handoff(
    db: Database,
    principal: VerifiedPrincipal,
    conversation_id: str,
    request_id: str,
    words: Words,
    now: datetime,
    note: str | None = None,
) -> OwnerChange:
    """Hand the conversation to a person because `principal` asks, with their own words on why as `note`.

    There is one open handoff at most. Raises NotFound, RequestConflict.
    """
    async with db.transaction(principal.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, principal)
        if (prior := await _first_answer(tx, row, principal, request_id, "handoff")) is not None:
            return prior
        already = await open_handoff(tx, conversation_id)
        wake = None
        if already is None or row.owner != Owner.HUMAN:
            change, wake = await hand_over(
                tx, row, principal.key, request_id, HandoffReason.CUSTOMER_REQUESTED, words, now, note=note
            )
        else:
            change = OwnerChange(
                owner=Owner.HUMAN,
                owner_epoch=row.owner_epoch,
                handoff_id=already.id,
                queue_status=QueueStatus(already.queue_status),
            )
        await record_answer(tx, row, principal, request_id, "handoff", change.model_dump(mode="json", exclude={"wake"}))
        return change.model_copy(update={"wake": wake})


async def hand_off(
    db: Database,
    fence: TurnFence,
    reason: HandoffReason,
    words: Words,
    now: datetime,
    behind: list[tuple[EventKind, dict[str, Any]]] | None = None,
) -> Effect:
    """The bot hands over: what it has read counts as dealt with, by a person from now on. Fenced like a reply."""
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if await step_result(tx, row.id, fence.step_id) is not None:
            return Effect.HANDED_OFF
        if row.owner != Owner.BOT or row.owner_epoch != fence.owner_epoch:
            return Effect.FENCED
        await hand_over(
            tx,
            row,
            BOT,
            fence.step_id,
            reason,
            words,
            now,
            through=fence.through_seq,
            step_id=fence.step_id,
            behind=behind,
        )
        return Effect.HANDED_OFF


async def hand_off_unread(
    db: Database, tenant_id: str, conversation_id: str, step_id: str, words: Words, now: datetime
) -> Effect:
    """Hand over what the bot could not even consider: nothing counts as dealt with, and the customer is told."""
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id)
        if await step_result(tx, row.id, step_id) is not None:
            return Effect.HANDED_OFF
        if row.owner != Owner.BOT:
            return Effect.FENCED
        reason = HandoffReason.UNDERSTANDING_FAILED
        await hand_over(tx, row, BOT, step_id, reason, words, now, step_id=step_id)
        return Effect.HANDED_OFF


async def hand_over(
    tx: Tx,
    row: sa.Row[Any],
    actor: str,
    request_id: str,
    reason: HandoffReason,
    words: Words,
    now: datetime,
    *,
    through: int | None = None,
    step_id: str | None = None,
    behind: list[tuple[EventKind, dict[str, Any]]] | None = None,
    note: str | None = None,
) -> tuple[OwnerChange, Wake]:
    """Under the row's lock: owner becomes human, unsent actions are withdrawn, the customer is told."""
    actions = await withdraw_unsent(tx, row, words, actor, now)
    epoch = row.owner_epoch + 1
    understood = next((body for kind, body in behind or [] if kind is EventKind.UNDERSTANDING), {})
    language = understood.get("language", row.language)
    await change_row(
        tx,
        row.id,
        owner=Owner.HUMAN.value,
        owner_epoch=epoch,
        holder=None,
        answered_seq=max(row.answered_seq, through or 0),
        language=language,
    )
    already = await open_handoff(tx, row.id)
    handoff_id = (
        already.id
        if already
        else await insert_handoff(
            tx,
            row,
            f"{actor}:{request_id}",
            reason,
            now,
            intent=understood.get("meant") or understood.get("intent"),
            note=note,
            summary=next((Summary.model_validate(b) for kind, b in behind or [] if kind is EventKind.SUMMARY), None),
            understood=understood or None,
        )
    )
    event = await _tell_owner(tx, row, actor, Owner.HUMAN, epoch, step_id)
    await append_behind(tx, row, behind or [])
    await _tell_handoff(tx, row, actor, handoff_id, QueueStatus.WAITING, reason)
    await _tell_notice(tx, row, NoticeKind.HANDED_TO_PERSON, words, language)
    await _tell_hours(tx, row, words, language, now)
    change = OwnerChange(
        owner=Owner.HUMAN,
        owner_epoch=epoch,
        in_flight=tuple(a.operation_id for a in actions if a.state.in_flight),
        handoff_id=handoff_id,
        queue_status=QueueStatus.WAITING,
    )
    return change, await leave_wake(tx, row, event, epoch)


async def close_idle(db: Database, tenant_id: str, conversation_id: str, idle_since: datetime, words: Words) -> bool:
    """Close a conversation in which everything is answered, the bot is the owner and nothing is open; say whether.

    A conversation that is closed already counts as closed.
    """
    async with db.transaction(tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id)
        if row.owner == Owner.CLOSED:
            return bool(row.customer_seq <= row.answered_seq)
        if row.owner != Owner.BOT or row.customer_seq > row.answered_seq or row.updated_at > idle_since:
            return False
        if any(not a.state.terminal for a in await actions_of(tx, conversation_id, lock=True)):
            return False
        if await open_handoff(tx, conversation_id) is not None:
            return False
        epoch = row.owner_epoch + 1
        await change_row(
            tx,
            conversation_id,
            owner=Owner.CLOSED.value,
            owner_epoch=epoch,
        )
        await _tell_notice(tx, row, NoticeKind.CLOSED_IDLE, words)
        event = await _tell_owner(tx, row, BOT, Owner.CLOSED, epoch)
        await change_row(tx, conversation_id, consumed_seq=event.seq)
        return True


async def _tell_owner(
    tx: Tx, row: sa.Row[Any], actor: str, owner: Owner, epoch: int, step_id: str | None = None
) -> Any:
    body = {"owner": owner.value, "owner_epoch": epoch}
    return await append(tx, row, EventKind.OWNER_CHANGED, actor, body, step_id=step_id)


async def _tell_handoff(
    tx: Tx,
    row: sa.Row[Any],
    actor: str,
    handoff_id: str,
    status: QueueStatus,
    reason: HandoffReason = HandoffReason.STAFF_TAKEOVER,
) -> None:
    body = {"handoff_id": handoff_id, "queue_status": status.value, "reason": reason.value}
    await append(tx, row, EventKind.HANDOFF, actor, body)


async def _tell_notice(tx: Tx, row: sa.Row[Any], kind: NoticeKind, words: Words, language: str | None = None) -> None:
    body = {"notice": kind.value, "text": words.notice(kind, language or row.language)}
    await append(tx, row, EventKind.NOTICE, BOT, body)


async def _tell_hours(tx: Tx, row: sa.Row[Any], words: Words, language: str, now: datetime) -> None:
    """Where nobody is at the desk, say so, and when people are back."""
    document = (await standing_desk(tx)).document
    stand = calendar_of(document).stand(now)
    if stand.open:
        return
    text, body = words.notice(NoticeKind.OUT_OF_HOURS, language), {"notice": NoticeKind.OUT_OF_HOURS.value}
    if stand.opens_at is not None:
        text = f"{text} {words.back_at(stand.opens_at, document.timezone, language)}"
        body["opens_at"] = stand.opens_at.isoformat()
    await append(tx, row, EventKind.NOTICE, BOT, {**body, "text": text})


async def _first_answer(
    tx: Tx, row: sa.Row[Any], principal: VerifiedPrincipal, request_id: str, act: str
) -> OwnerChange | None:
    prior = await first_answer(tx, row.id, principal, request_id, act)
    if prior is None:
        return None
    if "refused" in prior:
        raise NotOwned(prior["refused"], **{k: v for k, v in prior.items() if k != "refused"})
    return OwnerChange.model_validate(prior)
