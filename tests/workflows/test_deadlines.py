"""Laws of time: what nobody approves is rejected, what nobody can establish goes to a person, late answers settle."""

import asyncio
import signal
from typing import Any

import pytest
import sqlalchemy as sa

from domain.action import ActionState, Cause
from domain.conversation import EventKind, Owner
from domain.errand import Errand
from store import tables as t
from tests.workflows.scene import Scene, hint, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"dispatch_timeout_s": 1, "reconcile_deadline_s": 3, "customer_confirmation_ttl_s": 4}


async def cases(scene: Scene, operation_id: str) -> list[Any]:
    k = t.cases.c
    async with scene.stage.db.transaction(scene.tenant) as tx:
        return list((await tx.execute(sa.select(k.queue_status).where(k.operation_id == operation_id))).scalars())


async def test_a_proposal_that_nobody_confirms_in_time_is_rejected(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    assert await asyncio.wait_for(scene.action_handle(operation_id).result(), 12) == "rejected"
    assert (await scene.causes(operation_id))[-1] == Cause.EXPIRED
    assert scene.effects(operation_id) == []
    assert (await scene.log(EventKind.ACTION_STATE))[-1].body["cause"] == "expired"


async def test_an_unknown_goes_to_a_person_at_its_deadline_and_a_late_answer_settles_it_and_its_case(
    scene: Scene,
) -> None:
    shop = scene.stage.shop
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.LOOK_UP_ACTION, operation_id)
    shop.arm("drop_response_after_commit")
    await scene.decide(operation_id)
    await gate.until_reached()
    await asyncio.to_thread(shop.end, signal.SIGKILL)
    gate.open()
    try:
        await scene.owned_by(Owner.HUMAN)
        assert await cases(scene, operation_id) == ["waiting"]
        assert (await scene.action(operation_id)).state is ActionState.UNKNOWN
        shown = await until(lambda: _with_a_person(scene, operation_id), "the workflow to say who has it")
        assert shown["state"] == "unknown"
    finally:
        await asyncio.to_thread(shop.start)
    assert (await scene.log(EventKind.HANDOFF))[-1].body["reason"] == "unknown_outcome"
    await scene.stage.deliver(hint(scene, operation_id=operation_id))
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert await cases(scene, operation_id) == ["done"]
    assert len(scene.effects(operation_id)) == 1


async def _with_a_person(scene: Scene, operation_id: str) -> Any:
    state = await scene.action_handle(operation_id).query("state")
    return state if state["person_has_it"] else None


async def test_neither_release_nor_a_new_turn_ends_the_case_of_an_unknown(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm("error_before_commit", times=5)
    await scene.decide(operation_id)
    await scene.owned_by(Owner.HUMAN)
    scene.stage.shop.http.delete("/_faults")
    await scene.take_over()
    await scene.release()
    await scene.say(f"What about my refund for {scene.person.order()}?")
    await scene.answered(2)
    assert await cases(scene, operation_id) == ["waiting"]
    assert (await scene.action(operation_id)).state is ActionState.UNKNOWN
    assert scene.effects(operation_id) == []


async def test_a_look_up_that_fails_for_a_defect_of_ours_does_not_keep_it_from_a_person(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    scene.stage.connector.moved.add(operation_id)
    scene.stage.shop.arm("drop_response_after_commit")
    await scene.decide(operation_id)
    await scene.owned_by(Owner.HUMAN)
    assert await cases(scene, operation_id) == ["waiting"]
    scene.stage.connector.moved.clear()
    await scene.stage.deliver(hint(scene, operation_id=operation_id))
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert await cases(scene, operation_id) == ["done"]
