"""What the bot says: replies through the gate, waiting notices, handoffs, the idle close.

Every one is a single fenced transaction; a reply needs the proof that it was checked.
"""

from datetime import UTC, datetime

from temporalio import activity

from activities.behind import Behind, behind
from activities.drafting import Drafting
from domain.action import Cause
from domain.errand import CloseIdle, ConsiderTurn, Errand, HandOffTurn, TellWaiting, TurnEffect, WithdrawProposals
from domain.handoff import HandoffReason
from domain.model_task import BudgetSpent
from domain.reply import Attempt, CheckedReply
from domain.step import Answer, Clarify, Topic
from domain.turn import Effect
from domain.words import Words
from policy.reply.gate import Publish
from store.database import Database
from store.draft_keeping import keep_draft, standing_of_draft
from store.ownership import close_idle, hand_off, hand_off_unread
from store.proposals import withdraw_proposals
from store.turns import publish_reply, standing_of, tell_waiting


class Speaking:
    """Holds what a reply is made with."""

    def __init__(self, db: Database, drafting: Drafting, words: Words) -> None:
        self._db = db
        self._drafting = drafting
        self._words = words

    @activity.defn(name=Errand.PUBLISH_REPLY)
    async def publish_reply(self, ask: TurnEffect) -> Effect:
        """Draft, check and publish a reply; what does not pass the gate is handed to a person instead."""
        step = ask.considered.step
        if not isinstance(step, Answer | Clarify):
            raise TypeError(f"a {type(step).__name__} is not said")
        if isinstance(step, Clarify) and step.supersedes:
            effect = await self._withdraw(ask, step.supersedes, Cause.SUPERSEDED)
            if effect is not Effect.DONE:
                return effect
        return await self._say(ask, step)

    @activity.defn(name=Errand.KEEP_DRAFT)
    async def keep_draft(self, ask: TurnEffect) -> Effect:
        """Draft and check a reply, and keep it for a person to let out; what does not pass is handed to one as well."""
        step = ask.considered.step
        if not isinstance(step, Answer | Clarify):
            raise TypeError(f"a {type(step).__name__} is not drafted")
        return await self._say(ask, step)

    async def _withdraw(self, ask: TurnEffect, operation_ids: tuple[str, ...], cause: Cause) -> Effect:
        return await withdraw_proposals(self._db, ask.fence, operation_ids, self._words, datetime.now(UTC), cause)

    async def _say(self, ask: TurnEffect, step: Answer | Clarify) -> Effect:
        """Say it, unless that has been done or may not be any more: then no model is asked, and paid, for nothing."""
        look = standing_of_draft if ask.considered.for_review else standing_of
        standing = await look(self._db, ask.fence) if self._drafting.asks_model(ask) else None
        effect = standing or await self._said(ask, step)
        self._drafting.forget(ask)
        return effect

    async def _said(self, ask: TurnEffect, step: Answer | Clarify) -> Effect:
        facts = await self._drafting.facts(ask, step)
        try:
            drafted = await self._drafting.drafted(ask, step, facts)
        except BudgetSpent:
            return await self._hand_off(ask, HandoffReason.BUDGET_SPENT)
        match drafted.decision:
            case Publish(reply=reply):
                seen = behind(ask.considered, facts.evidence, said=reply.draft.text, attempts=drafted.attempts)
                return await self._let_out(ask, reply, seen)
            case withheld:
                reason = withheld.reason.handoff
                return Effect.FENCED if reason is None else await self._hand_off(ask, reason, drafted.attempts)

    async def _let_out(self, ask: TurnEffect, reply: CheckedReply, seen: Behind) -> Effect:
        """Publish a checked reply or, where a person is to look at it first, keep it."""
        told = ask.considered
        if not told.for_review:
            return await publish_reply(self._db, ask.fence, reply, told.language, self._words, seen)
        intent = told.meant.value if told.meant else None
        return await keep_draft(self._db, ask.fence, reply, told.language, intent, self._words, seen, datetime.now(UTC))

    @activity.defn(name=Errand.WITHDRAW_PROPOSALS)
    async def withdraw_proposals(self, ask: WithdrawProposals) -> Effect:
        """Reject what the customer does not want any more, then say that it is withdrawn."""
        ids = ask.withdraw.operation_ids
        effect = await self._withdraw(ask, ids, Cause.DECLINED)
        if effect is not Effect.DONE:
            return effect
        waiting = tuple(need.intent for need in ask.considered.waiting)
        told = Answer(topic=Topic.PROPOSAL_WITHDRAWN, operation_id=ids[-1], next_intents=waiting)
        return await self._say(ask, told)

    @activity.defn(name=Errand.TELL_WAITING)
    async def tell_waiting(self, ask: TellWaiting) -> Effect:
        """Say, once, that an outcome is being established before anything else."""
        return await tell_waiting(
            self._db, ask.fence, ask.await_outcome.operation_id, ask.considered.language, self._words
        )

    @activity.defn(name=Errand.HAND_OFF)
    async def hand_off(self, ask: HandOffTurn) -> Effect:
        """Give the conversation to a person."""
        return await self._hand_off(ask, ask.reason)

    @activity.defn(name=Errand.HAND_OFF_UNREAD)
    async def hand_off_unread(self, ask: ConsiderTurn) -> Effect:
        """Give a conversation that could not even be understood to a person, under the epoch of this moment."""
        return await hand_off_unread(
            self._db, ask.tenant_id, ask.conversation_id, ask.step_id, self._words, datetime.now(UTC)
        )

    async def _hand_off(self, ask: TurnEffect, reason: HandoffReason, attempts: tuple[Attempt, ...] = ()) -> Effect:
        seen = behind(ask.considered, attempts=attempts)
        return await hand_off(self._db, ask.fence, reason, self._words, datetime.now(UTC), seen)

    @activity.defn(name=Errand.CLOSE_IDLE)
    async def close_idle(self, ask: CloseIdle) -> bool:
        """Close a conversation in which nothing is open and nothing has happened since; say whether it is closed."""
        return await close_idle(self._db, ask.tenant_id, ask.conversation_id, ask.idle_since, self._words)
