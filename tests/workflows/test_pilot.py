"""The two failures of the marketplace's pilot, which are impossible here: the wrong order, and the stale event."""

import pytest

from domain.action import Action, ActionState, ApprovalDecision
from domain.conversation import EventKind, Owner
from domain.refusal import ApprovalStale
from store.approvals import decide
from tests.workflows.scene import STAFF_TTL_S, Scene, now, until
from workflows.messages import refresh_workflow_id

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_wrong_order_of_the_same_customer_is_not_refunded(scene: Scene) -> None:
    """Both orders are the customer's own and delivered: only the approval tells them apart, and it is bound to one."""
    first = await scene.ask_refund(1)
    shown = (await scene.action(first)).payload_digest
    await scene.say(f"No, not that one: I mean order {scene.person.order(2)}")
    await scene.comes_to(first, ActionState.REJECTED)
    second = (await until(lambda: _two_actions(scene), "the other proposal"))[-1].operation_id
    for operation_id, digest in ((first, shown), (second, shown), (second, "0" * 64)):
        with pytest.raises(ApprovalStale):
            await decide_with(scene, operation_id, digest)
    assert scene.effects(first) == scene.effects(second) == []
    await scene.decide(second)
    await scene.comes_to(second, ActionState.CONFIRMED)
    (effect,) = scene.effects(second)
    assert (effect["resource"], effect["amount_minor"]) == (scene.person.order(2), 3_000)
    assert scene.effects(first) == []
    await scene.say(f"And a refund for order {scene.person.order(2)} please")
    await scene.at_rest()
    assert len(await scene.actions()) == 2  # nothing is left to give back, so nothing is proposed a second time


async def test_a_stale_shipping_event_does_not_decide_or_get_told_as_current(scene: Scene) -> None:
    """The parcel was last seen weeks ago, out for delivery; nobody has asked the carrier since."""
    order = scene.person.order(4)
    await scene.say(f"Order {order} never arrived, I want my money back")
    await scene.owned_by(Owner.HUMAN)
    (refused,) = await scene.actions()
    assert (refused.state, refused.cause.value) == (ActionState.REJECTED, "denied")
    assert scene.effects(refused.operation_id) == []
    (verdict,) = await scene.log(EventKind.VERDICT)
    assert {"refund-before-delivery", "tracking-too-old"} <= set(verdict.body["rule_ids"])
    another = await Scene(scene.stage).begin()
    await another.ask_status(4)
    (reply,) = await another.answered()
    told, _, then = str(reply.body["text"]).partition("The last scan is from 2 January")
    assert f"Your order {another.person.order(4)} has the status: shipped" in told
    assert "out for delivery" not in told
    assert "may be different by now" in then


async def test_a_stale_parcel_is_asked_about_in_the_background_and_then_told_as_it_is(scene: Scene) -> None:
    await scene.ask_status(4)
    await scene.answered()
    refreshing = scene.stage.client.get_workflow_handle(refresh_workflow_id(scene.tenant, scene.person.order(4)))
    await until(lambda: _asked(scene), "the carrier to be asked")
    assert (await refreshing.describe()).status is not None
    await scene.ask_status(4)
    told = str((await scene.answered(2))[-1].body["text"])
    assert "may be different by now" not in told


async def _two_actions(scene: Scene) -> list[Action] | None:
    found = await scene.actions()
    return found if len(found) == 2 else None


async def _asked(scene: Scene) -> bool:
    world = scene.stage.shop.http.get("/_world").json()
    orders = [o for t in world["tenants"] for c in t["customers"] for o in c["orders"]]
    order = next(o for o in orders if o["id"] == scene.person.order(4))
    return bool(order["shipment"].get("observed_at"))


async def decide_with(scene: Scene, operation_id: str, digest: str) -> None:
    approve = ApprovalDecision.APPROVE
    await decide(
        scene.stage.db, scene.customer, operation_id, digest, approve, None, STAFF_TTL_S, scene.stage.words, now()
    )
