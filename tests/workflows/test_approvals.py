"""Laws of consent over time: asked anew after a change, reminded of, escalated, and given in words that count."""

from typing import Any

import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind
from domain.errand import Errand
from domain.refusal import ApprovalStale, StaleReason
from store.approval_queue import pending_approvals
from tests.workflows.layers import IN_WORDS, in_force
from tests.workflows.scene import Scene, now, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"staff_approval_ttl_s": 6}


async def _proposals(scene: Scene, n: int) -> Any:
    found = await scene.log(EventKind.PROPOSAL)
    return found if len(found) == n else None


async def test_an_approval_after_a_policy_change_is_refused_and_asked_for_anew_at_once(
    scene: Scene,
) -> None:
    operation_id = await scene.ask_refund()
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        with pytest.raises(ApprovalStale) as refused:
            await scene.decide(operation_id)
        assert refused.value.reason is StaleReason.POLICY_CHANGED
        await scene.stage.deliver(*refused.value.wakes)
        first, anew = await until(lambda: _proposals(scene, 2), "the proposal to be shown again")
        assert first.body["payload_digest"] == anew.body["payload_digest"]
        await scene.decide(operation_id)
        await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1


async def test_what_nobody_decides_is_reminded_of_then_escalated_then_rejected(scene: Scene) -> None:
    operation_id = await scene.ask_refund(3)
    await until(lambda: _is(scene, operation_id, "reminded_at"), "the reminder")
    assert (await scene.action(operation_id)).escalated_at is None
    await until(lambda: _is(scene, operation_id, "escalated_at"), "the escalation")
    waiting = await pending_approvals(scene.stage.db, scene.staff("mia"), now())
    assert [i.escalated for i in waiting if i.operation_id == operation_id] == [True]
    await scene.comes_to(operation_id, ActionState.REJECTED)
    assert (await scene.causes(operation_id))[-1] == Cause.EXPIRED
    told = await scene.log(EventKind.NOTICE, EventKind.BOT_REPLY)
    assert told == []  # the customer hears nothing of reminders
    assert scene.effects(operation_id) == []


async def _is(scene: Scene, operation_id: str, column: str) -> bool:
    return getattr(await scene.action(operation_id), column) is not None


async def test_a_yes_in_words_confirms_where_the_bundle_lets_it(scene: Scene) -> None:
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        operation_id = await scene.ask_refund()
        await scene.say("Yes, please.")
        await scene.comes_to(operation_id, ActionState.CONFIRMED)
    (approval,) = await scene.log(EventKind.APPROVAL)
    assert (approval.actor, approval.body["answers_through"]) == (scene.customer.key, 3)
    assert await scene.log(EventKind.BOT_REPLY) == []
    assert len(scene.effects(operation_id)) == 1
    await scene.at_rest()


@pytest.mark.parametrize("text", ["Yes, but the other order?", "Sounds good.", "yes please A-1"])
async def test_any_other_yes_is_answered_with_the_button(text: str, scene: Scene) -> None:
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        operation_id = await scene.ask_refund()
        await scene.say(text)
        await scene.answered(2)
        assert await scene.log(EventKind.APPROVAL) == []
    assert scene.effects(operation_id) == []


async def test_under_the_base_a_yes_in_words_is_no_consent(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await scene.say("Yes, I confirm.")
    await scene.answered(2)
    assert await scene.log(EventKind.APPROVAL) == []
    assert (await scene.action(operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_a_stop_that_overtakes_the_yes_is_heard(scene: Scene) -> None:
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        operation_id = await scene.ask_refund()
        gate = scene.stage.gates.before(Errand.CONFIRM_IN_WORDS, scene.id)
        await scene.say("Yes, I confirm.")
        await gate.until_reached()
        await scene.say("No, stop, I don't want the refund")
        gate.open()
        await scene.comes_to(operation_id, ActionState.REJECTED)
    assert await scene.log(EventKind.APPROVAL) == []
    assert scene.effects(operation_id) == []


async def test_a_takeover_that_overtakes_the_yes_ends_it(scene: Scene) -> None:
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        operation_id = await scene.ask_refund()
        gate = scene.stage.gates.before(Errand.CONFIRM_IN_WORDS, scene.id)
        await scene.say("Yes, I confirm.")
        await gate.until_reached()
        await scene.take_over()
        gate.open()
        await scene.comes_to(operation_id, ActionState.REJECTED)
    assert (await scene.causes(operation_id))[-1] == Cause.WITHDRAWN
    assert await scene.log(EventKind.APPROVAL) == []
