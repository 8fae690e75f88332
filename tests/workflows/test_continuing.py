"""Laws of continue-as-new: under load nothing is lost, repeated or reordered across runs."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from domain.conversation import EventKind
from relay.temporal import Waker
from replaying.chains import fetch
from tests.workflows.scene import Scene, until
from tests.workflows.stage import IDLE_CLOSE_S, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIGNALS_PER_RUN = 4


@pytest.fixture
def restless(stage: Stage) -> Stage:
    """A stage whose conversations continue as new after a few signals."""
    waker = Waker(stage.client, stage.settings.task_queue, IDLE_CLOSE_S, SIGNALS_PER_RUN)
    return replace(stage, waker=waker)


async def chat(stage: Stage, seed: int) -> Scene:
    scene, dice = await Scene(stage).begin(), random.Random(seed)
    for n in range(10):
        await scene.say("Hello" if n % 3 else f"Where is my order {scene.person.order(4)}?")
        await asyncio.sleep(dice.choice((0, 0, 0.02, 0.2)))
    return scene


async def test_continuing_as_new_under_load_loses_repeats_and_reorders_nothing(restless: Stage) -> None:
    scenes = await asyncio.gather(*(chat(restless, seed) for seed in range(4)))
    for scene in scenes:
        replies = await scene.answered()
        await scene.at_rest()
        through = [e.body["answers_through"] for e in replies]
        assert through == sorted(set(through))
        assert through[-1] == (await scene.log(EventKind.CUSTOMER_MESSAGE))[-1].seq
        assert len((await fetch(restless.client, scene.id)).runs) > 1


async def test_a_continued_run_shows_the_truth_before_anything_else_happens(restless: Stage) -> None:
    scene = await Scene(restless).begin()
    for n in range(SIGNALS_PER_RUN):
        await scene.say("Hello")
        await scene.answered(n + 1)
    version = (await scene.view()).version
    state = await until(lambda: _of_a_later_run(scene), "a later run to have looked")
    assert (state["owner_epoch"], state["version"], state["turns"]) == (1, version, SIGNALS_PER_RUN)


async def _of_a_later_run(scene: Scene) -> Any:
    """The state that the second run shows, once it has looked at the log."""
    runs = (await fetch(scene.stage.client, scene.id)).runs
    state = await scene.handle.query("state") if len(runs) > 1 else None
    return state if state and state["owner_epoch"] else None
