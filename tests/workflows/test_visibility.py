"""Laws of what staff see in Temporal's UI: attributes, card and queries tell the truth, and nothing personal (12)."""

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionDescription

from domain.action import ActionState
from domain.conversation import Owner
from domain.errand import Errand
from replaying.chains import fetch
from tests.workflows.histories import assert_no_personal_text, texts
from tests.workflows.scene import Scene, until
from tests.workflows.shop_world import NAME
from workflows import card

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def card_of(scene: Scene, operation_id: str | None = None) -> str:
    handle = scene.action_handle(operation_id) if operation_id else scene.handle
    told: WorkflowMetadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return str(told.current_details)


async def shown(scene: Scene) -> dict[str, object]:
    described: WorkflowExecutionDescription = await scene.handle.describe()
    return {pair.key.name.removeprefix("Interlock"): pair.value for pair in described.typed_search_attributes}


async def shows(scene: Scene, **expected: object) -> None:
    """Wait until the attributes say this; they follow the log within a moment."""

    async def done() -> bool:
        found = await shown(scene)
        return all(found.get(name) == value for name, value in expected.items())

    await until(done, f"the attributes to say {expected}")


async def test_attributes_card_and_queries_follow_an_action_to_its_end(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await shows(
        scene,
        Tenant=scene.tenant,
        Phase="awaiting_confirmation",
        Owner="bot",
        OwnerEpoch=1,
        Intent="refund_request",
        HandoffReason="none",
        OpenActions=1,
        UnknownActions=0,
    )
    told = await card_of(scene)
    assert "the customer's confirmation" in told
    assert f"refund `{operation_id}`: **awaiting_approval**" in told
    (listed,) = await scene.handle.query("actions")
    assert (listed["operation_id"], listed["state"]) == (operation_id, "awaiting_approval")
    gate = scene.stage.gates.before(Errand.LOOK_UP_ACTION, operation_id)
    scene.stage.shop.arm("drop_response_after_commit")
    await scene.decide(operation_id)
    await gate.until_reached()
    await shows(scene, Phase="reconciling", OpenActions=1, UnknownActions=1)
    assert "**unknown** (response_lost)" in await card_of(scene, operation_id)
    gate.open()
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    await shows(scene, Phase="idle", OpenActions=0, UnknownActions=0)
    steps = [entry["what"] for entry in await scene.handle.query("timeline")]
    assert "propose" in steps


async def test_attributes_and_card_follow_the_owner(scene: Scene) -> None:
    await scene.say("I want to talk to a human please")
    await scene.owned_by(Owner.HUMAN)
    await shows(scene, Phase="human_owned", Owner="human", OwnerEpoch=2, HandoffReason="handoff_requested")
    await scene.take_over()
    await shows(scene, OwnerEpoch=3)
    assert "the person who has it" in await card_of(scene)
    await scene.release()
    await shows(scene, Phase="idle", Owner="bot", OwnerEpoch=4, HandoffReason="none")
    state = await scene.handle.query("state")
    assert (state["owner"], state["owner_epoch"]) == ("bot", 4)


async def test_a_workflow_says_in_one_line_what_it_is(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    summaries = [
        await (await handle.describe()).static_summary() for handle in (scene.handle, scene.action_handle(operation_id))
    ]
    assert summaries == [f"conversation {scene.id} of {scene.tenant}", f"refund {operation_id}"]


async def test_conversations_are_found_by_what_they_wait_for(scene: Scene) -> None:
    await scene.ask_refund()
    await shows(scene, Phase="awaiting_confirmation")
    query = f"{card.PHASE.name} = 'awaiting_confirmation' AND {card.OPEN_ACTIONS.name} = 1"

    async def listed() -> bool:
        return scene.handle.id in [w.id async for w in scene.stage.client.list_workflows(query)]

    await until(listed, "the conversation to be listed")


async def test_the_search_for_personal_text_finds_what_is_planted_in_a_payload(scene: Scene) -> None:
    await scene.ask_status()
    await scene.answered()
    run = (await fetch(scene.stage.client, scene.id)).runs[0]
    whole = "\n".join(texts(run.to_json_dict()))
    assert scene.id in whole
    assert "order_status" in whole
    planted = run.to_json_dict()
    planted["events"][0]["workflowExecutionStartedEventAttributes"]["input"]["payloads"][0]["data"] = "WmVidWxvbg=="
    with pytest.raises(AssertionError):
        assert_no_personal_text([type(run).from_json(run.workflow_id, planted)], [])
    assert NAME not in whole
