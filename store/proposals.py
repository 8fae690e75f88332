"""Proposals: an action enters the ledger with its verdict, replaces what it supersedes, and is shown to the customer.

One transaction, fenced like a reply; a proposal answers the messages that asked for it.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.account import Evidence
from domain.action import Action, ActionState, Cause, Payload, evidence_digest, payload_digest
from domain.base import Noun
from domain.conversation import EventKind
from domain.handoff import HandoffReason
from domain.turn import Effect, TurnFence
from domain.understanding import Intent
from domain.verdict import BOT as BOT_ACTOR
from domain.verdict import Actor, Judgement, Verdict, VerdictKind
from domain.words import Words
from store import tables as t
from store.audit import record_verdict
from store.database import Database, Tx
from store.ledger import actions_of, move, proposal_body, reject_unsent
from store.log import append, append_behind, lock_conversation, step_result
from store.ownership import BOT, hand_over
from store.turns import Behind, answer_through, refusal_of, with_disclosure


class Proposal(Noun):
    """Everything that a proposal is made of. The operation id was minted by the workflow before any attempt."""

    operation_id: str
    customer_id: str
    payload: Payload
    judged: Judgement
    actor: Actor = BOT_ACTOR
    found: Evidence
    language: str
    supersedes: tuple[str, ...] = ()
    ttl_s: int

    @property
    def verdict(self) -> Verdict:
        """What policy says of it."""
        return self.judged.verdict

    @property
    def requested_by(self) -> str:
        """Who asks for it, as rows and events name them."""
        return BOT if self.actor.kind == "bot" else f"staff:{self.actor.id}"

    @property
    def evidence_digest(self) -> str:
        """The digest of what it rests on."""
        return evidence_digest(self.found.source, self.payload, self.found.account)


async def propose(
    db: Database, fence: TurnFence, proposal: Proposal, words: Words, behind: Behind, now: datetime
) -> Effect:
    """Record a proposal. A forbidden one is recorded as denied and handed to a person in the same transaction."""
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if (prior := await step_result(tx, row.id, fence.step_id)) is not None:
            return Effect.DONE if prior.kind == EventKind.PROPOSAL else Effect.HANDED_OFF
        if (refused := await refusal_of(tx, row, fence)) is not None:
            return refused
        replaced = await in_the_way(tx, row, proposal)
        if perhaps_sent(replaced) is not None:
            return Effect.IN_FLIGHT
        await supersede(tx, row, replaced, BOT, words, now)
        action = await enter(tx, row, proposal, now)
        if proposal.verdict.kind is VerdictKind.FORBID:
            await move(tx, action, ActionState.REJECTED, Cause.DENIED, "policy:engine", now)
            await hand_over(
                tx,
                row,
                BOT,
                fence.step_id,
                HandoffReason.POLICY_FORBIDS,
                words,
                now,
                through=fence.through_seq,
                step_id=fence.step_id,
                behind=behind,
            )
            return Effect.HANDED_OFF
        action = await move(tx, action, ActionState.AWAITING_APPROVAL, Cause.APPROVAL_NEEDED, "policy:engine", now)
        event = await append(
            tx,
            row,
            EventKind.PROPOSAL,
            BOT,
            {
                **proposal_body(action, words),
                "summary": await with_disclosure(tx, row.id, _said(action, behind, words), proposal.language, words),
                "answers_through": fence.through_seq,
            },
            step_id=fence.step_id,
        )
        await append_behind(tx, row, behind)
        await answer_through(tx, row, fence, event.seq, proposal.language)
        return Effect.DONE


def _said(action: Action, behind: Behind, words: Words) -> str:
    """What is proposed, and what else was asked for in the same breath; with no question but the proposal's own."""
    told = next((body for kind, body in behind if kind is EventKind.UNDERSTANDING), {})
    waiting = [Intent(need["intent"]) for need in told.get("waiting", ())]
    return f"{words.proposal(action)} {words.noted(waiting, action.language)}" if waiting else words.proposal(action)


async def in_the_way(tx: Tx, row: sa.Row[Any], proposal: Proposal) -> list[Action]:
    """Lock and return the conversation's actions that `proposal` would replace: on its resource, or called wrong."""
    return [
        action
        for action in await actions_of(tx, str(row.id), lock=True)
        if action.payload.resource == proposal.payload.resource or action.operation_id in proposal.supersedes
    ]


def perhaps_sent(actions: list[Action]) -> Action | None:
    """Return one of the actions that may have been sent, whose outcome has to be established first; or None."""
    return next((action for action in actions if action.state.in_flight and not action.unsent), None)


async def supersede(tx: Tx, row: sa.Row[Any], actions: list[Action], by: str, words: Words, now: datetime) -> None:
    """Reject those of the actions that are certainly not sent."""
    for action in actions:
        if action.unsent:
            await reject_unsent(tx, row, action, Cause.SUPERSEDED, by, words, now)


async def enter(tx: Tx, row: sa.Row[Any], proposal: Proposal, now: datetime) -> Action:
    """Put a proposal into the ledger with its verdict on record, and return it."""
    payload = proposal.payload
    values = {
        "operation_id": proposal.operation_id,
        "tenant_id": row.tenant_id,
        "conversation_id": row.id,
        "customer_id": proposal.customer_id,
        "kind": payload.kind.value,
        "resource": payload.resource,
        "amount_minor": payload.amount_minor,
        "currency": payload.currency,
        "payload": payload.model_dump(mode="json"),
        "payload_digest": payload_digest(proposal.operation_id, payload),
        "required_approvals": [r.value for r in proposal.verdict.required],
        "requested_by": proposal.requested_by,
        "owner_epoch": row.owner_epoch,
        "policy_digest": proposal.verdict.policy_digest,
        "evidence_id": proposal.found.evidence_id,
        "evidence_digest": proposal.evidence_digest,
        "language": proposal.language,
        "created_at": now,
        "expires_at": now + timedelta(seconds=proposal.ttl_s),
    }
    await tx.execute(sa.insert(t.actions).values(**values))
    await tx.execute(
        sa.insert(t.transitions).values(
            tenant_id=row.tenant_id,
            operation_id=proposal.operation_id,
            n=0,
            from_state="",
            to_state=ActionState.PROPOSED.value,
            cause=Cause.PROPOSED.value,
            actor=proposal.requested_by,
            at=now,
        )
    )
    await record_verdict(
        tx,
        row.tenant_id,
        row.id,
        proposal.operation_id,
        "propose",
        proposal.actor,
        proposal.judged,
        proposal.found,
        proposal.evidence_digest,
    )
    stored = await actions_of(tx, str(row.id))
    return next(a for a in stored if a.operation_id == proposal.operation_id)


async def withdraw_proposals(
    db: Database,
    fence: TurnFence,
    operation_ids: tuple[str, ...],
    words: Words,
    now: datetime,
    cause: Cause = Cause.DECLINED,
) -> Effect:
    """Reject what the customer does not want any more and was not sent. The reply follows as a step of its own."""
    async with db.transaction(fence.tenant_id) as tx:
        row = await lock_conversation(tx, fence.conversation_id)
        if (refused := await refusal_of(tx, row, fence)) is not None:
            return refused
        for action in await actions_of(tx, row.id, lock=True):
            if action.operation_id in operation_ids and action.unsent:
                actor = f"customer:{action.customer_id}"
                await reject_unsent(tx, row, action, cause, actor, words, now)
        return Effect.DONE
