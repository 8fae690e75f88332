"""Many transactions at once over two conversations that share a resource: no deadlock, and every invariant holds."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import psycopg
import pytest

from domain.action import ActionKind, ApprovalDecision, ApprovalRole
from domain.conversation import Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import Refusal
from domain.turn import ClaimResult, Effect, ReserveResult
from store.database import Database
from store.proposals import withdraw_proposals
from store.settlement import after_dispatch, expire, settle_lookup, withdraw_fenced
from tests.conftest import UNANSWERED_MAX
from tests.store import invariants
from tests.store.drafting import accepts, decide, keep, rejects, waiting
from tests.store.faulty_shop import FaultyShop
from tests.store.terms import CLAIM_TTL_S, LARGE, LOST, SHOP, SMALL, later, now, order
from tests.store.world import Talk

Staff = VerifiedPrincipal
ORDERS = ("A-1", "A-2", "A-3")  # both conversations want all of them
WORKERS, STEPS = 10, 50


class Crowd:
    """Everybody who may touch a conversation, each doing anything at any time."""

    def __init__(self, talks: list[Talk], staff: list[Staff], seed: int) -> None:
        self.talks, self.staff, self.dice = talks, staff, random.Random(seed)
        self.shop = FaultyShop(SHOP, now)
        self.proposed: list[tuple[Talk, str]] = []
        self.acts: dict[Callable[[Talk], Awaitable[Any]], int] = {
            self.drive: 8,
            self.drive_by_staff: 4,
            self.release: 10,
            self.publish: 3,
            self.draft: 10,
            self.decide: 2,
            self.reserve: 2,
            self.dispatch: 2,
            self.resend: 2,
            self.look_up: 6,
            **dict.fromkeys((self.say, self.take_over, self.hand_off, self.ask, self.reply, self.close), 1),
            **dict.fromkeys((self.withdraw, self.give_up, self.open_case, self.halt), 1),
        }

    async def work(self) -> None:
        for _ in range(STEPS):
            (act,) = self.dice.choices(list(self.acts), list(self.acts.values()))
            try:
                await act(self.dice.choice(self.talks))
            except Refusal:
                continue

    async def say(self, talk: Talk) -> None:
        if (await talk.row()).version < UNANSWERED_MAX:
            await talk.say()

    async def publish(self, talk: Talk) -> None:
        fence = await talk.fence()
        if fence.through_seq > fence.answered_seq:
            await talk.publish(fence)

    async def draft(self, talk: Talk) -> None:
        """Keep an answer for a person, and have somebody decide whatever waits at that moment."""
        await talk.say()
        await keep(talk)
        for draft in await waiting(talk):
            asked = self.dice.choice([accepts(), accepts(), accepts("In other words."), rejects()])
            await decide(talk, self.dice.choice(self.staff), draft.draft_id, asked)

    async def hand_off(self, talk: Talk) -> None:
        if self.dice.random() < 0.3:
            await talk.hand_off()

    async def drive(self, talk: Talk) -> None:
        """The whole way of one action, as far as the others let it come."""
        await talk.say()
        order_id = self.dice.choice(ORDERS)
        proposal = await talk.proposal(self.dice.choice([SMALL, SMALL, LARGE]), order_id)
        if await talk.propose(proposal, await talk.fence(last_round=True)) is not Effect.DONE:
            return
        self.proposed.append((talk, proposal.operation_id))
        await talk.decide(proposal.operation_id)
        if ApprovalRole.MANAGER in proposal.verdict.required:
            await talk.decide(proposal.operation_id, self.staff[-1])
        await self._reserve_and_send(talk, proposal.operation_id, order_id, partial(self._answer, talk))

    async def drive_by_staff(self, talk: Talk) -> None:
        """The same of a person, who takes the conversation for it and deals with what comes in between."""
        who, order_id = self.dice.choice(self.staff), self.dice.choice(ORDERS)
        await talk.take_over(who)
        made = await talk.act(who, SMALL, order_id)
        self.proposed.append((talk, made.operation_id))
        await talk.decide(made.operation_id)
        await self._reserve_and_send(talk, made.operation_id, order_id, partial(talk.reply, who))

    async def _answer(self, talk: Talk) -> None:
        await talk.publish(await talk.fence(last_round=True))

    async def _reserve_and_send(
        self, talk: Talk, operation_id: str, order_id: str, consider: Callable[[], Awaitable[Any]]
    ) -> None:
        for _ in range(4):
            result = await talk.reserve(operation_id, await talk.read(order(order_id)))
            if result is ReserveResult.UNCONSIDERED:
                await consider()
            elif result is not ReserveResult.BUSY:
                await self.claim_and_send(talk, operation_id)
                return

    async def ask(self, talk: Talk) -> None:
        await talk.ask_for_person()

    async def reply(self, talk: Talk) -> None:
        await talk.reply(self.dice.choice(self.staff))

    async def close(self, talk: Talk) -> None:
        await talk.close()

    async def withdraw(self, talk: Talk) -> None:
        await talk.say("stop")
        ids = tuple(operation_id for t, operation_id in self.proposed if t is talk)
        await withdraw_proposals(talk.db, await talk.fence(), ids, talk.words, now())

    async def take_over(self, talk: Talk) -> None:
        if self.dice.random() < 0.4:
            await talk.take_over(self.dice.choice(self.staff))

    async def release(self, talk: Talk) -> None:
        """Whoever has it, somebody takes it and gives it back, if nobody else takes it in between."""
        if (await talk.row()).owner is Owner.HUMAN:
            staff = self.dice.choice(self.staff)
            taken = await talk.take_over(staff)
            await talk.release(staff, taken.owner_epoch)

    def any_action(self) -> tuple[Talk, str]:
        if not self.proposed:
            raise Refusal("nothing was proposed yet")
        return self.dice.choice(self.proposed[-4:])

    async def decide(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        digest = (await talk.action(operation_id)).payload_digest
        no = self.dice.random() < 0.1
        decision = ApprovalDecision.REJECT if no else ApprovalDecision.APPROVE
        who = self.dice.choice([talk.customer, talk.customer, *self.staff])
        await talk.decide(operation_id, who, decision, digest=digest)

    async def reserve(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        order_id = (await talk.action(operation_id)).payload.resource.removeprefix("order:")
        await talk.reserve(operation_id, await talk.read(order(order_id)))

    async def dispatch(self, _: Talk) -> None:
        await self.claim_and_send(*self.any_action())

    async def claim_and_send(self, talk: Talk, operation_id: str) -> None:
        if await talk.claim(operation_id) is ClaimResult.CLAIMED:
            await self.send(talk, operation_id)

    async def resend(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        if await talk.resend(operation_id) is ClaimResult.CLAIMED:
            await self.send(talk, operation_id)

    async def send(self, talk: Talk, operation_id: str) -> None:
        self.shop.send(operation_id)
        await asyncio.sleep(0)
        request = next(r for r in self.shop.flying if r.operation_id == operation_id)
        self.shop.take(request, accept=self.dice.random() < 0.8, answer_arrives=self.dice.random() < 0.6)
        outcome = self.shop.answers.pop()[1] if self.shop.answers else LOST
        await talk.settle(operation_id, outcome)

    async def look_up(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        found, begun = self.shop.look_up(operation_id, lags=False), now()
        await settle_lookup(talk.db, talk.tenant, operation_id, found, SHOP, begun, talk.words, now())

    async def give_up(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        who = (talk.db, talk.tenant, operation_id)
        match self.dice.randrange(3):
            case 0:
                await expire(*who, talk.words, later(5_000))
            case 1:
                await withdraw_fenced(*who, talk.words, now())
            case _:
                await after_dispatch(*who, CLAIM_TTL_S, talk.words, later(CLAIM_TTL_S + 1))

    async def halt(self, talk: Talk) -> None:
        """The kill switch, on and off again."""
        kind = self.dice.choice([None, ActionKind.REFUND])
        await talk.switch(stopped=True, kind=kind)
        await talk.switch(stopped=False, kind=kind)

    async def open_case(self, _: Talk) -> None:
        talk, operation_id = self.any_action()
        await talk.open_case(operation_id)


@pytest.mark.parametrize("seed", range(3))
async def test_nothing_deadlocks_and_every_invariant_holds(
    seed: int, talk: Talk, db: Database, ann: Staff, manager: Staff, owner: psycopg.Connection[Any]
) -> None:
    crowd = Crowd([talk, await talk.beside()], [ann, manager], seed)
    async with asyncio.TaskGroup() as workers:
        for _ in range(WORKERS):
            workers.create_task(crowd.work())
    invariants.hold(owner, talk.tenant)
    states = dict(await talk.all("SELECT operation_id, state FROM actions"))
    crowd.shop.agrees_with(states)
    moved = await talk.all("SELECT DISTINCT to_state FROM transitions")
    assert {"submitted", "rejected"} <= {state for (state,) in moved}  # the crowd did get somewhere
    ended = {state for (state,) in await talk.all("SELECT DISTINCT state FROM drafts")}
    assert "superseded" in ended
    assert ended & {"accepted", "edited", "rejected"}
    asked = await talk.all("SELECT DISTINCT split_part(requested_by, ':', 1) FROM actions")
    assert set(asked) == {("bot",), ("staff",)}
