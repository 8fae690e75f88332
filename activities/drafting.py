"""How a reply comes to its draft: the facts it may rest on, whoever writes it, and the decision on what was written.

Nothing here publishes. A model writes only where the decision said so; the checks are the same for everybody's words.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from activities.keeping import Kept
from activities.library import Library
from activities.model_desk import ModelDesk
from activities.model_drafting import DraftedReply, Judge, Tried, Writing, checked_draft
from activities.remembering import memory_of
from activities.tool_loop import Readable
from domain.conversation import Owner
from domain.errand import TurnEffect
from domain.knowledge import Article, Audience, Passage
from domain.model import Route
from domain.model_task import Occasion
from domain.reply import Draft, Source
from domain.step import Answer, Clarify
from domain.understanding import TurnContext
from language.drafting import Drafter, DraftRequest
from language.knowledge import TOPICS_WITH_ARTICLES
from policy.reply.checks import check
from policy.reply.claims import claims_are_read
from policy.reply.gate import Decision, decide
from policy.reply.readers import Readers
from store.database import Database
from store.reading import DraftingFacts, drafting_facts, read_turn

ELSEWHERE = ("en",)  # where a model may look up what is not written in the customer's language
MODEL_DRAFTING_S = 9.0  # of all models that are asked for one reply


class Drafting:
    """Holds whoever writes, and what is read before. Without a desk every reply is written here."""

    def __init__(
        self, db: Database, drafter: Drafter, library: Library, readers: Readers, desk: ModelDesk | None = None
    ) -> None:
        self._db = db
        self._drafter = drafter
        self._library = library
        self._readers = readers
        self._desk = desk
        self._tried = Kept[Tried]()

    def asks_model(self, ask: TurnEffect) -> bool:
        """Return whether a model is to be asked for this reply, which is paid for whatever becomes of it."""
        return ask.considered.draft_by is not None and self._desk is not None and self._can_judge(ask)

    def _can_judge(self, ask: TurnEffect) -> bool:
        """Whether a model's words could pass the checks here at all; else nothing is paid for them."""
        return claims_are_read(ask.considered.language, self._readers.claims)

    def forget(self, ask: TurnEffect) -> None:
        """Forget what was written for a step that has ended."""
        self._tried.drop(ask.fence.tenant_id, _step_of(ask))

    async def facts(self, ask: TurnEffect, step: Answer | Clarify) -> DraftingFacts:
        """Return what the reply may rest on. Raises NotFound."""
        return await drafting_facts(
            self._db,
            ask.fence.tenant_id,
            ask.fence.conversation_id,
            ask.considered.evidence_id,
            with_articles=isinstance(step, Answer) and step.topic in TOPICS_WITH_ARTICLES,
        )

    async def drafted(self, ask: TurnEffect, step: Answer | Clarify, facts: DraftingFacts) -> DraftedReply:
        """Return the decision on the reply's last draft, and the drafts that failed before it. Raises BudgetSpent."""
        now = datetime.now(UTC)
        refs = step.passages if isinstance(step, Answer) else ()
        passages = await self._library.recall(ask.fence.tenant_id, refs) if refs else ()
        request = _request(ask, step, facts, passages, now)
        judge = self._judge(ask, facts, now)
        route = ask.considered.draft_by
        if route is None or self._desk is None or not self._can_judge(ask):
            draft = self._drafter.draft(request)
            return DraftedReply(decision=judge(draft, (*facts.articles, *(p.article for p in passages))))
        writing = await self._writing(ask, request, route)
        return await checked_draft(self._desk, writing, judge, self._drafter, self._tried_for(ask))

    def _tried_for(self, ask: TurnEffect) -> Tried:
        """What earlier runs of this step, which failed after it, have had written."""
        tried = self._tried.get(ask.fence.tenant_id, _step_of(ask)) or Tried()
        self._tried.keep(ask.fence.tenant_id, _step_of(ask), tried)
        return tried

    async def _writing(self, ask: TurnEffect, request: DraftRequest, route: Route) -> Writing:
        """What a model needs besides: the customer's words, what was said before, and what it may look up."""
        fence = ask.fence
        turn = await read_turn(self._db, fence.tenant_id, fence.conversation_id)
        reader = Audience.PUBLIC if turn.customer_id is None else Audience.SIGNED_IN

        async def search(words: str) -> tuple[Passage, ...]:
            asked_at = turn.asked_at or turn.updated_at
            product = request.evidence.account.product_version if request.evidence else None
            return await self._library.find(
                fence.tenant_id, words, request.language, reader, asked_at, product, also=ELSEWHERE
            )

        return Writing(
            request=request,
            texts=turn.texts,
            signed_in=turn.customer_id is not None,
            route=route,
            occasion=Occasion(
                tenant_id=fence.tenant_id,
                conversation_id=fence.conversation_id,
                answered_seq=fence.answered_seq,
                step_id=fence.step_id,
                ends_at_s=time.monotonic() + MODEL_DRAFTING_S,
            ),
            memory=memory_of(turn),
            readable=Readable(articles=search),
        )

    def _judge(self, ask: TurnEffect, facts: DraftingFacts, now: datetime) -> Judge:
        understood = ask.considered.understood

        def judged(draft: Draft, articles: Sequence[Article]) -> Decision:
            return decide(
                owner_is_bot=ask.considered.owner is Owner.BOT,
                asked_for_person=understood is not None and understood.asks_for_person,
                draft=draft if understood is not None else None,
                checks=check(
                    draft,
                    evidence=facts.evidence,
                    articles=_cited(draft, articles),
                    actions=facts.actions,
                    customer_id=facts.customer_id or "",
                    now=now,
                    readers=self._readers,
                ),
            )

        return judged


def _step_of(ask: TurnEffect) -> str:
    return f"{ask.fence.conversation_id}/{ask.fence.step_id}"


def _request(
    ask: TurnEffect, step: Answer | Clarify, facts: DraftingFacts, passages: tuple[Passage, ...], now: datetime
) -> DraftRequest:
    return DraftRequest(
        step=step,
        language=ask.considered.language,
        evidence=facts.evidence,
        articles=facts.articles,
        actions=facts.actions,
        passages=passages,
        context=TurnContext(intent=ask.considered.meant),
        now=now,
    )


def _cited(draft: Draft, articles: Sequence[Article]) -> list[Article]:
    """The articles that the draft rests on: what else there is takes time to look at and supports nothing."""
    cited = {segment.rests_on for segment in draft.segments if segment.source is Source.ARTICLE}
    return [a for a in articles if a.ref in cited]
