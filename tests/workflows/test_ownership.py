"""Laws of ownership: a takeover waits for no turn, and nothing of before it speaks or is sent afterwards (3)."""

import asyncio

import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind, Owner
from domain.errand import Errand
from tests.workflows.scene import Scene, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPOKEN = (EventKind.BOT_REPLY, EventKind.PROPOSAL)


async def test_a_takeover_during_a_turn_silences_the_bot(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.PUBLISH_REPLY, scene.id)
    await scene.ask_status()
    await gate.until_reached()
    change = await scene.take_over()
    gate.open()
    await scene.at_rest()
    assert await scene.answers() == []
    assert (change.owner, (await scene.view()).owner) == (Owner.HUMAN, Owner.HUMAN)


async def test_a_takeover_during_a_turn_that_would_propose_leaves_no_action(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.PROPOSE_ACTION, scene.id)
    await scene.say(f"I want a refund for order {scene.person.order()}")
    await gate.until_reached()
    await scene.take_over()
    gate.open()
    await scene.at_rest()
    assert await scene.actions() == []


async def test_a_takeover_between_reservation_and_claim_means_never_sent(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    assert (await scene.action(operation_id)).state is ActionState.SUBMITTED
    change = await scene.take_over()
    gate.open()
    assert change.in_flight == ()
    assert await scene.action_handle(operation_id).result() == "rejected"
    assert (await scene.causes(operation_id))[-1] == Cause.WITHDRAWN
    assert scene.effects(operation_id) == []


async def test_a_takeover_during_a_write_still_establishes_and_tells_the_outcome(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm("delay_ms:1200")
    await scene.decide(operation_id)
    await until(lambda: _claimed(scene, operation_id), "the claim")
    change = await scene.take_over()
    assert change.in_flight == (operation_id,)
    taken_at = max(e.seq for e in await scene.log())
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    await scene.at_rest()
    later = [e for e in await scene.log() if e.seq > taken_at]
    assert [e.body["state"] for e in later if e.kind is EventKind.ACTION_STATE] == ["confirmed"]
    assert not [e for e in later if e.kind in SPOKEN]
    assert len(scene.effects(operation_id)) == 1


async def _claimed(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count == 1


async def test_a_released_bot_answers_what_is_unanswered_and_nothing_else(scene: Scene) -> None:
    await scene.take_over()
    await scene.say("Hello")
    await scene.reply()
    unanswered = await scene.ask_status()
    await scene.at_rest()
    assert await scene.answers() == []
    await scene.release()
    (reply,) = await scene.answered()
    assert reply.body["answers_through"] == unanswered.seq
    assert scene.person.order(4) in reply.body["text"]


async def test_a_released_bot_does_not_answer_again_what_the_person_dealt_with(scene: Scene) -> None:
    await scene.take_over()
    await scene.ask_status()
    await scene.reply()
    await scene.release()
    await scene.at_rest()
    await asyncio.sleep(0.3)
    assert await scene.answers() == []
    assert (await scene.view()).owner is Owner.BOT


async def test_a_change_from_one_person_to_another_and_back_leaves_one_answer(scene: Scene) -> None:
    await scene.take_over("ann")
    await scene.ask_status()
    await scene.take_over("ben")
    await scene.release("ben")
    await scene.answered()
    await scene.at_rest()
    assert len(await scene.answers()) == 1
    epochs = [e.body["owner_epoch"] for e in await scene.log(EventKind.OWNER_CHANGED)]
    assert epochs == [2, 3, 4]


async def test_a_person_is_asked_for_in_words(scene: Scene) -> None:
    await scene.say("I want to talk to a human please")
    view = await scene.owned_by(Owner.HUMAN)
    assert view.handoff is not None
    (handoff,) = await scene.log(EventKind.HANDOFF)
    assert handoff.body["reason"] == "handoff_requested"
    assert await scene.answers() == []
