"""Proposing: a step becomes a typed payload, policy gives its verdict, and both enter the ledger in one transaction.

Policy is evaluated here and the verdict recorded; a workflow never evaluates policy itself.
"""

from datetime import UTC, datetime

from temporalio import activity

from activities.behind import behind
from activities.policybook import PolicyBook
from domain.action import ApprovalRole
from domain.errand import Errand, ProposeAction
from domain.refusal import NotFound
from domain.turn import Effect
from domain.verdict import BOT, Judgement
from domain.words import Words
from store.database import Database
from store.proposals import Proposal, propose
from store.reading import ProposingFacts, proposing_facts


class Proposing:
    """Holds what a proposal is judged with."""

    def __init__(
        self, db: Database, policies: PolicyBook, words: Words, confirmation_ttl_s: int, staff_ttl_s: int
    ) -> None:
        self._db = db
        self._policies = policies
        self._words = words
        self._confirmation_ttl_s = confirmation_ttl_s
        self._staff_ttl_s = staff_ttl_s

    @activity.defn(name=Errand.PROPOSE_ACTION)
    async def propose_action(self, ask: ProposeAction) -> Effect:
        """Put one action into the ledger under its minted id; a forbidden one goes to a person."""
        if ask.considered.evidence_id is None:
            raise NotFound("A proposal rests on evidence.")
        now = datetime.now(UTC)
        facts = await proposing_facts(
            self._db, ask.fence.tenant_id, ask.fence.conversation_id, ask.considered.evidence_id, ask.propose, now
        )
        around = facts.circumstances
        await self._policies.open(around.tenant_id, around.policy_digest)
        judged = self._policies.judge(around.policy_digest, around.question(facts.payload, facts.found, now, BOT))
        seen = behind(ask.considered, facts.found, judged.verdict, ask.operation_id)
        return await propose(self._db, ask.fence, self._proposal(ask, facts, judged), self._words, seen, now)

    def _proposal(self, ask: ProposeAction, facts: ProposingFacts, judged: Judgement) -> Proposal:
        needs_staff = any(role is not ApprovalRole.CUSTOMER for role in judged.verdict.required)
        return Proposal(
            operation_id=ask.operation_id,
            customer_id=facts.circumstances.customer_id,
            payload=facts.payload,
            judged=judged,
            found=facts.found,
            language=ask.considered.language,
            supersedes=ask.propose.supersedes,
            ttl_s=self._staff_ttl_s if needs_staff else self._confirmation_ttl_s,
        )
