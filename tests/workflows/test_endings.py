"""Laws of ending: an idle conversation closes itself, never over something open, and no message is lost to it."""

import asyncio

import pytest
from temporalio.client import WorkflowExecutionStatus

from domain.conversation import EventKind, Owner
from domain.errand import Errand
from replaying.chains import fetch
from tests.workflows.scene import Scene, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
IDLE_S = 1.0
SETTINGS = {"conversation_idle_close_s": IDLE_S}


async def test_an_idle_conversation_closes_once_and_a_new_message_reopens_it_under_the_same_id(scene: Scene) -> None:
    await scene.ask_status()
    await scene.answered()
    first_run = (await scene.handle.describe()).run_id
    await asyncio.wait_for(scene.handle.result(), 8)
    closed = (await scene.log(EventKind.OWNER_CHANGED))[-1]
    assert (await scene.view()).owner is Owner.CLOSED
    silence = closed.at - (await scene.answers())[-1].at
    assert silence.total_seconds() >= IDLE_S
    took = await scene.ask_status()
    replies = await scene.answered(2)
    assert replies[-1].body["answers_through"] == took.seq
    assert (await scene.handle.describe()).run_id != first_run
    assert len((await fetch(scene.stage.client, scene.id)).runs) == 2


async def test_a_message_before_the_close_commits_keeps_it_open(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.CLOSE_IDLE, scene.id)
    await scene.say("Hello")
    await gate.until_reached()
    await scene.ask_status()
    gate.open()
    await scene.answered(2)
    owners = [e.body["owner"] for e in await scene.log(EventKind.OWNER_CHANGED)]
    assert owners in ([], ["closed"])  # the latter only once it has been idle again


async def test_a_message_after_the_close_committed_and_before_the_workflow_ended_is_answered(scene: Scene) -> None:
    gate = scene.stage.gates.after(Errand.CLOSE_IDLE, scene.id)
    await scene.say("Hello")
    await gate.until_reached()
    assert (await scene.view()).owner is Owner.CLOSED
    await scene.ask_status()
    gate.open()
    replies = await scene.answered(2)
    assert scene.person.order(4) in replies[-1].body["text"]
    owners = [e.body["owner"] for e in await scene.log(EventKind.OWNER_CHANGED)]
    assert owners[:2] == ["closed", "bot"]


async def test_open_actions_and_handoffs_keep_a_conversation_open(scene: Scene) -> None:
    other = await Scene(scene.stage).begin()
    await scene.ask_refund()
    await other.say("I want to talk to a human please")
    await other.owned_by(Owner.HUMAN)
    await asyncio.sleep(2.5 * IDLE_S)
    for open_one in (scene, other):
        assert (await open_one.view()).owner is not Owner.CLOSED
        assert (await open_one.handle.describe()).status is WorkflowExecutionStatus.RUNNING


async def test_a_conversation_closes_when_its_last_action_has_ended(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await asyncio.sleep(1.5 * IDLE_S)
    await scene.decide(operation_id)
    await scene.owned_by(Owner.CLOSED)
    await until(lambda: _ended(scene), "the workflow to end")


async def _ended(scene: Scene) -> bool:
    return (await scene.handle.describe()).status is WorkflowExecutionStatus.COMPLETED
