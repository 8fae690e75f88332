"""Plays a conversation by hand: customer, bot, staff and executor, each through the product's own transactions.

What a workflow would do in order is done here in order; nothing is written that the product could not write.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from activities.considering import Considering
from activities.executing import Executing
from activities.proposing import Proposing
from activities.speaking import Speaking
from connectors.shop import ShopConnector
from domain.action import ActionState, ApprovalDecision
from domain.errand import (
    CloseIdle,
    Considered,
    ConsiderTurn,
    HandOffTurn,
    ProposeAction,
    ReserveAction,
    TurnEffect,
)
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.step import Answer, Clarify, HandOff, Propose
from domain.turn import Effect, ReserveResult, TurnFence
from domain.words import Words
from store.approvals import decide, view_action
from store.conversations import accept_message, open_conversation
from store.database import Database
from store.dispatch import claim
from store.outbox import mark_conversation_delivered
from store.settlement import after_dispatch, open_case, settle_write


class Hand:
    """Holds everybody's tools."""

    def __init__(
        self,
        db: Database,
        shop: ShopConnector,
        considering: Considering,
        speaking: Speaking,
        proposing: Proposing,
        executing: Executing,
        words: Words,
    ) -> None:
        self.db = db
        self.shop = shop
        self.considering = considering
        self.speaking = speaking
        self.proposing = proposing
        self.executing = executing
        self.words = words

    async def begin(self, tenant_id: str, customer_id: str, channel: str = "chat") -> tuple[VerifiedPrincipal, str]:
        """Open a conversation of a customer; return the customer and its id."""
        who = VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.CUSTOMER, id=customer_id)
        view = await open_conversation(self.db, who, str(uuid4()), channel)
        return who, view.id

    async def say(
        self, who: VerifiedPrincipal, conversation_id: str, text: str, *, for_review: bool = False
    ) -> str | None:
        """The customer writes and the bot takes its turn; return the operation id if it proposed something.

        `for_review`: what it would answer waits for a person, as in the stage of drafts.
        """
        await accept_message(self.db, who, conversation_id, str(uuid4()), text, None, 200)
        ask = ConsiderTurn(
            tenant_id=who.tenant_id, conversation_id=conversation_id, step_id=str(uuid4()), patient=False
        )
        considered = await self.considering.consider_turn(ask)
        if for_review:
            considered = considered.model_copy(update={"for_review": True})
        operation_id = await self._take(who.tenant_id, conversation_id, considered)
        await mark_conversation_delivered(self.db, who.tenant_id, conversation_id, datetime.now(UTC))
        return operation_id

    async def _take(self, tenant_id: str, conversation_id: str, considered: Considered) -> str | None:
        fence = TurnFence(
            tenant_id=tenant_id,
            conversation_id=conversation_id,
            owner_epoch=considered.owner_epoch,
            answered_seq=considered.answered_seq,
            through_seq=considered.through_seq,
            step_id=str(uuid4()),
        )
        match considered.step:
            case Propose() as propose:
                operation_id = str(uuid4())
                ask = ProposeAction(fence=fence, considered=considered, operation_id=operation_id, propose=propose)
                return operation_id if await self.proposing.propose_action(ask) is Effect.DONE else None
            case HandOff(reason=reason):
                await self.speaking.hand_off(HandOffTurn(fence=fence, considered=considered, reason=reason))
            case None:
                pass
            case Answer() | Clarify() if considered.for_review:
                await self.speaking.keep_draft(TurnEffect(fence=fence, considered=considered))
            case _:
                await self.speaking.publish_reply(TurnEffect(fence=fence, considered=considered))
        return None

    async def approve(self, who: VerifiedPrincipal, operation_id: str) -> None:
        """One entitled person agrees to exactly what stands there."""
        seen = await view_action(self.db, who, operation_id)
        digest, yes = seen.action.payload_digest, ApprovalDecision.APPROVE
        await decide(self.db, who, operation_id, digest, yes, None, 86_400, self.words, datetime.now(UTC))
        await mark_conversation_delivered(self.db, who.tenant_id, seen.action.conversation_id, datetime.now(UTC))

    async def carry_out(
        self, tenant_id: str, operation_id: str, *, lose_the_answer: bool = False
    ) -> ActionState | None:
        """Reserve, claim and send; `lose_the_answer` claims and never sends, which looks like a lost answer."""
        ask = ReserveAction(tenant_id=tenant_id, operation_id=operation_id, step_id=str(uuid4()))
        if await self.executing.reserve_action(ask) is not ReserveResult.RESERVED:
            return None
        claimed = await claim(self.db, tenant_id, operation_id, 20, self.words, datetime.now(UTC))
        if claimed.action is None:
            return None
        if lose_the_answer:
            await after_dispatch(self.db, tenant_id, operation_id, 20, self.words, datetime.now(UTC))
            return await open_case(self.db, tenant_id, operation_id, self.words, datetime.now(UTC))
        outcome = await self.shop.execute(claimed.action)
        contract, now = self.shop.contract, datetime.now(UTC)
        return await settle_write(self.db, tenant_id, operation_id, outcome, contract, self.words, now)

    async def close(self, tenant_id: str, conversation_id: str) -> bool:
        """Close it as if it had been idle, its wake-ups dealt with; say whether it is closed."""
        await mark_conversation_delivered(self.db, tenant_id, conversation_id, datetime.now(UTC))
        ask = CloseIdle(tenant_id=tenant_id, conversation_id=conversation_id, idle_since=datetime.now(UTC))
        return await self.speaking.close_idle(ask)


def manager_of(tenant_id: str) -> VerifiedPrincipal:
    """Return the demo's manager."""
    return VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.STAFF, id="manager-1", role=StaffRole.MANAGER)


def orders_of(world: dict[str, Any], kind: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (tenant, customer, order) for every order of the tenants of a kind."""
    return [
        (t["id"], c["id"], o)
        for t in world["tenants"]
        if t["kind"] == kind
        for c in t["customers"]
        for o in c["orders"]
    ]
