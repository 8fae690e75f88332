"""What holds of every history that these scenes leave: it replays from its start, and no personal text is in it.

Payloads are base64 in a history's JSON, so they are decoded before anything is looked for.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import Any

from temporalio.client import WorkflowHistory

from domain.action import Cause
from replaying.chains import Chain, fetch
from replaying.determinism import replay
from tests.workflows.scene import Scene
from tests.workflows.shop_world import MAIL, NAME
from workflows.messages import conversation_workflow_id

DENIED_AT_ONCE = [Cause.PROPOSED.value, Cause.DENIED.value]


async def chains_of(scene: Scene) -> list[Chain]:
    """Every run of a scene's conversation and of its actions; what was denied as it was proposed has none."""
    actions = [a.operation_id for a in await scene.actions() if await scene.causes(a.operation_id) != DENIED_AT_ONCE]
    ids = [conversation_workflow_id(scene.id), *actions]
    return [await fetch(scene.stage.client, ident) for ident in ids]


async def check(scenes: Iterable[Scene]) -> int:
    """Replay and search the histories of all scenes that said something; returns how many runs there were."""
    runs: list[WorkflowHistory] = []
    for scene in scenes:
        if scene.said and not scene.forgotten:
            found = [run for chain in await chains_of(scene) for run in chain.runs]
            assert_no_personal_text(found, scene.said)
            runs += found
    differences = [(r.run_id, r.difference) for r in await replay(runs) if r.difference]
    assert not differences
    return len(runs)


def assert_no_personal_text(runs: Iterable[WorkflowHistory], said: Iterable[str]) -> None:
    words = [NAME.casefold(), MAIL.casefold(), *(text.casefold() for text in said)]
    for run in runs:
        whole = "\n".join(texts(run.to_json_dict())).casefold()
        assert [w for w in words if w in whole] == []


def texts(node: Any) -> Iterator[str]:
    """Every string in a history, and what is encoded in it."""
    match node:
        case dict():
            for key, value in node.items():
                yield key
                yield from texts(value)
        case list():
            for value in node:
                yield from texts(value)
        case str():
            yield node
            yield from _decoded(node)
        case _:
            return


def _decoded(text: str) -> Iterator[str]:
    try:
        plain = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield plain
    try:
        yield json.dumps(json.loads(plain), ensure_ascii=False)
    except ValueError:
        return
