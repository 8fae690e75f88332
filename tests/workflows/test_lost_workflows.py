"""Laws of loss: whatever Temporal forgets, the sweep and the recovery bring back from Postgres, with one effect."""

import asyncio

import pytest

from domain.action import ActionState
from domain.errand import Errand
from relay.relay import Relay
from tests.workflows.scene import Scene, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def sweep(scene: Scene) -> None:
    await Relay(scene.stage.relay_db, scene.stage.waker, 1, sweep_older_than_s=0).sweep()


async def test_an_action_outlives_its_conversation(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await scene.handle.terminate()
    await scene.decide(operation_id)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert await scene.action_handle(operation_id).result() == "confirmed"


async def test_a_lost_conversation_with_unanswered_messages_is_brought_back(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.CONSIDER_TURN, scene.id)
    await scene.ask_status()
    await gate.until_reached()
    await scene.handle.terminate()
    gate.open()
    await sweep(scene)
    await scene.answered()
    await scene.at_rest()
    assert len(await scene.answers()) == 1


async def test_a_lost_action_that_awaits_approval_is_brought_back(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await scene.action_handle(operation_id).terminate()
    await sweep(scene)
    await scene.decide(operation_id)
    await confirmed_once(scene, operation_id)


async def test_a_lost_action_that_was_approved_is_brought_back(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.RESERVE_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    await scene.action_handle(operation_id).terminate()
    await sweep(scene)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    gate.open()
    await confirmed_once(scene, operation_id)


async def test_a_lost_action_that_was_reserved_and_not_claimed_is_sent_once(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    await scene.action_handle(operation_id).terminate()
    await sweep(scene)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    gate.open()  # the first dispatch wakes late, and sends nothing
    await asyncio.sleep(0.3)
    await confirmed_once(scene, operation_id)


async def test_a_lost_action_that_was_claimed_is_established_and_not_sent_again(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm("delay_ms:1000")
    await scene.decide(operation_id)
    await until(lambda: _claimed(scene, operation_id), "the claim")
    await scene.action_handle(operation_id).terminate()
    await sweep(scene)
    await confirmed_once(scene, operation_id)


async def _claimed(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count == 1


async def test_a_lost_action_that_is_unknown_is_established(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.LOOK_UP_ACTION, operation_id)
    scene.stage.shop.arm("drop_response_after_commit")
    await scene.decide(operation_id)
    await gate.until_reached()
    await scene.action_handle(operation_id).terminate()
    await sweep(scene)
    await confirmed_once(scene, operation_id)
    gate.open()


async def confirmed_once(scene: Scene, operation_id: str) -> None:
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1
    assert await scene.action_handle(operation_id).result() == "confirmed"
