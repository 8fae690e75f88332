"""Laws of dispatch: whatever the shop does, an operation has at most one effect, and the ledger comes to know it."""

import asyncio
import signal

import pytest

from domain.action import ActionState, Cause
from domain.errand import Errand
from tests.workflows.scene import Scene, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def confirmed_by(scene: Scene, fault: str) -> str:
    """Have a refund proposed and confirmed under a fault of the shop; returns its operation id."""
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm(fault)
    await scene.decide(operation_id)
    return operation_id


async def test_a_lost_response_is_unknown_and_then_found(scene: Scene) -> None:
    operation_id = await confirmed_by(scene, "drop_response_after_commit")
    action = await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert await scene.causes(operation_id) == ["proposed", "approval_needed", "reserved", "response_lost", "found"]
    (effect,) = scene.effects(operation_id)
    assert (action.external_id, action.send_count) == (effect["id"], 1)


async def test_an_error_before_the_commit_is_sent_again_under_the_same_key(scene: Scene) -> None:
    operation_id = await confirmed_by(scene, "error_before_commit")
    action = await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert (await scene.causes(operation_id))[-2:] == ["response_lost", "succeeded"]
    assert action.send_count == 2
    assert len(scene.effects(operation_id)) == 1


async def test_a_refusal_rejects(scene: Scene) -> None:
    operation_id = await confirmed_by(scene, "reject")
    await scene.comes_to(operation_id, ActionState.REJECTED)
    assert (await scene.causes(operation_id))[-1] == Cause.REFUSED
    assert scene.effects(operation_id) == []


async def test_a_request_that_arrives_twice_has_one_effect(scene: Scene) -> None:
    operation_id = await confirmed_by(scene, "duplicate")
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1


async def test_an_answer_later_than_the_time_limit_is_unknown_and_settles(scene: Scene) -> None:
    operation_id = await confirmed_by(scene, "delay_ms:3500")
    await scene.comes_to(operation_id, ActionState.UNKNOWN)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1


async def test_a_shop_that_is_down_at_dispatch_is_unknown_and_settles_when_it_is_back(scene: Scene) -> None:
    shop = scene.stage.shop
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    await asyncio.to_thread(shop.end, signal.SIGKILL)
    gate.open()
    try:
        await scene.comes_to(operation_id, ActionState.UNKNOWN)
    finally:
        await asyncio.to_thread(shop.start)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1


async def test_a_shop_that_is_down_during_a_turn_delays_the_answer_and_loses_nothing(scene: Scene) -> None:
    shop = scene.stage.shop
    await asyncio.to_thread(shop.end, signal.SIGKILL)
    try:
        await scene.ask_status()
        await asyncio.sleep(0.6)
    finally:
        await asyncio.to_thread(shop.start)
    (reply,) = await scene.answered()
    assert scene.person.order(4) in reply.body["text"]


async def test_a_shop_that_is_down_at_the_reservation_is_waited_for(scene: Scene) -> None:
    shop = scene.stage.shop
    operation_id = await scene.ask_refund()
    await asyncio.to_thread(shop.end, signal.SIGKILL)
    try:
        await scene.decide(operation_id)
        await until(lambda: _noted(scene, operation_id, "stale_evidence"), "a reservation without a fresh read")
    finally:
        await asyncio.to_thread(shop.start)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)


async def _noted(scene: Scene, operation_id: str, detail: str) -> bool:
    timeline = await scene.action_handle(operation_id).query("timeline")
    return any(entry["detail"] == detail for entry in timeline)
