"""Acting for people: what a member of staff asks for becomes a typed payload, is judged, and enters the ledger.

The api's own door to the business system, and for reading alone: nothing is ever sent from here.
"""

from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

from domain.account import Evidence
from domain.action import ApprovalRole
from domain.catalogue.wish import NotProposable
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.principal import VerifiedPrincipal
from domain.refusal import CannotPropose, Forbidden
from domain.verdict import Actor, Judgement, PolicyQuestion
from domain.words import Words
from store.database import Database
from store.proposals import Proposal
from store.reading import ProposingFacts, proposing_facts, record_evidence
from store.staff_proposals import StaffProposed, StaffRequest, propose_by_staff, standing

READ_TIMEOUT_S = 3.0


class Reads(Protocol):
    """What of a business system is needed here."""

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        """Return a customer's account as evidence. Raises Unreachable."""
        ...


class Judges(Protocol):
    """What of the policy book is needed here."""

    async def open(self, tenant_id: str, digest: str) -> None:
        """Make sure that the bundle can judge. Raises OperationalFault where it cannot be had."""
        ...

    def judge(self, digest: str, question: PolicyQuestion) -> Judgement:
        """Return the verdict under that bundle, which is open, and what it was judged on."""
        ...

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        """Return whether a tool may be used under that bundle, which is open."""
        ...


class StaffActing:
    """Holds what a person's proposal is judged with."""

    def __init__(
        self,
        db: Database,
        business: Reads,
        policies: Judges,
        words: Words,
        confirmation_ttl_s: int,
        staff_ttl_s: int,
    ) -> None:
        self._db = db
        self._business = business
        self._policies = policies
        self._words = words
        self._confirmation_ttl_s = confirmation_ttl_s
        self._staff_ttl_s = staff_ttl_s

    async def propose(self, staff: VerifiedPrincipal, conversation_id: str, request: StaffRequest) -> StaffProposed:
        """Read the account anew, judge what `staff` asks for in their role of now, and put it into the ledger.

        Raises the refusals of `propose_by_staff`, Forbidden where the role may not propose as much, CannotPropose for
        what does not fit the account, and Unreachable.
        """
        begun = await standing(self._db, staff, conversation_id, request)
        if begun.answered is not None:
            return begun.answered
        found = await self._business.read_account(staff.tenant_id, begun.customer_id, str(uuid4()), READ_TIMEOUT_S)
        await record_evidence(self._db, staff.tenant_id, conversation_id, f"customer:{begun.customer_id}", found)
        now = datetime.now(UTC)
        try:
            facts = await proposing_facts(
                self._db, staff.tenant_id, conversation_id, found.evidence_id, request.wish, now
            )
        except NotProposable as wrong:
            raise CannotPropose(f"This cannot be proposed: {wrong}.") from None
        judged = await self._judged(_actor(staff), facts, now)
        proposal = self._proposal(_actor(staff), facts, judged, begun.language)
        return await propose_by_staff(self._db, staff, conversation_id, request, proposal, self._words, now)

    async def _judged(self, actor: Actor, facts: ProposingFacts, now: datetime) -> Judgement:
        around = facts.circumstances
        await self._policies.open(around.tenant_id, around.policy_digest)
        if not self._policies.allows(around.policy_digest, _door(actor, facts)):
            raise Forbidden(f"The policy in force does not let the role {actor.role} propose that, with this at stake.")
        return self._policies.judge(around.policy_digest, around.question(facts.payload, facts.found, now, actor))

    def _proposal(self, actor: Actor, facts: ProposingFacts, judged: Judgement, language: str) -> Proposal:
        needs_staff = any(role is not ApprovalRole.CUSTOMER for role in judged.verdict.required)
        return Proposal(
            operation_id=str(uuid4()),
            customer_id=facts.circumstances.customer_id,
            payload=facts.payload,
            judged=judged,
            actor=actor,
            found=facts.found,
            language=language,
            ttl_s=self._staff_ttl_s if needs_staff else self._confirmation_ttl_s,
        )


def _door(actor: Actor, facts: ProposingFacts) -> ToolQuestion:
    """May somebody in this role propose it? What is at stake is known only once the account has been read."""
    around, payload = facts.circumstances, facts.payload
    return ToolQuestion(
        tenant_id=around.tenant_id,
        tenant_kind=around.tenant_kind,
        stage=around.stage,
        role=ToolRole(actor.role),
        tool=Tool.PROPOSE,
        kind=payload.kind.value,
        amount_minor=payload.stake_minor,
        currency=payload.stake_currency,
    )


def _actor(staff: VerifiedPrincipal) -> Actor:
    if staff.role is None:
        raise Forbidden("Only people of the staff act for a customer.")
    return Actor(kind="staff", role=staff.role.value, id=staff.id)
