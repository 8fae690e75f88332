"""Laws of outages: a worker killed at any moment and a Postgres that stops lose nothing and do nothing twice."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.action import ActionState
from domain.errand import Errand
from settings import Settings
from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres
from tests.workflows.histories import check
from tests.workflows.own_postgres import own_postgres
from tests.workflows.scene import Scene, until
from tests.workflows.stage import Stage, furnished, playing, settings_of

ROOT = Path(__file__).parents[2]
SEED, KILLS = 20261130, 2
PROGRAM = "import settings, worker; worker.run(settings.load())"


@contextmanager
def worker_process(settings: Settings, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the worker as a process of its own, killed without warning in the end."""
    told = settings.model_dump(mode="json", exclude_none=True)
    for name in ("shop_read_key", "shop_write_key"):
        told[name] = getattr(settings, name).get_secret_value()
    env = {**os.environ, **{f"INTERLOCK_{name.upper()}": str(value) for name, value in told.items()}}
    with log.open("ab") as output:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, env=env, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def test_a_worker_killed_at_any_moment_does_nothing_twice(
    database: Postgres, temporal: str, shop_process: ShopProcess, tmp_path: Path
) -> None:
    dice = random.Random(SEED)
    settings = settings_of(database, temporal, str(shop_process.http.base_url), relay_sweep_interval_s=0.2)
    async with furnished(settings, shop_process) as stage:
        acted: list[tuple[Scene, str]] = []
        for n in range(KILLS):
            with worker_process(settings, tmp_path / f"{n}.log"):
                acted += await asyncio.gather(act(stage), act(stage))
                await asyncio.sleep(dice.uniform(0, 0.5))
        shop_process.http.delete("/_faults")
        with worker_process(settings, tmp_path / "last.log"):
            for scene, operation_id in acted:
                action = await scene.comes_to(operation_id, ActionState.CONFIRMED, patience_s=60)
                assert len(scene.effects(operation_id)) == 1, action
                through = [e.body["answers_through"] for e in await scene.answered(2)]
                assert through == sorted(set(through))
        await check(scene for scene, _ in acted)


async def act(stage: Stage) -> tuple[Scene, str]:
    """Have something in every step of its way: a refund that the shop takes its time for, and a question."""
    scene = await Scene(stage).begin()
    operation_id = await scene.ask_refund(patience_s=60)
    stage.shop.arm("delay_ms:150")
    await scene.decide(operation_id)
    await scene.ask_status()
    return scene, operation_id


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # connections that the server cut
async def test_a_postgres_that_stops_in_the_middle_loses_nothing(temporal: str, shop_process: ShopProcess) -> None:
    with own_postgres() as server:
        settings = settings_of(server.database, temporal, str(shop_process.http.base_url))
        async with playing(settings, shop_process) as stage:
            asking, acting, sending = [await Scene(stage).begin() for _ in range(3)]
            acted, sent = await acting.ask_refund(), await sending.ask_refund()
            gates = [
                stage.gates.before(Errand.PUBLISH_REPLY, asking.id),
                stage.gates.before(Errand.DISPATCH_ACTION, acted),
            ]
            await asking.ask_status()
            await acting.decide(acted)
            for gate in gates:
                await gate.until_reached()
            shop_process.arm("delay_ms:1000")
            await sending.decide(sent)
            await until(lambda: _claimed(sending, sent), "the claim")
            await asyncio.to_thread(server.stop)
            for gate in gates:
                gate.open()
            await asyncio.sleep(2.5)
            await asyncio.to_thread(server.start)
            await asking.answered()
            for scene, operation_id in ((acting, acted), (sending, sent)):
                await scene.comes_to(operation_id, ActionState.CONFIRMED, patience_s=30)
                assert len(scene.effects(operation_id)) == 1
            assert len(await asking.answers()) == 1
            await check([asking, acting, sending])


async def _claimed(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count == 1
