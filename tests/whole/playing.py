"""Plays a script on a scene: real store, real Temporal, real shop; looks at nothing that its people could not see.

After every act it waits until all that was said is answered, or a person has the conversation.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from domain.action import ActionState, ApprovalDecision
from domain.conversation import Event, EventKind, Owner
from domain.refusal import VersionConflict
from store import conversations
from store.bundle import handoff_bundle
from store.reading import read_turn
from tests.whole.scripts import Act, Comes, Script
from tests.workflows.scene import UNANSWERED_MAX, Scene, until

SHOWN = (EventKind.BOT_REPLY, EventKind.PROPOSAL, EventKind.NOTICE)
ANSWERS = (EventKind.BOT_REPLY, EventKind.PROPOSAL)


@dataclass
class Player:
    """One conversation being played."""

    scene: Scene
    script: Script
    seen: list[int] = field(default_factory=lambda: [0])  # the version after each act

    async def play(self) -> None:
        """Do every act and look at what comes of it, then at what is left in the end."""
        for n, act in enumerate(self.script.acts):
            await self._do(act)
            await self._rest()
            log = await self.scene.log()
            new = [e for e in log if e.seq > self.seen[-1]]
            told = f"act {n + 1} of {self.script.about!r}: {[(e.kind.value, e.body.get('text')) for e in new]}"
            await self._came_to(act, new, told)
            self.seen.append(max([e.seq for e in log], default=0))
        await self._in_the_end()

    async def _do(self, act: Act) -> None:
        if act.from_an_old_tab:
            await self._from_an_old_tab(act)
        elif act.at_once:
            await asyncio.gather(*(self.scene.say(text) for text in act.says))
        else:
            for text in act.says:
                await self.scene.say(text)
        if act.presses is not None:
            waiting = [a for a in await self.scene.actions() if a.state is ActionState.AWAITING_APPROVAL]
            await self.scene.decide(waiting[-1].operation_id, ApprovalDecision(act.presses))
            if waiting[-1].required_approvals == ("customer",):
                await self.scene.comes_to(waiting[-1].operation_id, ActionState.CONFIRMED, ActionState.REJECTED)
        if act.staff is not None:
            await getattr(self.scene, act.staff)()

    async def _from_an_old_tab(self, act: Act) -> None:
        """What a tab writes that has not seen the rest: it is refused, and sent again once it has."""
        for text in act.says:
            ident = uuid4().hex

            async def send(seen: int, ident: str = ident, text: str = text) -> conversations.Accepted:
                db, who, talk = self.scene.stage.db, self.scene.customer, self.scene.id
                return await conversations.accept_message(db, who, talk, ident, text, seen, UNANSWERED_MAX)

            with pytest.raises(VersionConflict):
                await send(self.seen[1])
            took, again = await send(self.seen[-1]), await send(self.seen[-1])
            assert (again.seq, again.duplicate) == (took.seq, True)
            await self.scene.stage.deliver(took.wake)

    async def _rest(self) -> None:
        """Wait until everything is answered, or with a person, and worked through."""

        async def done() -> bool:
            row = await read_turn(self.scene.stage.db, self.scene.tenant, self.scene.id)
            answered = row.answered_seq >= row.customer_seq
            return (answered or row.owner is Owner.HUMAN) and row.consumed_seq >= row.version

        await until(done, f"an answer in {self.script.about!r}")

    async def _came_to(self, act: Act, new: list[Event], told: str) -> None:
        comes, shown = act.comes, [e for e in new if e.kind in SHOWN]
        assert (await self.scene.view()).owner.value == comes.owner, told
        if comes.kind is not None:
            assert [e.kind.value for e in shown][-1:] == [comes.kind], told
        words = "\n".join(str(e.body.get("text") or e.body.get("summary")) for e in shown).casefold()
        assert not [w for w in comes.has if w.casefold() not in words], told
        assert not [w for w in comes.lacks if w.casefold() in words], told
        assert sum(e.kind in ANSWERS for e in new) <= comes.answers, told
        if comes.reason is not None:
            assert [e.body["reason"] for e in new if e.kind is EventKind.HANDOFF] == [comes.reason], told
        self._understood(comes, new, told)
        await self._proposed(comes, new, told)

    def _understood(self, comes: Comes, new: list[Event], told: str) -> None:
        turns = [e.body for e in new if e.kind is EventKind.UNDERSTANDING]
        if comes.language is not None:
            assert turns[-1]["language"] == comes.language, told
        if comes.waits is not None:
            assert tuple(need["intent"] for need in turns[-1]["waiting"]) == comes.waits, told

    async def _proposed(self, comes: Comes, new: list[Event], told: str) -> None:
        made = [e.body["operation_id"] for e in new if e.kind is EventKind.PROPOSAL]
        assert bool(made) is (comes.proposes is not None), told
        if made:
            action = await self.scene.action(made[-1])
            assert action.payload.resource == f"order:{comes.proposes}", told
            assert comes.amount_minor in (None, action.payload.amount_minor), told

    async def _in_the_end(self) -> None:
        effects = [e for a in await self.scene.actions() for e in self.scene.effects(a.operation_id)]
        done = sorted((e["resource"], e["amount_minor"]) for e in effects)
        assert done == sorted(self.script.effects)
        log = await self.scene.log()
        approved = {e.body["operation_id"] for e in log if e.kind is EventKind.APPROVAL}
        assert {e["operation_id"] for e in effects} <= approved
        for kept in [e.body for e in log if e.kind is EventKind.SUMMARY]:
            _holds_no_amount(kept)
        if self.script.summary is not None:
            last = [e.body for e in log if e.kind is EventKind.SUMMARY][-1]
            goals = tuple(f"{g['intent']} of {_bare(g['resource'])}" for g in last["goals"])
            corrections = tuple(f"{_bare(c['was'])} to {_bare(c['now'])}" for c in last["corrections"])
            named = tuple(map(_bare, last["named"]))
            wanted = self.script.summary
            assert (goals, corrections, named) == (wanted.goals, wanted.corrections, wanted.named)
        if self.script.asked:
            handoff = [e.body["handoff_id"] for e in log if e.kind is EventKind.HANDOFF][-1]
            bundle = await handoff_bundle(self.scene.stage.db, self.scene.staff(), handoff)
            assert set(self.script.asked) <= set(bundle.open_questions)


def _bare(resource: str | None) -> str:
    return (resource or "nothing").rpartition(":")[2]


def _holds_no_amount(kept: dict[str, Any]) -> None:
    parts = [p for name in ("goals", "waiting", "constraints", "open_questions", "corrections") for p in kept[name]]
    assert {"amount", "amount_minor", "state", "approval"}.isdisjoint({key for part in parts for key in part})
    assert all(part["seq"] <= kept["through_seq"] for part in parts)
