"""Laws of messages: each is answered once, in order, over everything unanswered; signals are hints."""

import asyncio

import pytest

from domain.conversation import EventKind, Owner
from domain.errand import Errand
from tests.workflows.scene import Scene, hint, until
from tests.workflows.stage import BREAKS, Stage
from workflows.options import ROUNDS_MAX

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_message_gets_one_answer(scene: Scene) -> None:
    took = await scene.ask_status()
    (reply,) = await scene.answered()
    assert reply.body["answers_through"] == took.seq
    assert scene.person.order(4) in reply.body["text"]


async def test_three_quick_messages_get_one_answer(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.CONSIDER_TURN, scene.id)
    await scene.say("Hello")
    await gate.until_reached()
    await scene.say("where is")
    last = await scene.ask_status()
    gate.open()
    (reply,) = await scene.answered()
    assert reply.body["answers_through"] == last.seq
    await scene.at_rest()
    assert len(await scene.answers()) == 1


async def test_a_newer_message_drops_a_stale_draft_and_the_turn_runs_again(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.PUBLISH_REPLY, scene.id)
    await scene.say("Hello")
    await gate.until_reached()
    last = await scene.ask_status()
    gate.open()
    (reply,) = await scene.answered()
    assert reply.body["answers_through"] == last.seq
    assert scene.person.order(4) in reply.body["text"]


async def test_drafts_are_dropped_only_so_often(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.PUBLISH_REPLY, scene.id)
    await scene.say("Hello")
    for _ in range(ROUNDS_MAX + 1):
        await gate.until_reached()
        assert await scene.answers() == []
        await scene.say("Hello again", deliver=False)
        before, gate = gate, scene.stage.gates.before(Errand.PUBLISH_REPLY, scene.id)
        before.open()
    await until(scene.answers, "an answer although the customer goes on writing")
    gate.open()
    through = [e.body["answers_through"] for e in await scene.answered(2)]
    assert through == [ROUNDS_MAX + 1, (await scene.log(EventKind.CUSTOMER_MESSAGE))[-1].seq]


async def test_signals_twice_late_out_of_order_and_very_old_change_nothing(scene: Scene) -> None:
    wakes = [(await scene.say("Hello", deliver=False)).wake for _ in range(3)]
    await scene.stage.deliver(*reversed(wakes), *wakes)
    await scene.answered()
    await scene.at_rest()
    before = await scene.log()
    await scene.stage.deliver(hint(scene, seq=-7), *wakes)
    await asyncio.sleep(0.5)
    assert await scene.log() == before
    seqs = [e.seq for e in before if e.kind is EventKind.CUSTOMER_MESSAGE]
    assert len(seqs) == 3


async def test_a_signal_with_nothing_pending_is_safe(scene: Scene) -> None:
    await scene.stage.deliver(hint(scene))
    state = await scene.handle.query("state")
    assert (state["phase"], state["owner"]) == ("idle", "bot")
    assert await scene.log() == []


async def test_a_signal_for_a_conversation_that_does_not_exist_ends_its_workflow(stage: Stage) -> None:
    ghost = Scene(stage, id="conv-ghost")
    await stage.deliver(hint(ghost, seq=1))
    await asyncio.wait_for(ghost.handle.result(), 10)


async def test_what_cannot_be_understood_for_a_defect_of_ours_is_acknowledged_and_handed_off(scene: Scene) -> None:
    await scene.say(f"Please {BREAKS} my order")
    view = await scene.owned_by(Owner.HUMAN)
    assert view.handoff is not None
    kinds = [e.kind for e in await scene.log()]
    assert EventKind.NOTICE in kinds
    assert EventKind.BOT_REPLY not in kinds
    (handoff,) = await scene.log(EventKind.HANDOFF)
    assert handoff.body["reason"] == "understanding_failed"


async def test_answers_stand_in_the_order_of_their_messages(scene: Scene) -> None:
    for n in range(4):
        await scene.say("Hello" if n % 2 else f"Where is my order {scene.person.order(4)}?")
        await scene.answered(n + 1)
    through = [e.body["answers_through"] for e in await scene.answers()]
    asked = [e.seq for e in await scene.log(EventKind.CUSTOMER_MESSAGE)]
    assert through == asked
