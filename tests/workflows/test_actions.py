"""Laws of an action from proposal to reservation: consent, correction, one in flight on a resource, the kill switch."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from domain.action import ActionState, ApprovalDecision, Cause
from domain.conversation import EventKind
from domain.errand import Errand
from domain.words import NoticeKind
from policy.bundle import Bundle
from tests.conftest import put_in_force
from tests.postgres import Postgres
from tests.workflows.scene import Scene, until
from tests.workflows.shop_world import SAAS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_confirmed_proposal_has_one_effect(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    first, again = await scene.decide(operation_id), await scene.decide(operation_id)
    assert first.decision is again.decision is ApprovalDecision.APPROVE
    action = await scene.comes_to(operation_id, ActionState.CONFIRMED)
    (effect,) = scene.effects(operation_id)
    assert (effect["amount_minor"], action.external_id) == (2_000, effect["id"])
    causes = ["proposed", "approval_needed", "reserved", "succeeded"]
    assert await scene.causes(operation_id) == causes
    assert await scene.action_handle(operation_id).result() == "confirmed"


async def test_a_large_refund_waits_for_a_manager_too(scene: Scene) -> None:
    operation_id = await scene.ask_refund(3)
    await scene.decide(operation_id)
    state = await until(lambda: _missing(scene, operation_id, ("manager",)), "only the manager to be missing")
    assert state["state"] == "awaiting_approval"
    await scene.decide(operation_id, who="mia")
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(operation_id)) == 1


async def _missing(scene: Scene, operation_id: str, roles: tuple[str, ...]) -> Any:
    state = await scene.action_handle(operation_id).query("state")
    return state if tuple(state["missing"]) == roles else None


async def test_a_rejected_proposal_has_no_effect(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await scene.decide(operation_id, ApprovalDecision.REJECT)
    assert await scene.action_handle(operation_id).result() == "rejected"
    assert (await scene.causes(operation_id))[-1] == Cause.DECLINED
    assert scene.effects(operation_id) == []


async def test_a_subscription_is_cancelled_once_it_is_confirmed(scene: Scene) -> None:
    other = await Scene(scene.stage, tenant=SAAS).begin()
    await other.say(f"Please cancel my subscription {other.person.subscription()}")
    (action,) = await until(other.actions, "a proposal")
    await other.decide(action.operation_id)
    await other.comes_to(action.operation_id, ActionState.CONFIRMED)
    assert len(other.effects(action.operation_id)) == 1


async def test_a_correction_supersedes_what_was_not_executed(scene: Scene) -> None:
    wrong = await scene.ask_refund(1)
    await scene.say(f"Sorry, not that one, I meant order {scene.person.order(2)}")
    right = (await until(lambda: _two(scene), "the corrected proposal"))[1].operation_id
    assert await scene.action_handle(wrong).result() == "rejected"
    assert (await scene.causes(wrong))[-1] == Cause.SUPERSEDED
    await scene.decide(right)
    await scene.comes_to(right, ActionState.CONFIRMED)
    assert scene.effects(wrong) == []
    assert [e["amount_minor"] for e in scene.effects(right)] == [3_000]


async def _two(scene: Scene) -> Any:
    found = await scene.actions()
    return found if len(found) == 2 else None


async def test_a_correction_of_what_was_sent_waits_for_its_outcome_and_says_so_once(scene: Scene) -> None:
    sent = await scene.ask_refund(1)
    scene.stage.shop.arm("delay_ms:1500")
    await scene.decide(sent)
    await until(lambda: _sent(scene, sent), "the claim")
    await scene.say(f"Sorry, not that one, I meant order {scene.person.order(2)}")
    await until(lambda: _two(scene), "the corrected proposal")
    assert (await scene.action(sent)).state is ActionState.CONFIRMED
    notices = [e.body["notice"] for e in await scene.log(EventKind.NOTICE)]
    assert notices == [NoticeKind.WAITING_FOR_OUTCOME]
    assert len(scene.effects(sent)) == 1


async def _sent(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count > 0


async def test_a_withdrawn_proposal_is_rejected_and_told(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    await scene.say("No, I don't want the refund anymore")
    await scene.answered(2)
    assert (await scene.causes(operation_id))[-1] == Cause.DECLINED
    assert await scene.action_handle(operation_id).result() == "rejected"


async def test_two_conversations_on_one_subscription_are_never_both_in_flight(scene: Scene) -> None:
    one = await Scene(scene.stage, tenant=SAAS).begin()
    twin = await Scene(scene.stage, tenant=SAAS, person=one.person).begin()
    first, second = await _ask_to_cancel(one), await _ask_to_cancel(twin)
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, first)
    await one.decide(first)
    await gate.until_reached()
    await twin.decide(second)
    await until(lambda: _was(twin, second, "busy"), "the second to find the subscription taken")
    assert (await twin.action(second)).state is ActionState.AWAITING_APPROVAL
    gate.open()
    await one.comes_to(first, ActionState.CONFIRMED)
    await twin.comes_to(second, ActionState.REJECTED)
    assert (await twin.causes(second))[-1] == Cause.DENIED
    assert len(one.effects(first)) == 1
    assert twin.effects(second) == []


async def _ask_to_cancel(scene: Scene) -> str:
    await scene.say(f"Please cancel my subscription {scene.person.subscription()}")
    (action,) = await until(scene.actions, "a proposal")
    await until(lambda: scene.runs(action.operation_id), "its workflow to run")
    return str(action.operation_id)


async def test_a_second_refund_of_an_order_is_denied_once_somebody_has_agreed_to_the_first(scene: Scene) -> None:
    twin = await Scene(scene.stage, person=scene.person).begin()
    first = await scene.ask_refund(3)
    await scene.decide(first)  # a manager has to agree too
    await twin.say(f"I want a refund for order {twin.person.order(3)}, please")
    (second,) = await until(twin.actions, "the second to be judged")
    assert (await twin.causes(second.operation_id))[-1] == Cause.DENIED
    await scene.decide(first, who="mia")
    await scene.comes_to(first, ActionState.CONFIRMED)
    assert twin.effects(second.operation_id) == []


async def test_asking_again_in_another_chat_is_answered_and_still_refunds_once(scene: Scene) -> None:
    twin = await Scene(scene.stage, person=scene.person).begin()
    first, second = await scene.ask_refund(), await twin.ask_refund()
    await twin.decide(second)
    await twin.comes_to(second, ActionState.CONFIRMED)
    await scene.decide(first)
    await scene.comes_to(first, ActionState.REJECTED)
    assert (len(twin.effects(second)), scene.effects(first)) == (1, [])


async def _was(scene: Scene, operation_id: str, detail: str) -> bool:
    timeline = await scene.action_handle(operation_id).query("timeline")
    return any(entry["detail"] == detail for entry in timeline)


async def test_nothing_is_reserved_while_a_message_is_not_considered(scene: Scene) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.CONSIDER_TURN, scene.id)
    await scene.say("No, stop, I don't want the refund")
    await gate.until_reached()
    await scene.decide(operation_id)
    await until(lambda: _was(scene, operation_id, "unconsidered"), "the reservation to wait")
    gate.open()
    await scene.comes_to(operation_id, ActionState.REJECTED)
    assert scene.effects(operation_id) == []


@contextmanager
def tenant_with(database: Postgres, scene: Scene, column: str, value: object) -> Iterator[None]:
    """Change one column of the scene's tenant, and put it back."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        (before,) = owner.execute(f"SELECT {column} FROM tenants WHERE id = %s", (scene.tenant,)).fetchone() or (None,)
        owner.execute(f"UPDATE tenants SET {column} = %s WHERE id = %s", (value, scene.tenant))
        try:
            yield
        finally:
            owner.execute(f"UPDATE tenants SET {column} = %s WHERE id = %s", (before, scene.tenant))


@contextmanager
def policy_changed(database: Postgres, scene: Scene, digest: str) -> Iterator[None]:
    """Publish another bundle to the scene's tenant, and what was in force before afterwards."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        found = owner.execute("SELECT policy_in_force(%s, now())", (scene.tenant,)).fetchone()
        assert found is not None
        put_in_force(owner, scene.tenant, digest)
        try:
            yield
        finally:
            put_in_force(owner, scene.tenant, found[0])


async def test_the_kill_switch_stops_a_confirmed_action(scene: Scene, database: Postgres) -> None:
    operation_id = await scene.ask_refund()
    with tenant_with(database, scene, "dispatch_halted", True):
        await scene.decide(operation_id)
        await scene.comes_to(operation_id, ActionState.REJECTED)
    assert (await scene.causes(operation_id))[-1] == Cause.DENIED
    assert scene.effects(operation_id) == []


async def test_the_kill_switch_stops_a_reserved_action(scene: Scene, database: Postgres) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    with tenant_with(database, scene, "dispatch_halted", True):
        gate.open()
        await scene.comes_to(operation_id, ActionState.REJECTED)
    assert (await scene.causes(operation_id))[-1] == Cause.NEVER_SENT
    assert scene.effects(operation_id) == []


async def test_a_policy_that_changed_after_the_approval_is_asked_about_again(scene: Scene, database: Postgres) -> None:
    operation_id = await scene.ask_refund()
    gate = scene.stage.gates.before(Errand.RESERVE_ACTION, operation_id)
    await scene.decide(operation_id)
    await gate.until_reached()
    with policy_changed(database, scene, _another_bundle(database)):
        gate.open()
        await until(lambda: _was(scene, operation_id, "ask_again"), "the reservation to ask again")
        await until(lambda: _missing(scene, operation_id, ("customer",)), "the customer to be asked again")
        assert scene.effects(operation_id) == []
        await scene.decide(operation_id)
        await scene.comes_to(operation_id, ActionState.CONFIRMED)
    assert len(await scene.log(EventKind.PROPOSAL)) == 2
    assert len(scene.effects(operation_id)) == 1


def _another_bundle(database: Postgres) -> str:
    """The same rules under another digest."""
    base = Bundle.load()
    bundle = Bundle.parse({**base.files, "general.cedar": base.files["general.cedar"] + "\n// Reviewed.\n"})
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files)"
            " VALUES (%s, 'base', '2', '{}', %s) ON CONFLICT DO NOTHING",
            (bundle.digest, Jsonb(dict(bundle.files))),
        )
    return bundle.digest
