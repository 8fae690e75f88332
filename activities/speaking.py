"""What the bot says: replies through the gate, waiting notices, handoffs, the idle close.

Every one is a single fenced transaction; a reply needs the proof that it was checked.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio import activity

from activities.behind import behind
from domain.action import Cause
from domain.conversation import Owner
from domain.errand import CloseIdle, ConsiderTurn, Errand, HandOffTurn, TellWaiting, TurnEffect, WithdrawProposals
from domain.handoff import HandoffReason
from domain.knowledge import Article
from domain.reply import Draft, Source
from domain.step import Answer, Clarify, Topic
from domain.turn import Effect
from domain.understanding import TurnContext
from domain.words import Words
from language.drafting import Drafter, DraftRequest
from language.knowledge import TOPICS_WITH_ARTICLES
from policy.reply_checks import check
from policy.reply_gate import Decision, Publish, decide
from store.database import Database
from store.ownership import close_idle, hand_off, hand_off_unread
from store.proposals import withdraw_proposals
from store.reading import DraftingFacts, drafting_facts
from store.turns import publish_reply, tell_waiting


class Speaking:
    """Holds what a reply is made with."""

    def __init__(self, db: Database, drafter: Drafter, words: Words) -> None:
        self._db = db
        self._drafter = drafter
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

    async def _withdraw(self, ask: TurnEffect, operation_ids: tuple[str, ...], cause: Cause) -> Effect:
        return await withdraw_proposals(self._db, ask.fence, operation_ids, self._words, datetime.now(UTC), cause)

    async def _say(self, ask: TurnEffect, step: Answer | Clarify) -> Effect:
        facts = await drafting_facts(
            self._db,
            ask.fence.tenant_id,
            ask.fence.conversation_id,
            ask.considered.evidence_id,
            with_articles=isinstance(step, Answer) and step.topic in TOPICS_WITH_ARTICLES,
        )
        match self._through_the_gate(ask, step, facts):
            case Publish(reply=reply):
                return await publish_reply(
                    self._db,
                    ask.fence,
                    reply,
                    ask.considered.language,
                    self._words,
                    behind(ask.considered, facts.evidence),
                )
            case withheld:
                reason = withheld.reason.handoff
                return Effect.FENCED if reason is None else await self._hand_off(ask, reason)

    def _through_the_gate(self, ask: TurnEffect, step: Answer | Clarify, facts: DraftingFacts) -> Decision:
        now = datetime.now(UTC)
        draft = self._draft(ask, step, facts, now)
        understood = ask.considered.understood
        return decide(
            owner_is_bot=ask.considered.owner is Owner.BOT,
            asked_for_person=understood is not None and understood.asks_for_person,
            draft=draft if understood is not None else None,
            checks=check(
                draft,
                evidence=facts.evidence,
                articles=_cited(draft, facts.articles),
                actions=facts.actions,
                customer_id=facts.customer_id or "",
                now=now,
            ),
        )

    def _draft(self, ask: TurnEffect, step: Answer | Clarify, facts: DraftingFacts, now: datetime) -> Draft:
        return self._drafter.draft(
            DraftRequest(
                step=step,
                language=ask.considered.language,
                evidence=facts.evidence,
                articles=facts.articles,
                actions=facts.actions,
                context=TurnContext(intent=ask.considered.meant),
                now=now,
            )
        )

    @activity.defn(name=Errand.WITHDRAW_PROPOSALS)
    async def withdraw_proposals(self, ask: WithdrawProposals) -> Effect:
        """Reject what the customer does not want any more, then say that it is withdrawn."""
        ids = ask.withdraw.operation_ids
        effect = await self._withdraw(ask, ids, Cause.DECLINED)
        if effect is not Effect.DONE:
            return effect
        return await self._say(ask, Answer(topic=Topic.PROPOSAL_WITHDRAWN, operation_id=ids[-1]))

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

    async def _hand_off(self, ask: TurnEffect, reason: HandoffReason) -> Effect:
        return await hand_off(self._db, ask.fence, reason, self._words, datetime.now(UTC), behind(ask.considered))

    @activity.defn(name=Errand.CLOSE_IDLE)
    async def close_idle(self, ask: CloseIdle) -> bool:
        """Close a conversation in which nothing is open and nothing has happened since; say whether it is closed."""
        return await close_idle(self._db, ask.tenant_id, ask.conversation_id, ask.idle_since, self._words)


def _cited(draft: Draft, articles: Sequence[Article]) -> list[Article]:
    """The articles that the draft rests on: what else there is takes time to look at and supports nothing."""
    cited = {segment.rests_on for segment in draft.segments if segment.source is Source.ARTICLE}
    return [a for a in articles if f"{a.slug}@{a.version}" in cited]
