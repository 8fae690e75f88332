"""One conversation on a stage: what its people do, as the gateway would do it for them, and what has come of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from activities.acting import StaffActing
from activities.policybook import PolicyBook
from domain.action import Action, ActionKind, ActionState, ApprovalDecision
from domain.catalogue.wish import Wish
from domain.conversation import ConversationView, Event, EventKind, Owner
from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.wake import Wake
from store import approvals, conversations, events, ownership, replies
from store.ledger import actions_of
from store.reading import read_turn
from store.staff_proposals import StaffProposed, StaffRequest
from tests.workflows.shop_world import MARKET, Person, somebody
from tests.workflows.stage import VAGUE, Stage
from workflows.messages import conversation_workflow_id

PATIENCE_S = 20.0
STAFF_TTL_S = 600
UNANSWERED_MAX = 200
SMALL, LARGE = (2, 3_000), (3, 20_000)  # which order, and what was paid for it


def now() -> datetime:
    return datetime.now(UTC)


def hint(scene: "Scene", seq: int = 0, operation_id: str | None = None) -> Wake:
    """A wake-up that stands for nothing in the outbox."""
    return Wake(
        outbox_id=0,
        tenant_id=scene.tenant,
        conversation_id=scene.id,
        operation_id=operation_id,
        seq=seq,
        event_id="",
        owner_epoch=0,
    )


async def until(holds: Callable[[], Awaitable[Any]], what: str = "", patience_s: float = PATIENCE_S) -> Any:
    """Wait until `holds` gives something true, and return that."""
    end = asyncio.get_running_loop().time() + patience_s
    while not (found := await holds()):
        assert asyncio.get_running_loop().time() < end, f"waited in vain: {what}"
        await asyncio.sleep(0.03)
    return found


@dataclass
class Scene:
    """A customer, their conversation, and the staff around it."""

    stage: Stage
    person: Person = field(default_factory=somebody)
    tenant: str = MARKET
    id: str = field(default_factory=lambda: f"conv-{uuid4().hex[:12]}")
    said: list[str] = field(default_factory=list)
    forgotten: bool = False  # Temporal's store was emptied: there are no histories to look at

    async def begin(self) -> "Scene":
        await conversations.open_conversation(self.stage.db, self.customer, self.id, "chat")
        self.stage.scenes.append(self)
        return self

    @property
    def customer(self) -> VerifiedPrincipal:
        return VerifiedPrincipal(tenant_id=self.tenant, kind=PrincipalKind.CUSTOMER, id=self.person.id)

    def staff(self, ident: str = "ann") -> VerifiedPrincipal:
        return self.stage.staff(self.tenant, ident)

    # ------------------------------------------------------------ what people do
    async def say(self, text: str, *, deliver: bool = True) -> conversations.Accepted:
        self.said.append(text)
        took = await conversations.accept_message(
            self.stage.db, self.customer, self.id, uuid4().hex, text, None, UNANSWERED_MAX
        )
        await self.stage.deliver(took.wake if deliver else None)
        return took

    async def ask_status(self, k: int = 4) -> conversations.Accepted:
        return await self.say(f"Where is my order {self.person.order(k)}?")

    async def ask_vaguely(self, k: int = 4) -> conversations.Accepted:
        """Ask what is left to a model, which takes it for a question about an order's status."""
        return await self.say(f"My {VAGUE}, {self.person.order(k)}, where might it be?")

    async def ask_how_long(self) -> conversations.Accepted:
        """Ask what the tenant's one article answers, and where there is a model, a model drafts."""
        return await self.say("How long does a refund take?")

    async def ask_refund(self, k: int = 1, patience_s: float = PATIENCE_S) -> str:
        """Ask for a refund and wait for its proposal; returns the operation id."""
        before = len(await self.actions())
        await self.say(f"I want a refund for order {self.person.order(k)}, please")
        proposed: Action = await until(lambda: self._more_actions_than(before), "a proposal", patience_s)
        await until(lambda: self.runs(proposed.operation_id), "its workflow to run", patience_s)
        return proposed.operation_id

    async def runs(self, operation_id: str) -> bool:
        try:
            return bool(await self.action_handle(operation_id).describe())
        except RPCError:
            return False

    async def _more_actions_than(self, n: int) -> Action | None:
        found = await self.actions()
        return found[-1] if len(found) > n else None

    async def decide(
        self, operation_id: str, decision: ApprovalDecision = ApprovalDecision.APPROVE, who: str | None = None
    ) -> approvals.Decided:
        digest = (await self.action(operation_id)).payload_digest
        principal = self.staff(who) if who else self.customer
        done = await approvals.decide(
            self.stage.db, principal, operation_id, digest, decision, None, STAFF_TTL_S, self.stage.words, now()
        )
        await self.stage.deliver(*done.wakes)
        return done

    async def take_over(self, who: str = "ann") -> ownership.OwnerChange:
        change = await ownership.take_over(
            self.stage.db, self.staff(who), self.id, uuid4().hex, self.stage.words, now()
        )
        await self.stage.deliver(change.wake)
        return change

    async def release(self, who: str = "ann") -> ownership.OwnerChange:
        change = await ownership.release(
            self.stage.db, self.staff(who), self.id, uuid4().hex, None, self.stage.words, now()
        )
        await self.stage.deliver(change.wake)
        return change

    async def reply(self, text: str = "I am looking into it.", who: str = "ann") -> None:
        took = await replies.staff_reply(self.stage.db, self.staff(who), self.id, uuid4().hex, text, None)
        await self.stage.deliver(took.wake)

    # ------------------------------------------------------------ what has come of it
    async def log(self, *kinds: EventKind) -> list[Event]:
        page = await events.events_after(self.stage.db, self.staff(), self.id, 0)
        return [e for e in page.events if not kinds or e.kind in kinds]

    async def answers(self) -> list[Event]:
        """What the bot has said of its own accord."""
        return await self.log(EventKind.BOT_REPLY, EventKind.PROPOSAL)

    async def answered(self, n: int = 1) -> list[Event]:
        """Wait until everything is answered, by at least `n` answers."""

        async def done() -> list[Event] | None:
            row, said = await read_turn(self.stage.db, self.tenant, self.id), await self.answers()
            return said if row.answered_seq >= row.customer_seq and len(said) >= n else None

        found: list[Event] = await until(done, f"{n} answers")
        return found

    async def view(self) -> ConversationView:
        return await conversations.view_conversation(self.stage.db, self.staff(), self.id)

    async def owned_by(self, owner: Owner) -> ConversationView:
        async def done() -> ConversationView | None:
            view = await self.view()
            return view if view.owner is owner else None

        found: ConversationView = await until(done, f"owner {owner}")
        return found

    async def actions(self) -> list[Action]:
        async with self.stage.db.transaction(self.tenant) as tx:
            return await actions_of(tx, self.id)

    async def action(self, operation_id: str) -> Action:
        return next(a for a in await self.actions() if a.operation_id == operation_id)

    async def comes_to(self, operation_id: str, *states: ActionState, patience_s: float = PATIENCE_S) -> Action:
        """Wait until an action is in one of `states`."""

        async def done() -> Action | None:
            action = await self.action(operation_id)
            return action if action.state in states else None

        found: Action = await until(done, f"action to be {' or '.join(states)}", patience_s)
        return found

    async def causes(self, operation_id: str) -> list[str]:
        moves = (await approvals.view_action(self.stage.db, self.staff(), operation_id)).history
        return [m["cause"] for m in moves]

    def effects(self, operation_id: str) -> list[dict[str, Any]]:
        return self.stage.shop.effects(operation_id)

    # ------------------------------------------------------------ its workflows
    @property
    def handle(self) -> WorkflowHandle[Any, Any]:
        return self.stage.client.get_workflow_handle(conversation_workflow_id(self.id))

    def action_handle(self, operation_id: str) -> WorkflowHandle[Any, Any]:
        return self.stage.client.get_workflow_handle(operation_id)

    async def at_rest(self) -> None:
        """Wait until the workflow has worked through the whole log."""

        async def done() -> bool:
            row = await read_turn(self.stage.db, self.tenant, self.id)
            return row.consumed_seq >= row.version

        await until(done, "the workflow to work through the log")


async def act(
    scene: Scene, who: VerifiedPrincipal | None = None, what: tuple[int, int] | Wish = SMALL, *, deliver: bool = True
) -> StaffProposed:
    """Propose as the gateway would for a person: a refund of all of an order, or what is wished."""
    stage = scene.stage
    if isinstance(what, tuple):
        order = f"order:{scene.person.order(what[0])}"
        what = Wish(kind=ActionKind.REFUND, resource=order, amount_minor=what[1], currency="EUR")
    acting = StaffActing(stage.db, stage.connector, PolicyBook(stage.db), stage.words, 1_800, 86_400)
    request = StaffRequest(request_id=uuid4().hex, wish=what)
    proposed = await acting.propose(who or scene.staff(), scene.id, request)
    await stage.deliver(*(proposed.wakes if deliver else ()))
    return proposed
