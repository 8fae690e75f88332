"""The scenes whose histories are kept: recorded by `python -m replaying.record`, replayed on every run of the tests.

Each scene returns what to keep: part of a file's name, and the id of the workflow.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from temporalio.service import RPCError

from domain.action import ActionState
from domain.conversation import Owner
from relay.temporal import Waker
from replaying.chains import fetch, save
from tests.postgres import migrated
from tests.scripted_model.process import scripted_model
from tests.workflows import servers
from tests.workflows.layers import IN_WORDS, at_stage, in_force
from tests.workflows.reviewing import accepts, draft_of, rejects, review
from tests.workflows.scene import LARGE, Scene, act, hint, until
from tests.workflows.stage import IDLE_CLOSE_S, Stage, asking, playing, settings_of
from workflows.messages import refresh_workflow_id

HISTORIES = Path(__file__).parents[1] / "histories"
Kept = dict[str, str]


async def order_status(scene: Scene) -> Kept:
    await scene.ask_status()
    await scene.answered()
    return {"conversation": scene.id}


async def refund_confirmed(scene: Scene) -> Kept:
    operation_id = await scene.ask_refund()
    await scene.decide(operation_id)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    return {"conversation": scene.id, "action": operation_id}


async def lost_response(scene: Scene) -> Kept:
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm("drop_response_after_commit")
    await scene.decide(operation_id)
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    return {"action": operation_id}


async def takeover_during_a_write(scene: Scene) -> Kept:
    operation_id = await scene.ask_refund()
    scene.stage.shop.arm("delay_ms:600")
    await scene.decide(operation_id)
    await until(lambda: _sent(scene, operation_id), "the claim")
    await scene.take_over()
    await scene.comes_to(operation_id, ActionState.CONFIRMED)
    return {"conversation": scene.id, "action": operation_id}


async def _sent(scene: Scene, operation_id: str) -> bool:
    return (await scene.action(operation_id)).send_count == 1


async def correction(scene: Scene) -> Kept:
    wrong = await scene.ask_refund(1)
    await scene.say(f"Sorry, not that one, I meant order {scene.person.order(2)}")
    (_, right) = await until(lambda: _two(scene), "the corrected proposal")
    await scene.decide(right.operation_id)
    await scene.comes_to(right.operation_id, ActionState.CONFIRMED)
    return {"conversation": scene.id, "superseded": wrong, "action": right.operation_id}


async def _two(scene: Scene) -> Any:
    found = await scene.actions()
    return found if len(found) == 2 else None


async def idle_close_and_reopen(scene: Scene) -> Kept:
    scene.stage = replace(scene.stage, waker=Waker(scene.stage.client, scene.stage.settings.task_queue, 1))
    await scene.ask_status()
    await scene.handle.result()
    await scene.ask_status()
    await scene.answered(2)
    await scene.handle.result()
    return {"conversation": scene.id}


async def continue_as_new(scene: Scene) -> Kept:
    waker = Waker(scene.stage.client, scene.stage.settings.task_queue, IDLE_CLOSE_S, signals_per_run_max=3)
    scene.stage = replace(scene.stage, waker=waker)
    for n in range(7):
        await scene.say("Hello")
        await scene.answered(n + 1)
    return {"conversation": scene.id}


async def stale_tracking(scene: Scene) -> Kept:
    await scene.ask_status(4)
    await scene.answered()
    refresh = refresh_workflow_id(scene.tenant, scene.person.order(4))
    await until(lambda: _begun(scene, refresh), "the carrier to be asked")
    return {"conversation": scene.id, "refresh": refresh}


async def _begun(scene: Scene, ident: str) -> bool:
    try:
        described = await scene.stage.client.get_workflow_handle(ident).describe()
    except RPCError:  # not yet
        return False
    return described.history_length > 8  # asked, and now waiting before the next time is welcome


async def staff_action(scene: Scene) -> Kept:
    await scene.say("Hello?")
    await scene.answered()
    await scene.take_over()
    made = await act(scene, what=LARGE)
    await scene.decide(made.operation_id)
    await scene.decide(made.operation_id, who="mia")
    await scene.comes_to(made.operation_id, ActionState.CONFIRMED)
    return {"conversation": scene.id, "action": made.operation_id}


async def reminders(scene: Scene) -> Kept:
    operation_id = await scene.ask_refund(LARGE[0])
    await scene.comes_to(operation_id, ActionState.REJECTED)
    return {"action": operation_id}


async def consent_in_words(scene: Scene) -> Kept:
    with in_force(scene.stage.settings, scene.tenant, IN_WORDS):
        operation_id = await scene.ask_refund()
        await scene.say("Yes, please.")
        await scene.comes_to(operation_id, ActionState.CONFIRMED)
        await scene.at_rest()
    return {"conversation": scene.id, "action": operation_id}


async def answered_by_a_model(scene: Scene) -> Kept:
    await scene.ask_vaguely()
    await scene.answered()
    await scene.ask_how_long()
    await scene.answered(2)
    return {"conversation": scene.id}


async def drafts_that_fail(scene: Scene) -> Kept:
    await scene.ask_how_long()
    await scene.owned_by(Owner.HUMAN)
    return {"conversation": scene.id}


async def models_down(scene: Scene) -> Kept:
    await scene.ask_how_long()
    await scene.answered()
    await scene.ask_vaguely()
    await scene.owned_by(Owner.HUMAN)
    return {"conversation": scene.id}


async def draft_for_review(scene: Scene) -> Kept:
    with at_stage(scene.stage.settings, scene.tenant, "draft_only"):
        await scene.ask_status()
        first = await draft_of(scene)
        await scene.say("And when will it be here?")
        await draft_of(scene, first.draft_id)
        await scene.at_rest()
        await scene.stage.waker.wake(hint(scene))  # which finds the draft waiting
        await asyncio.sleep(0.5)
        await review(scene, accepts())
        await scene.answered()
        await scene.at_rest()
        await scene.ask_status()
        await draft_of(scene)
        await scene.at_rest()
        await review(scene, rejects())
        await scene.owned_by(Owner.HUMAN)
    return {"conversation": scene.id}


SCENES: Mapping[str, Callable[[Scene], Awaitable[Kept]]] = {
    "order-status": order_status,
    "refund-confirmed": refund_confirmed,
    "lost-response": lost_response,
    "takeover-during-a-write": takeover_during_a_write,
    "correction": correction,
    "idle-close-and-reopen": idle_close_and_reopen,
    "continue-as-new": continue_as_new,
    "stale-tracking": stale_tracking,
    "staff-action": staff_action,
    "reminders": reminders,
    "consent-in-words": consent_in_words,
    "answered-by-a-model": answered_by_a_model,
    "drafts-that-fail": drafts_that_fail,
    "models-down": models_down,
    "draft-for-review": draft_for_review,
}
SCRIPTS = {"answered-by-a-model": "good", "drafts-that-fail": "claims_refunds", "models-down": "500"}
SETTINGS: Mapping[str, Mapping[str, Any]] = {"reminders": {"staff_approval_ttl_s": 6}}
CALL_TIMEOUT_S = 4.0


async def play(stage: Stage, name: str, folder: Path) -> list[Path]:
    """Play one scene and keep its histories in `folder`; returns the files."""
    scene = await Scene(stage).begin()
    kept = await SCENES[name](scene)
    await scene.at_rest()
    await asyncio.sleep(0.5)  # for the last task to be completed
    files = []
    for part, ident in kept.items():
        files.append(folder / f"{name}.{part}.json")
        save(await fetch(stage.client, ident), files[-1])
    return files


def record(names: list[str], folder: Path) -> list[Path]:
    """Play scenes over real parts of their own and keep their histories; returns the files."""
    with (
        migrated() as server,
        servers.database(server) as database,
        servers.temporal() as address,
        servers.shop() as shop,
        tempfile.TemporaryDirectory(prefix="interlock-model-") as home,
        scripted_model(Path(home)) as model,
    ):

        async def play_on_its_own_stage(name: str) -> list[Path]:
            told = dict(SETTINGS.get(name, {}))
            if name in SCRIPTS:
                model.play(SCRIPTS[name])
                told |= asking(model, Path(home), CALL_TIMEOUT_S)
            async with playing(settings_of(database, address, str(shop.http.base_url), **told), shop) as stage:
                return await play(stage, name, folder)

        async def run() -> list[Path]:
            return [file for name in names for file in await play_on_its_own_stage(name)]

        return asyncio.run(run())
