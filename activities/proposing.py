"""Proposing: a step becomes a typed payload, policy gives its verdict, and both enter the ledger in one transaction.

Policy is evaluated here and the verdict recorded; a workflow never evaluates policy itself.
"""

from datetime import UTC, datetime

from temporalio import activity

from activities.behind import behind
from activities.policybook import PolicyBook
from domain.account import Evidence, evidence_digest
from domain.action import ApprovalRole, Payload
from domain.errand import Errand, ProposeAction
from domain.refusal import NotFound
from domain.turn import Effect
from domain.verdict import PolicyQuestion, Verdict
from domain.words import Words
from policy.proposal import payload_for
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
        turn, found = await proposing_facts(
            self._db, ask.fence.tenant_id, ask.fence.conversation_id, ask.considered.evidence_id, now
        )
        if turn.customer_id is None:
            raise NotFound("An anonymous visitor has no account.")
        payload = payload_for(ask.propose, found.account, turn.customer_id)
        await self._policies.open(turn.policy_digest)
        verdict = self._policies.judge(turn.policy_digest, _question(turn, turn.customer_id, payload, found, now))
        proposal = self._proposal(ask, turn.customer_id, payload, verdict, found)
        facts = behind(ask.considered, found, verdict, ask.operation_id)
        return await propose(self._db, ask.fence, proposal, self._words, facts, now)

    def _proposal(
        self, ask: ProposeAction, customer_id: str, payload: Payload, verdict: Verdict, found: Evidence
    ) -> Proposal:
        needs_staff = any(role is not ApprovalRole.CUSTOMER for role in verdict.required)
        return Proposal(
            operation_id=ask.operation_id,
            customer_id=customer_id,
            payload=payload,
            verdict=verdict,
            evidence_id=found.evidence_id,
            evidence_digest=evidence_digest(found.source, payload.resource, found.account),
            language=ask.considered.language,
            supersedes=ask.propose.supersedes,
            ttl_s=self._staff_ttl_s if needs_staff else self._confirmation_ttl_s,
        )


def _question(
    turn: ProposingFacts, customer_id: str, payload: Payload, found: Evidence, now: datetime
) -> PolicyQuestion:
    return PolicyQuestion(
        tenant_id=turn.tenant_id,
        tenant_kind=turn.tenant_kind,
        customer_id=customer_id,
        customer_status=turn.customer_status,
        payload=payload,
        account=found.account,
        evidence_observed_at=found.observed_at,
        evidence_max_age_s=found.max_age_s,
        now=now,
        stage=turn.tenant_stage,
        refunds_30d_minor=turn.refunds_30d_minor,
        refunds_30d_count=turn.refunds_30d_count,
    )
