"""The law of recovery: with Temporal's store gone, everything open goes on from Postgres."""

from typing import NamedTuple

from domain.action import ActionState
from domain.conversation import Owner
from domain.errand import Errand
from relay.recover import recover
from stack import ports
from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres
from tests.workflows import servers
from tests.workflows.scene import Scene
from tests.workflows.stage import Stage, furnished, playing, settings_of


class Open(NamedTuple):
    """Open work of every kind, and the operation that it is about."""

    unanswered: Scene
    handed_off: Scene
    awaiting: tuple[Scene, str]
    reserved: tuple[Scene, str]
    unknown: tuple[Scene, str]

    def move_to(self, stage: Stage) -> None:
        for scene in (self.unanswered, self.handed_off, *(s for s, _ in (self.awaiting, self.reserved, self.unknown))):
            scene.stage = stage


async def test_with_temporal_emptied_everything_open_goes_on(database: Postgres, shop_process: ShopProcess) -> None:
    port = ports.resolve({"--port": 0})["--port"]
    address, url = f"127.0.0.1:{port}", str(shop_process.http.base_url)
    settings = settings_of(database, address, url, reservation_claim_ttl_s=60)
    async with servers.temporal_at(port), playing(settings, shop_process) as before:
        work = await open_work(before)
    async with servers.temporal_at(port), furnished(settings, shop_process) as after, after.worker():
        work.move_to(after)
        await work.unanswered.say("Hello again", deliver=False)
        done = await recover(after.relay_db, after.waker, lambda n: None)
        assert done.failed == 0
        await goes_on(work)


async def open_work(stage: Stage) -> Open:
    unanswered, handed_off, *acting = [await Scene(stage).begin() for _ in range(5)]
    await unanswered.say("Hello")
    await unanswered.answered()
    await handed_off.say("I want to talk to a human please")
    await handed_off.owned_by(Owner.HUMAN)
    awaiting, reserved, unknown = [(scene, await scene.ask_refund()) for scene in acting]
    gates = [
        stage.gates.before(Errand.DISPATCH_ACTION, reserved[1]),
        stage.gates.before(Errand.LOOK_UP_ACTION, unknown[1]),
    ]
    stage.shop.arm("drop_response_after_commit")
    for (scene, operation_id), gate in zip((unknown, reserved), reversed(gates), strict=True):
        await scene.decide(operation_id)
        await gate.until_reached()
    return Open(unanswered, handed_off, awaiting, reserved, unknown)


async def goes_on(work: Open) -> None:
    await work.unanswered.answered(2)
    assert (await work.handed_off.view()).owner is Owner.HUMAN
    await work.awaiting[0].decide(work.awaiting[1])
    for scene, operation_id in (work.awaiting, work.reserved, work.unknown):
        await scene.comes_to(operation_id, ActionState.CONFIRMED)
        assert len(scene.effects(operation_id)) == 1
