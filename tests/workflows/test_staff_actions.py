"""Laws of actions that people ask for: a workflow sees them through, under the holder's fence and the base rules."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from domain.action import ActionKind, ActionState, Cause
from domain.catalogue.wish import Wish
from domain.conversation import EventKind, Owner
from domain.errand import Errand
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, PolicyForbids
from policy.bundle import Bundle
from store.switches import turn
from tests.conftest import put_in_force
from tests.postgres import Postgres
from tests.publishing.books import BOOK
from tests.workflows.scene import LARGE, Scene, act, until
from tests.workflows.shop_world import SAAS

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRUSTED = """
@id("cancellation-by-staff-needs-nobody")
permit (principal, action == Action::"cancel_subscription", resource)
when { context.actor.kind == "staff" };
"""


async def taken(scene: Scene, who: str = "ann") -> Scene:
    await scene.say("Hello?", deliver=False)
    await scene.take_over(who)
    return scene


@contextmanager
def under(database: Postgres, tenant_id: str, bundle: Bundle) -> Iterator[None]:
    """A tenant under another base, and under the one that comes with the product again afterwards."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files)"
            " VALUES (%s, 'base', '9', '{}', %s) ON CONFLICT DO NOTHING",
            (bundle.digest, Jsonb(dict(bundle.files))),
        )
        before = in_force(owner, tenant_id)
        put_in_force(owner, tenant_id, bundle.digest)
        try:
            yield
        finally:
            put_in_force(owner, tenant_id, before)


def in_force(owner: psycopg.Connection, tenant_id: str) -> str:
    row = owner.execute("SELECT policy_in_force(%s, now())", (tenant_id,)).fetchone()
    return str(row[0]) if row else ""


@contextmanager
def somebody_new(database: Postgres, scene: Scene) -> Iterator[tuple[VerifiedPrincipal, psycopg.Connection]]:
    """An agent of this test alone, and the owner's connection, to take their role away."""
    ident = f"s-{uuid4().hex[:8]}"
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO staff (tenant_id, id, name, role) VALUES (%s, %s, 'x', 'agent')", (scene.tenant, ident)
        )
        yield (
            VerifiedPrincipal(tenant_id=scene.tenant, kind=PrincipalKind.STAFF, id=ident, role=StaffRole.AGENT),
            owner,
        )


def revoke(owner: psycopg.Connection, who: VerifiedPrincipal) -> None:
    owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", (who.tenant_id, who.id))


async def test_what_a_person_asks_for_is_carried_out_once_the_customer_confirms_while_the_bot_is_silent(
    scene: Scene,
) -> None:
    made = await act(await taken(scene))
    assert made.required_approvals == ("customer",)
    await scene.decide(made.operation_id)
    action = await scene.comes_to(made.operation_id, ActionState.CONFIRMED)
    (effect,) = scene.effects(made.operation_id)
    assert (effect["amount_minor"], action.requested_by) == (3_000, "staff:ann")
    assert await scene.causes(made.operation_id) == ["proposed", "approval_needed", "reserved", "succeeded"]
    assert await scene.action_handle(made.operation_id).result() == "confirmed"
    await scene.at_rest()
    assert await scene.log(EventKind.BOT_REPLY) == []
    assert [e.actor for e in await scene.log(EventKind.PROPOSAL)] == ["staff:ann"]
    assert (await scene.view()).owner is Owner.HUMAN


async def test_a_proposal_whose_wake_up_was_lost_is_started_by_the_relay(scene: Scene) -> None:
    made = await act(await taken(scene), deliver=False)
    await scene.decide(made.operation_id)
    await scene.comes_to(made.operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(made.operation_id)) == 1


async def test_a_managers_large_refund_waits_for_somebody_else(scene: Scene) -> None:
    made = await act(await taken(scene, "mia"), scene.staff("mia"), LARGE)
    assert made.required_approvals == ("customer", "manager")
    await scene.decide(made.operation_id)
    with pytest.raises(ApprovalNotAllowed):
        await scene.decide(made.operation_id, who="mia")
    assert (await scene.action(made.operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_what_the_rules_forbid_is_denied_also_to_a_person(scene: Scene) -> None:
    await taken(scene)
    order = f"order:{scene.person.order(4)}"  # on its way: it cannot be refunded
    with pytest.raises(PolicyForbids) as refused:
        await act(scene, what=Wish(kind=ActionKind.REFUND, resource=order, amount_minor=4_000, currency="EUR"))
    denied = await scene.action(str(refused.value.fields["operation_id"]))
    assert (denied.state, denied.cause) == (ActionState.REJECTED, Cause.DENIED)
    rules = str(refused.value.fields["rules"])
    assert "refund-before-delivery" in rules
    assert "tracking-too-old" in rules
    await until(lambda: _refreshed(scene), "its parcel to be asked about, for the next attempt")


async def _refreshed(scene: Scene) -> bool:
    orders = [o for t in scene.stage.shop.http.get("/_world").json()["tenants"] for c in t["customers"]
              for o in c["orders"]]  # fmt: skip
    return any(o["id"] == scene.person.order(4) and o["shipment"].get("observed_at") for o in orders)


async def test_what_was_approved_on_a_parcel_long_unheard_of_is_sent_once_the_carrier_was_asked(
    scene: Scene, database: Postgres
) -> None:
    """Under rules that do not mind where a parcel is: what decides is fresh all the same, and shown where it is new."""
    with under(database, scene.tenant, BOOK):
        made = await act(await taken(scene), what=(4, 4_000))
        await scene.decide(made.operation_id)
        await until(lambda: _refreshed(scene), "the carrier to be asked")
        await until(lambda: _was(scene, made.operation_id, "ask_again"), "the parcel's news to be shown")
        await scene.decide(made.operation_id)
        await until(lambda: _was(scene, made.operation_id, "reserved"), "the reservation")


async def test_what_waits_while_the_bundle_in_force_does_not_open_goes_on_when_one_does(
    scene: Scene, database: Postgres
) -> None:
    made = await act(await taken(scene))
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files)"
            " VALUES ('broken', 'base', '9', '{}', '{}') ON CONFLICT DO NOTHING"
        )
        gate = scene.stage.gates.before(Errand.RESERVE_ACTION, made.operation_id)
        await scene.decide(made.operation_id)
        await gate.until_reached()
        before = in_force(owner, scene.tenant)
        put_in_force(owner, scene.tenant, "broken")
        try:
            gate.open()
            await until(lambda: _was(scene, made.operation_id, "unjudged"), "the reservation to be put off")
        finally:
            put_in_force(owner, scene.tenant, before)
    await until(lambda: _was(scene, made.operation_id, "reserved"), "the reservation")


@pytest.mark.parametrize("way_out", ["release", "takeover"])
async def test_a_holder_on_their_way_out_takes_what_is_reserved_with_them(way_out: str, scene: Scene) -> None:
    made = await act(await taken(scene))
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, made.operation_id)
    await scene.decide(made.operation_id)
    await gate.until_reached()
    change = await (scene.release() if way_out == "release" else scene.take_over("ben"))
    gate.open()
    assert change.in_flight == ()
    assert await scene.action_handle(made.operation_id).result() == "rejected"
    assert (await scene.causes(made.operation_id))[-1] == Cause.WITHDRAWN
    assert scene.effects(made.operation_id) == []


async def test_a_release_during_a_write_still_establishes_and_tells_the_outcome(scene: Scene) -> None:
    made = await act(await taken(scene))
    scene.stage.shop.arm("delay_ms:1200")
    await scene.decide(made.operation_id)
    await until(lambda: _sent(scene, made.operation_id), "the claim")
    assert (await scene.release()).in_flight == (made.operation_id,)
    await scene.comes_to(made.operation_id, ActionState.CONFIRMED)
    assert len(scene.effects(made.operation_id)) == 1
    told = [e.body["state"] for e in await scene.log(EventKind.ACTION_STATE)]
    assert told == ["submitted", "confirmed"]


async def _sent(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count == 1


async def test_a_message_to_the_holder_holds_it_until_they_have_answered(scene: Scene) -> None:
    made = await act(await taken(scene))
    await scene.say("Wait, please!")
    await scene.decide(made.operation_id)
    await until(lambda: _was(scene, made.operation_id, "unconsidered"), "the reservation to wait")
    assert scene.effects(made.operation_id) == []
    await scene.reply("Of course. Shall I go on?")
    await scene.comes_to(made.operation_id, ActionState.CONFIRMED)


async def _was(scene: Scene, operation_id: str, detail: str) -> bool:
    timeline = await scene.action_handle(operation_id).query("timeline")
    return any(entry["detail"] == detail for entry in timeline)


async def test_what_somebody_asked_for_whose_role_is_taken_away_is_denied_by_the_base_rules(
    scene: Scene, database: Postgres
) -> None:
    with somebody_new(database, scene) as (who, owner):
        await taken(scene, "ann")
        await scene.take_over(who.id)
        made = await act(scene, who)
        gate = scene.stage.gates.before(Errand.RESERVE_ACTION, made.operation_id)
        await scene.decide(made.operation_id)
        await gate.until_reached()
        revoke(owner, who)
        gate.open()
        await scene.comes_to(made.operation_id, ActionState.REJECTED)
    assert (await scene.causes(made.operation_id))[-1] == Cause.DENIED
    verdicts = [e.body for e in await scene.log(EventKind.VERDICT) if e.body["kind"] == "forbid"]
    assert "role-may-not-ask-for-this" in str(verdicts)
    assert scene.effects(made.operation_id) == []


async def test_what_is_permitted_at_once_is_carried_out_at_once(scene: Scene, database: Postgres) -> None:
    other = await taken(await Scene(scene.stage, tenant=SAAS).begin())
    trusting = Bundle.parse({**BOOK.files, "zz.cedar": TRUSTED})
    with under(database, SAAS, trusting):
        wish = Wish(kind=ActionKind.CANCEL_SUBSCRIPTION, resource=f"subscription:{other.person.subscription()}")
        made = await act(other, what=wish)
        assert made.required_approvals == ()
        await other.comes_to(made.operation_id, ActionState.CONFIRMED)
    assert len(other.effects(made.operation_id)) == 1


async def test_a_switch_for_its_kind_stops_it_within_a_second(scene: Scene) -> None:
    made = await act(await taken(scene))
    gate = scene.stage.gates.before(Errand.DISPATCH_ACTION, made.operation_id)
    await scene.decide(made.operation_id)
    await gate.until_reached()
    began = time.monotonic()
    switch = {"by": "staff:mia", "why": "a drill"}
    await turn(scene.stage.db, scene.tenant, ActionKind.REFUND, stopped=True, **switch)
    try:
        assert time.monotonic() - began < 1
        gate.open()
        await scene.comes_to(made.operation_id, ActionState.REJECTED)
        assert (await scene.causes(made.operation_id))[-1] == Cause.NEVER_SENT
        with pytest.raises(PolicyForbids) as refused:
            await act(scene)
        assert "stopped-by-a-switch" in str(refused.value.fields["rules"])
    finally:
        await turn(scene.stage.db, scene.tenant, ActionKind.REFUND, stopped=False, **switch)
    assert scene.effects(made.operation_id) == []
