"""Laws of turns with a model: whatever becomes of it, a turn stays fenced, is answered once, and ends (1, 3, 11).

The worker is the real one; the model is a server of ours that is slow, hangs or fails as it is told.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from domain.conversation import EventKind, Owner
from domain.model import ModelOutcome, ModelRole
from store.model_calls import calls_of
from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres
from tests.scripted_model.lies import NEVER_SENT
from tests.scripted_model.process import ScriptedModel, scripted_model
from tests.workflows.histories import check
from tests.workflows.scene import Scene, until
from tests.workflows.stage import ARTICLE, Stage, asking, furnished, playing, relaying, settings_of
from tests.workflows.test_outages import worker_process
from tests.workflows.test_replay_command import environment, replay

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALL_TIMEOUT_S, PATIENT_CALL_S = 2.0, 15.0
STARTS_WITHIN_S = 60.0  # a worker of its own, on a machine that has other things to do
LATE = "slow:1000"
TOLD = ARTICLE.splitlines()[-1]
READING, DRAFTING = (ModelRole.UNDERSTAND, ModelOutcome.OK), (ModelRole.DRAFT, ModelOutcome.OK)
Ask = Callable[[Scene], Awaitable[object]]
WHILE = pytest.mark.parametrize("ask", [Scene.ask_vaguely, Scene.ask_how_long], ids=["reading", "drafting"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModel]:
    with scripted_model(tmp_path_factory.mktemp("model")) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    database: Postgres,
    temporal: str,
    shop_process: ShopProcess,
    model: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Stage]:
    told = asking(model, tmp_path_factory.mktemp("models"), CALL_TIMEOUT_S)
    async with playing(settings_of(database, temporal, str(shop_process.http.base_url), **told), shop_process) as it:
        yield it
        await check(it.scenes)


async def booked(scene: Scene) -> list[tuple[ModelRole, ModelOutcome]]:
    """What every call of a conversation was for, and how it ended, in order."""
    return [(c.role, c.outcome) for c in await calls_of(scene.stage.db, scene.tenant, scene.id)]


async def is_asked(model: ScriptedModel, times: int = 1) -> None:
    """Wait until the model has been asked so often since the script was switched."""

    async def done() -> bool:
        return len(await asyncio.to_thread(model.asked)) >= times

    await until(done, "the model to be asked", STARTS_WITHIN_S)


async def attempts(scene: Scene) -> int:
    """How often any activity of a conversation was begun, at most."""
    history = await scene.handle.fetch_history()
    return max((e.activity_task_started_event_attributes.attempt for e in history.events), default=0)


async def test_what_only_a_model_understands_is_answered_and_its_story_tells_the_route(
    scene: Scene, model: ScriptedModel
) -> None:
    model.play("good")
    await scene.ask_vaguely()
    (reply,) = await scene.answered()
    assert scene.person.order(4) in reply.body["text"]
    await scene.at_rest()
    assert await booked(scene) == [READING, DRAFTING]
    told = await replay(scene.id, env=environment(scene.stage.settings))
    for words in (
        "the small model is to read it first",
        "understood order_status by the small model",
        "to be drafted by the small model",
        "small asked to understand",
        "small asked to draft",
        "ok, small with draft_read_only@1",
        "intent order_status, route small, step answer",
    ):
        assert words in told.output
    assert [words for words in (*scene.said, reply.body["text"]) if words in told.output] == []


async def test_a_draft_that_fails_twice_is_told_by_its_checks_and_never_by_its_words(
    scene: Scene, model: ScriptedModel
) -> None:
    model.play("claims_refunds")
    await scene.ask_how_long()
    await scene.owned_by(Owner.HUMAN)
    await scene.at_rest()
    assert [(e.body["author"], e.body["failed"]) for e in await scene.log(EventKind.DRAFT)] == [
        ("model", ["action_status_truthful"])
    ] * 2
    told = await replay(scene.id, env=environment(scene.stage.settings))
    assert told.output.count("author model, failed action_status_truthful") == 2
    assert "reason handoff_checks_failed" in told.output
    assert [lie for lie in NEVER_SENT if lie in told.output] == []


@WHILE
async def test_a_takeover_while_a_model_is_at_work_silences_the_bot(
    ask: Ask, scene: Scene, model: ScriptedModel
) -> None:
    model.play(LATE)
    await ask(scene)
    await is_asked(model)
    await scene.take_over()
    await scene.at_rest()
    assert await scene.log(EventKind.BOT_REPLY, EventKind.DRAFT) == []
    assert (await scene.view()).owner is Owner.HUMAN
    assert len(await booked(scene)) == 1  # and nothing more was asked for a reply that nobody may send


@WHILE
async def test_a_newer_message_while_a_model_is_at_work_gets_one_answer_over_both(
    ask: Ask, scene: Scene, model: ScriptedModel
) -> None:
    model.play(LATE)
    await ask(scene)
    await is_asked(model)
    last = await scene.ask_status()
    (reply,) = await scene.answered()
    assert reply.body["answers_through"] == last.seq
    await scene.at_rest()
    assert len(await scene.answers()) == 1


@pytest.mark.parametrize(("script", "outcome"), [("hangs", ModelOutcome.TIMEOUT), ("500", ModelOutcome.SERVER_ERROR)])
async def test_a_model_that_hangs_or_fails_leaves_the_local_answer_in_the_first_attempt(
    script: str, outcome: ModelOutcome, scene: Scene, model: ScriptedModel
) -> None:
    model.play(script)
    await scene.ask_how_long()
    (reply,) = await scene.answered()
    assert TOLD in reply.body["text"]
    assert reply.body["citations"] == ["refund-times@1"]
    await scene.at_rest()
    assert (await scene.view()).owner is Owner.BOT
    assert set(await booked(scene)) == {(ModelRole.DRAFT, outcome)}
    assert await attempts(scene) == 1


@pytest.mark.parametrize("script", ["hangs", "500"])
async def test_with_every_model_down_and_nothing_understood_there_is_an_acknowledgement_and_a_person(
    script: str, scene: Scene, model: ScriptedModel
) -> None:
    model.play(script)
    await scene.ask_vaguely()
    view = await scene.owned_by(Owner.HUMAN)
    assert view.handoff is not None
    (handoff,) = await scene.log(EventKind.HANDOFF)
    assert handoff.body["reason"] == "understanding_failed"
    assert len(await scene.log(EventKind.NOTICE)) == 1
    assert {role for role, outcome in await booked(scene) if outcome is not ModelOutcome.OK} == {ModelRole.UNDERSTAND}
    await scene.at_rest()
    assert await attempts(scene) == 1


async def test_a_worker_killed_while_a_model_is_at_work_loses_nothing_and_answers_once(
    database: Postgres, temporal: str, shop_process: ShopProcess, model: ScriptedModel, tmp_path: Path
) -> None:
    told = asking(model, tmp_path, PATIENT_CALL_S)
    settings = settings_of(database, temporal, str(shop_process.http.base_url), **told)
    async with furnished(settings, shop_process) as stage:
        read, drafted = [await Scene(stage).begin() for _ in range(2)]
        model.play("hangs")
        with worker_process(settings, tmp_path / "killed.log"):
            long = f"Where is my order {read.person.order(4)}?" + " Where is it?" * 60
            await read.say(long)  # so long that a model reads it too
            await drafted.ask_how_long()
            await is_asked(model, 2)
        model.play("good")
        async with stage.worker(), relaying(stage):
            for scene in (read, drafted):
                (reply,) = await until(scene.answers, "an answer", STARTS_WITHIN_S)
                assert reply.body["answers_through"] == 1
                await scene.at_rest()
                assert len(await scene.answers()) == 1
        assert READING in await booked(read)
        assert await booked(drafted) == [DRAFTING]
        await check([read, drafted])
