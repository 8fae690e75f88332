"""Two conversations of one customer, two members of staff and a shop, on which anything may happen in any order.

Time is the stage's own. Each act takes its details from the dice; a refusal is an answer like any other.
"""

import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from domain.action import ActionKind, ApprovalDecision
from domain.catalogue.wish import Wish
from domain.conversation import Owner
from domain.permission import Tool, ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.refusal import Refusal
from domain.step import Confirm
from domain.turn import ClaimResult, Effect
from store.approval_claims import claim_approval
from store.approval_words import confirm_in_words
from store.proposals import withdraw_proposals
from store.reminders import remind
from store.settlement import after_dispatch, expire, settle_lookup, withdraw_fenced
from store.staff_proposals import StaffRequest
from tests.store.faulty_shop import FaultyShop
from tests.store.terms import ABSURD, CLAIM_TTL_S, FORGETFUL, LARGE, SHOP, SMALL, now, order
from tests.store.world import Talk

T = TypeVar("T")
Step = Callable[[], Awaitable[Any]]


def _in_words(digest: str, question: ToolQuestion) -> bool:
    return question.tool is Tool.CONSENT_IN_WORDS


class Stage:
    """The world of one script. `again` is the step done last, with its identity: what a crash would run once more."""

    def __init__(self, talk: Talk, staff: tuple[VerifiedPrincipal, VerifiedPrincipal], seed: int) -> None:
        self.begun, self.passed = now(), timedelta()
        self.talks = [Talk(talk.db, talk.words, talk.customer, clock=self.clock) for _ in range(2)]
        self.agent, self.manager = staff
        self.dice = random.Random(seed)
        self.proposed: list[tuple[Talk, str]] = []
        self.sent: list[tuple[Talk, str]] = []
        self.again: Step | None = None
        self.shop = FaultyShop(self.dice.choice([SHOP, FORGETFUL]), self.clock)

    def clock(self) -> datetime:
        self.passed += timedelta(milliseconds=1)
        return self.begun + self.passed

    def maybe(self, chance: float = 0.5) -> bool:
        return self.dice.random() < chance

    def talk(self) -> Talk:
        return self.dice.choice(self.talks)

    def staff(self) -> VerifiedPrincipal:
        return self.dice.choice([self.agent, self.manager])

    def action(self) -> tuple[Talk, str]:
        """One of the actions proposed last."""
        if not self.proposed:
            raise Refusal("nothing was proposed yet")
        return self.dice.choice(self.proposed[-4:])

    def sent_action(self) -> tuple[Talk, str]:
        """One of the actions sent last, or any."""
        return self.dice.choice(self.sent[-3:]) if self.sent and self.maybe(0.9) else self.action()

    async def step(self, step: Callable[[], Awaitable[T]]) -> T | None:
        """Do what may be refused, and remember it."""
        self.again = step
        try:
            return await step()
        except Refusal:
            return None

    # ------------------------------------------------------------ the customer and the bot
    async def say(self) -> None:
        await self.talk().say()

    async def publish(self) -> None:
        talk = self.talk()
        await self.step(partial(talk.publish, await talk.fence(last_round=self.maybe())))

    async def publish_late(self) -> None:
        """A turn that slept through whatever is next."""
        talk = self.talk()
        fence = await talk.fence()
        await self.dice.choice([self.give_back, self.say, self.publish, self.take_over])()
        await self.step(partial(talk.publish, fence))

    async def propose(self) -> tuple[Talk, str] | None:
        talk = self.talk()
        await talk.say()
        if (await talk.row()).owner is Owner.HUMAN:
            await self._give_back(talk)
            await talk.say()
        amount = self.dice.choices([SMALL, LARGE, ABSURD], [5, 4, 1])[0]
        named = (self.dice.choice(self.proposed)[1],) if self.proposed and self.maybe(0.2) else ()
        proposal = await talk.proposal(amount, self.dice.choice(["A-1", "A-2"]), supersedes=named)
        if await self.step(partial(talk.propose, proposal, await talk.fence())) not in (Effect.DONE, Effect.HANDED_OFF):
            return None
        self.proposed.append((talk, proposal.operation_id))
        return self.proposed[-1]

    async def propose_by_staff(self) -> tuple[Talk, str] | None:
        """A person who has a conversation, or takes it for that, asks for something."""
        talk, who = self.talk(), self.staff()
        if self.maybe(0.7):
            await talk.take_over(who)
        amount, order_id = self.dice.choice([SMALL, SMALL, LARGE, ABSURD]), self.dice.choice(["A-1", "A-2"])
        wish = Wish(kind=ActionKind.REFUND, resource=f"order:{order_id}", amount_minor=amount, currency="EUR")
        seen = (await talk.row()).version - self.dice.randrange(2)
        asked = StaffRequest(request_id=uuid4().hex, wish=wish, seen_version=max(0, seen))
        if (made := await self.step(partial(talk.act, who, amount, order_id, asked))) is None:
            return None
        self.proposed.append((talk, made.operation_id))
        return self.proposed[-1]

    async def hand_off(self) -> None:
        talk = self.talk()
        await self.step(partial(talk.hand_off, await talk.fence()))

    async def stop(self) -> None:
        talk, operation_id = self.action()
        await talk.say("stop")
        fence = await talk.fence()
        await self.step(lambda: withdraw_proposals(talk.db, fence, (operation_id,), talk.words, self.clock()))

    # ------------------------------------------------------------ people
    async def take_over(self) -> None:
        await self.step(partial(self.talk().take_over, self.staff(), uuid4().hex))

    async def release(self) -> None:
        talk = self.talk()
        epoch = (await talk.row()).owner_epoch - int(self.maybe(0.3))
        await self.step(partial(talk.release, self.staff(), epoch, uuid4().hex))

    async def give_back(self) -> None:
        await self._give_back(self.talk())

    async def _give_back(self, talk: Talk) -> None:
        who = self.staff()
        taken = await talk.take_over(who)
        await self.step(partial(talk.release, who, taken.owner_epoch, uuid4().hex))

    async def ask_for_person(self) -> None:
        await self.step(partial(self.talk().ask_for_person, uuid4().hex))

    async def reply(self) -> None:
        talk = self.talk()
        seen = (await talk.row()).version - self.dice.randrange(3)
        await self.step(partial(talk.reply, self.staff(), seen, uuid4().hex))

    async def close(self) -> None:
        await self.step(self.talk().close)

    async def decide(self) -> None:
        talk, operation_id = self.action()
        said = ApprovalDecision.REJECT if self.maybe(0.15) else ApprovalDecision.APPROVE
        who = self.dice.choice([talk.customer, talk.customer, self.agent, self.manager, self.manager])
        await self.step(partial(talk.decide, operation_id, who, said, staff_ttl_s=self.dice.choice([60, 86_400])))

    async def yes(self) -> None:
        """What was just proposed is confirmed in words, perhaps too late."""
        if (made := await self.propose()) is None:
            return
        talk, operation_id = made
        confirm = Confirm(operation_id=operation_id, said_seq=(await talk.say("Yes")).seq)
        fence = await talk.fence()
        if self.maybe(0.3):
            await self.dice.choice([self.say, self.take_over, self.decide, self.reserve, self.tick])()
        await self.step(partial(confirm_in_words, talk.db, fence, confirm, _in_words, [], "en", self.clock()))

    async def remind(self) -> None:
        talk, operation_id = self.action()
        await self.step(partial(remind, talk.db, talk.tenant, operation_id, self.clock()))

    async def claim_approval(self) -> None:
        talk, operation_id = self.action()
        await self.step(partial(claim_approval, talk.db, self.manager, operation_id, 5, self.clock()))

    # ------------------------------------------------------------ the action's way
    async def reserve(self) -> None:
        await self._reserve(*self.action(), trouble=True)

    async def _reserve(self, talk: Talk, operation_id: str, *, trouble: bool) -> None:
        account = order((await talk.action(operation_id)).payload.resource.removeprefix("order:"))
        if trouble and self.maybe(0.3):
            account = order(account.orders[0].id, refunded=100)
        age_s = 90 if trouble and self.maybe(0.2) else 0
        found = await talk.read(account, self.clock() - timedelta(seconds=age_s))
        await self.step(partial(talk.reserve, operation_id, found, uuid4().hex))

    async def on_its_way(self) -> None:
        """An action as far as the wire, if nothing that happened before stands in its way."""
        if (made := await (self.propose_by_staff if self.maybe(0.3) else self.propose)()) is None:
            return
        talk, operation_id = made
        for who in (talk.customer, self.manager):
            await self.step(partial(talk.decide, operation_id, who))
        if self.maybe(0.9):
            await self._reserve(talk, operation_id, trouble=False)
        if self.maybe(0.9):
            await self._claim(talk, operation_id)

    async def claim(self) -> None:
        await self._claim(*self.action())

    async def _claim(self, talk: Talk, operation_id: str) -> None:
        if await talk.claim(operation_id) is ClaimResult.CLAIMED:
            self.shop.send(operation_id)
            self.sent.append((talk, operation_id))

    async def resend(self) -> None:
        talk, operation_id = self.sent_action()
        if await talk.resend(operation_id, None, self.shop.contract) is ClaimResult.CLAIMED:
            self.shop.send(operation_id)

    async def arrive(self) -> None:
        if self.shop.flying:
            request = self.dice.choice(self.shop.flying)
            self.shop.take(request, accept=self.maybe(0.7), answer_arrives=self.maybe())

    async def answer(self) -> None:
        if self.shop.answers:
            operation_id, outcome = self.shop.answers.pop(self.dice.randrange(len(self.shop.answers)))
            talk = next(t for t, o in self.proposed if o == operation_id)
            await self.step(partial(talk.settle, operation_id, outcome, self.shop.contract))

    async def look_up(self) -> None:
        talk, operation_id = self.sent_action()
        begun, found = self.clock(), self.shop.look_up(operation_id, lags=self.maybe())
        if self.maybe(0.3):
            await self.dice.choice([self.arrive, self.resend, self.tick])()
        args = (talk.db, talk.tenant, operation_id, found, self.shop.contract, begun, talk.words)
        await self.step(lambda: settle_lookup(*args, self.clock()))

    async def no_answer(self) -> None:
        talk, operation_id = self.sent_action()
        args = (talk.db, talk.tenant, operation_id, CLAIM_TTL_S, talk.words)
        await self.step(lambda: after_dispatch(*args, self.clock()))

    async def expire(self) -> None:
        talk, operation_id = self.action()
        await self.step(lambda: expire(talk.db, talk.tenant, operation_id, talk.words, self.clock()))

    async def withdraw(self) -> None:
        talk, operation_id = self.action()
        await self.step(lambda: withdraw_fenced(talk.db, talk.tenant, operation_id, talk.words, self.clock()))

    async def open_case(self) -> None:
        talk, operation_id = self.sent_action()
        await self.step(partial(talk.open_case, operation_id))

    async def kill_switch(self) -> None:
        await self.talks[0].switch(stopped=self.maybe(0.3), kind=self.dice.choice([None, ActionKind.REFUND]))

    # ------------------------------------------------------------ time and crashes
    async def tick(self) -> None:
        self.again = None  # a step that came to nothing may come to something once time has passed
        self.passed += timedelta(seconds=self.dice.choice([1, 5, 25, 40, 40, 600, 2_000]))

    async def crash(self) -> None:
        """The step done last has committed and its result was lost: run again, it finds that, and does nothing."""
        if self.again is None:
            return
        before = await self.happened()
        await self.step(self.again)
        assert await self.happened() == before

    async def happened(self) -> list[Any]:
        """How many there are of everything that only ever grows."""
        tables = ("events", "transitions", "outbox", "approvals", "handoffs", "cases", "ownership_requests")
        return await self.talks[0].all("SELECT " + ", ".join(f"(SELECT count(*) FROM {t})" for t in tables))
