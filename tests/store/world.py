"""One conversation with everything that can happen to it, each as one call of the store: what the laws are tried on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from domain.account import Account, Evidence
from domain.action import Action, ActionKind, ActionState, ApprovalDecision, ApprovalRole, RefundPayload
from domain.approving import Allows, by_table
from domain.catalogue.wish import Wish
from domain.connector import ConnectorContract, WriteOutcome
from domain.conversation import Event, EventKind
from domain.handoff import HandoffReason
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.reply import CheckedReply, Draft, Segment, Source
from domain.turn import ClaimResult, Effect, ReserveResult, TurnFence, TurnRow
from domain.verdict import Actor, Judgement, Verdict, VerdictKind
from domain.words import Words
from store import approvals, conversations, dispatch, events, ownership, proposals, reading, replies, settlement, turns
from store.database import Database
from store.ledger import to_action
from store.staff_proposals import StaffProposed, StaffRequest, propose_by_staff
from store.switches import turn
from store.tables import actions
from tests.store.terms import (
    BUNDLE,
    CLAIM_TTL_S,
    LOST,
    SENDS_MAX,
    SHOP,
    SMALL,
    STAFF_TTL_S,
    SUCCESS,
    now,
    order,
    rule,
)


@dataclass
class Talk:
    """One conversation of one customer."""

    db: Database
    words: Words
    customer: VerifiedPrincipal
    id: str = field(default_factory=lambda: f"conv-{uuid4().hex[:12]}")
    clock: Callable[[], datetime] = now

    @property
    def tenant(self) -> str:
        return self.customer.tenant_id

    @property
    def anybody(self) -> VerifiedPrincipal:
        """Somebody of the tenant's staff, to look at things."""
        return VerifiedPrincipal(tenant_id=self.tenant, kind=PrincipalKind.STAFF, id="reader", role=StaffRole.AGENT)

    async def begin(self) -> "Talk":
        await conversations.open_conversation(self.db, self.customer, self.id, "chat")
        return self

    async def beside(self) -> "Talk":
        """Another conversation of the same customer."""
        return await Talk(self.db, self.words, self.customer, clock=self.clock).begin()

    # ------------------------------------------------------------ what is there
    async def row(self) -> TurnRow:
        return await reading.read_turn(self.db, self.tenant, self.id)

    async def log(self, kind: EventKind | None = None) -> list[Event]:
        page = await events.events_after(self.db, self.anybody, self.id, 0)
        return [e for e in page.events if kind in (None, e.kind)]

    async def action(self, operation_id: str) -> Action:
        async with self.db.transaction(self.tenant) as tx:
            return to_action((await tx.execute(sa.select(actions).where(actions.c.operation_id == operation_id))).one())

    async def all(self, query: str, **values: Any) -> list[Any]:
        async with self.db.transaction(self.tenant) as tx:
            return [tuple(r) for r in (await tx.execute(sa.text(query), {"id": self.id, **values})).all()]

    # ------------------------------------------------------------ the customer and the bot
    async def say(self, text: str = "Refund A-1, please.") -> conversations.Accepted:
        return await conversations.accept_message(self.db, self.customer, self.id, uuid4().hex, text, None, 1_000)

    async def fence(self, **other: Any) -> TurnFence:
        row = await self.row()
        begun = {
            "tenant_id": self.tenant,
            "conversation_id": self.id,
            "owner_epoch": row.owner_epoch,
            "answered_seq": row.answered_seq,
            "through_seq": row.customer_seq,
            "step_id": uuid4().hex,
        }
        return TurnFence(**{**begun, **other})

    async def publish(self, fence: TurnFence | None = None, *segments: Segment) -> Effect:
        said = segments or (Segment(text="Your order is on its way.", source=Source.TEMPLATE, rests_on="on_its_way"),)
        draft = Draft(language="en", segments=said)
        reply = CheckedReply(draft=draft, draft_digest=draft.digest)
        return await turns.publish_reply(self.db, fence or await self.fence(), reply, "en", self.words, [])

    async def hand_off(self, fence: TurnFence | None = None) -> Effect:
        reason = HandoffReason.OUT_OF_SCOPE
        return await ownership.hand_off(self.db, fence or await self.fence(), reason, self.words, self.clock())

    async def read(self, account: Account | None = None, observed_at: datetime | None = None) -> Evidence:
        found = Evidence(
            evidence_id=uuid4().hex,
            source="shop",
            account=account or order(),
            observed_at=observed_at or self.clock(),
            max_age_s=SHOP.evidence_max_age_s,
        )
        await reading.record_evidence(self.db, self.tenant, self.id, f"customer:{self.customer.id}", found)
        return found

    async def proposal(self, amount: int = SMALL, order_id: str = "A-1", **other: Any) -> proposals.Proposal:
        account = order(order_id)
        found = await self.read(account)
        payload = RefundPayload(
            customer_id=self.customer.id, order_id=order_id, amount_minor=amount, currency="EUR", resource_version=1
        )
        roles = (ApprovalRole.CUSTOMER,) if amount <= 5_000 else (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)
        kind = VerdictKind.FORBID if amount > 50_000 else VerdictKind.ASK
        verdict = Verdict(kind=kind, rule_ids=("rule",), required=roles, missing=roles, policy_digest=BUNDLE)
        made = {
            "operation_id": uuid4().hex,
            "customer_id": self.customer.id,
            "payload": payload,
            "judged": Judgement(verdict=verdict, request={}),
            "found": found,
            "language": "en",
            "ttl_s": 1_800,
        }
        return proposals.Proposal(**{**made, **other})

    async def propose(self, proposal: proposals.Proposal, fence: TurnFence | None = None) -> Effect:
        return await proposals.propose(self.db, fence or await self.fence(), proposal, self.words, [], self.clock())

    # ------------------------------------------------------------ people
    async def act(
        self,
        staff: VerifiedPrincipal,
        amount: int = SMALL,
        order_id: str = "A-1",
        request: StaffRequest | None = None,
        seen: int | None = None,
        **other: Any,
    ) -> StaffProposed:
        """Have a person ask for a refund, in their role of now."""
        wish = Wish(kind=ActionKind.REFUND, resource=f"order:{order_id}", amount_minor=amount, currency="EUR")
        asked = request or StaffRequest(request_id=uuid4().hex, wish=wish, seen_version=seen)
        actor = Actor(kind="staff", role=staff.role.value if staff.role else "", id=staff.id)
        made = await self.proposal(amount, order_id, actor=actor, **other)
        return await propose_by_staff(self.db, staff, self.id, asked, made, self.words, self.clock())

    async def decide(
        self,
        operation_id: str,
        who: VerifiedPrincipal | None = None,
        decision: ApprovalDecision = ApprovalDecision.APPROVE,
        at: datetime | None = None,
        digest: str | None = None,
        staff_ttl_s: int = STAFF_TTL_S,
        role: ApprovalRole | None = None,
        allows: Allows = by_table,
    ) -> approvals.Decided:
        shown = digest or (await self.action(operation_id)).payload_digest
        return await approvals.decide(
            self.db,
            who or self.customer,
            operation_id,
            shown,
            decision,
            None,
            staff_ttl_s,
            self.words,
            at or self.clock(),
            role,
            allows,
        )

    async def take_over(self, staff: VerifiedPrincipal, request_id: str | None = None) -> ownership.OwnerChange:
        return await ownership.take_over(self.db, staff, self.id, request_id or uuid4().hex, self.words, self.clock())

    async def release(
        self, staff: VerifiedPrincipal, epoch: int | None = None, request_id: str | None = None
    ) -> ownership.OwnerChange:
        ident = request_id or uuid4().hex
        return await ownership.release(self.db, staff, self.id, ident, epoch, self.words, self.clock())

    async def ask_for_person(self, request_id: str | None = None) -> ownership.OwnerChange:
        ident = request_id or uuid4().hex
        return await ownership.request_handoff(self.db, self.customer, self.id, ident, self.words, self.clock())

    async def reply(
        self, staff: VerifiedPrincipal, seen: int | None = None, client_message_id: str | None = None
    ) -> conversations.Accepted:
        ident = client_message_id or uuid4().hex
        return await replies.staff_reply(self.db, staff, self.id, ident, "Let me look.", seen)

    async def close(self, idle_since: datetime | None = None) -> bool:
        return await ownership.close_idle(
            self.db, self.tenant, self.id, idle_since or self.clock() + timedelta(seconds=1), self.words
        )

    # ------------------------------------------------------------ the action's way
    async def reserve(
        self,
        operation_id: str,
        found: Evidence | None = None,
        step_id: str | None = None,
        at: datetime | None = None,
        judge: dispatch.Judge = rule,
    ) -> ReserveResult:
        seen = found or await self.read()
        step = step_id or uuid4().hex
        return await dispatch.reserve(
            self.db, self.tenant, operation_id, step, seen, judge, self.words, at or self.clock(), STAFF_TTL_S
        )

    async def claim(self, operation_id: str, at: datetime | None = None) -> ClaimResult:
        made = await dispatch.claim(self.db, self.tenant, operation_id, CLAIM_TTL_S, self.words, at or self.clock())
        return made.result

    async def resend(
        self, operation_id: str, at: datetime | None = None, contract: ConnectorContract = SHOP
    ) -> ClaimResult:
        made = await dispatch.claim_resend(self.db, self.tenant, operation_id, contract, SENDS_MAX, at or self.clock())
        return made.result

    async def settle(
        self, operation_id: str, outcome: WriteOutcome = SUCCESS, contract: ConnectorContract = SHOP
    ) -> ActionState:
        return await settlement.settle_write(
            self.db, self.tenant, operation_id, outcome, contract, self.words, self.clock()
        )

    async def switch(self, *, stopped: bool, kind: ActionKind | None = None) -> bool:
        return await turn(self.db, self.tenant, kind, stopped=stopped, by="staff:mia", why="a drill")

    async def open_case(self, operation_id: str) -> ActionState:
        return await settlement.open_case(self.db, self.tenant, operation_id, self.words, self.clock())

    # ------------------------------------------------------------ as far as, for a person
    async def taken(self, staff: VerifiedPrincipal) -> "Talk":
        await self.say()
        await self.take_over(staff)
        return self

    async def acted(self, staff: VerifiedPrincipal, order_id: str = "A-1") -> str:
        """Taken over, asked for and confirmed by the customer; returns its operation id."""
        made = await (await self.taken(staff)).act(staff, order_id=order_id)
        await self.decide(made.operation_id)
        return made.operation_id

    async def acted_and_reserved(self, staff: VerifiedPrincipal) -> str:
        operation_id = await self.acted(staff)
        assert await self.reserve(operation_id) is ReserveResult.RESERVED
        return operation_id

    async def acted_and_unknown(self, staff: VerifiedPrincipal) -> str:
        operation_id = await self.acted_and_reserved(staff)
        assert await self.claim(operation_id) is ClaimResult.CLAIMED
        assert await self.settle(operation_id, LOST) is ActionState.UNKNOWN
        return operation_id

    # ------------------------------------------------------------ as far as
    async def proposed(self, amount: int = SMALL, order_id: str = "A-1", **other: Any) -> str:
        """Ask for a refund and have it proposed; returns its operation id."""
        await self.say()
        made = await self.proposal(amount, order_id, **other)
        assert await self.propose(made) is Effect.DONE
        return made.operation_id

    async def approved(self, **other: Any) -> str:
        operation_id = await self.proposed(**other)
        await self.decide(operation_id)
        return operation_id

    async def reserved(self, order_id: str = "A-1") -> str:
        operation_id = await self.approved(order_id=order_id)
        assert await self.reserve(operation_id, await self.read(order(order_id))) is ReserveResult.RESERVED
        return operation_id

    async def claimed(self, order_id: str = "A-1") -> str:
        operation_id = await self.reserved(order_id)
        assert await self.claim(operation_id) is ClaimResult.CLAIMED
        return operation_id

    async def unknown(self, order_id: str = "A-1") -> str:
        operation_id = await self.claimed(order_id)
        assert await self.settle(operation_id, LOST) is ActionState.UNKNOWN
        return operation_id
