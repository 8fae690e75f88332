"""Laws of `interlock replay`: it finds what it is asked for, says whether it replays, and tells the whole story."""

import asyncio
import base64
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli import app
from domain.action import ActionState
from settings import Settings
from tests.workflows.golden import HISTORIES
from tests.workflows.scene import Scene
from tests.workflows.shop_world import NAME

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOWHERE: Mapping[str, str] = {}


def environment(settings: Settings) -> dict[str, str]:
    names = ("database_url", "temporal_address", "task_queue")
    return {f"INTERLOCK_{name.upper()}": str(getattr(settings, name)) for name in names}


async def replay(*words: object, env: Mapping[str, str] = NOWHERE) -> Result:
    asked = ["replay", *map(str, words)]
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, asked, env=dict(env)))


async def confirmed_refund(scene: Scene) -> str:
    operation_id = await scene.ask_refund()
    await scene.decide(operation_id)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    await scene.at_rest()
    return operation_id


async def test_a_conversation_and_its_action_are_found_and_told(scene: Scene, tmp_path: Path) -> None:
    operation_id, env = await confirmed_refund(scene), environment(scene.stage.settings)
    told = await replay(scene.id, "--save", tmp_path / "kept.json", env=env)
    assert told.exit_code == 0, told.output
    for words in (
        "DETERMINISTIC",
        "signal wake",
        "understood refund_request",
        "propose kind refund",
        "refund-small-with-confirmation",
        "awaiting_approval → submitted",
        f"reserved, by executor:interlock, refund {operation_id}",
        "1 customer_message by customer:",
    ):
        assert words in told.output
    assert "NOT DETERMINISTIC" not in told.output
    for personal in (NAME, *scene.said):
        assert personal not in told.output
    of_action = await replay(operation_id, env=env)
    assert "call dispatch action" in of_action.output
    kept = await replay(tmp_path / "kept.json", env=env)
    assert kept.output == told.output


async def test_a_script_gets_json_and_one_run_where_it_asks_for_one(scene: Scene) -> None:
    await scene.say("Hello")
    await scene.answered()
    run_id = (await scene.handle.describe()).run_id
    told = await replay(f"conversation/{scene.id}", "--run-id", run_id, "--json", env=environment(scene.stage.settings))
    found = json.loads(told.output)
    assert (found["deterministic"], [r["run_id"] for r in found["runs"]]) == (True, [run_id])
    assert {entry["where"] for entry in found["story"]} == {"workflow", "log"}
    assert [e["at"] for e in found["story"]] == sorted(e["at"] for e in found["story"])


async def test_what_is_not_there_is_said_with_status_2(scene: Scene, tmp_path: Path) -> None:
    env = environment(scene.stage.settings)
    (tmp_path / "other.json").write_text("[1, 2]")
    asked = {
        ("nobody",): "knows no conversation, operation or workflow nobody",
        (tmp_path / "absent.json",): "cannot be read",
        (tmp_path / "other.json",): "holds no workflow history",
        (tmp_path,): "",
        ("conv-1", "--run-id", "not-a-run"): "not-a-run",
        ("x" * 3_000,): "",
        ("quote'd",): "quote'd",
    }
    for words, said in asked.items():
        told = await replay(*words, env=env)
        assert told.exit_code == 2, (words, told.output)
        assert said in told.output
    away = await replay("conv-1", env={**env, "INTERLOCK_TEMPORAL_ADDRESS": "127.0.0.1:1"})
    assert (away.exit_code, "cannot be reached" in away.output) == (2, True)
    assert (await replay("conv-1")).exit_code == 2
    assert (await replay("conv-1", "--data-dir", tmp_path)).exit_code != 0


async def test_a_story_is_told_without_a_database(scene: Scene) -> None:
    told = await replay(HISTORIES / "lost-response.action.json")
    assert told.exit_code == 0
    assert "told from the history alone" in told.output
    env = {**environment(scene.stage.settings), "INTERLOCK_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    away = await replay(HISTORIES / "lost-response.action.json", env=env)
    assert away.exit_code == 0
    assert "The database cannot be read" in away.output


async def test_a_history_that_does_not_replay_is_said_with_status_1_and_its_event(tmp_path: Path) -> None:
    kept = json.loads((HISTORIES / "order-status.conversation.json").read_text())
    marker = next(e for e in kept["runs"][0]["events"] if "markerRecordedEventAttributes" in e)
    payload = marker["markerRecordedEventAttributes"]["details"]["data"]["payloads"][0]
    other = base64.b64decode(payload["data"]).replace(b"consider_turn", b"close_idle")
    payload["data"] = base64.b64encode(other).decode()
    (tmp_path / "changed.json").write_text(json.dumps(kept))
    told = await replay(tmp_path / "changed.json")
    assert told.exit_code == 1
    assert "NOT DETERMINISTIC" in told.output
    commands_begin = int(marker["eventId"]) - 1  # the idle timer comes first
    assert f"from event {commands_begin} on: [TMPRL1100]" in told.output
