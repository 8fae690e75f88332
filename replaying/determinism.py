"""Whether today's code takes the same steps as a history records, under the very sandbox that the worker uses."""

import logging
import re
from collections.abc import Sequence

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from domain.base import Noun
from worker import BUILD_ID, WORKFLOWS, workflow_runner

_TOLD = re.compile(r'message: "((?:[^"\\]|\\.)+)"')
_MESSAGE_CHARS_MAX = 400
_NOISY = ("temporalio.worker", "temporalio.workflow")


class Replayed(Noun):
    """How one run replayed. `difference` is None when today's code took the same steps; else `event_id` is that of the
    first command that was recorded by the task in which it did not, where the history holds one.
    """

    run_id: str
    events: int
    difference: str | None = None
    event_id: int | None = None


async def replay(runs: Sequence[WorkflowHistory], workflows: Sequence[type] = WORKFLOWS) -> list[Replayed]:
    """Replay each run against `workflows` and say how it went; never raises for a history that differs."""
    replayer = Replayer(
        workflows=list(workflows),
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
        build_id=BUILD_ID,
    )
    for name in _NOISY:  # their tracebacks: the difference is told here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return [await _one(replayer, run) for run in runs]


async def _one(replayer: Replayer, run: WorkflowHistory) -> Replayed:
    fault = await _difference(replayer, run)
    if fault is None:
        return Replayed(run_id=run.run_id, events=len(run.events))
    return Replayed(
        run_id=run.run_id, events=len(run.events), difference=fault, event_id=await _first_differing(replayer, run)
    )


async def _difference(replayer: Replayer, run: WorkflowHistory) -> str | None:
    fault = (await replayer.replay_workflow(run, raise_on_replay_failure=False)).replay_failure
    if fault is None:
        return None
    told = _TOLD.search(str(fault))
    return " ".join((told[1] if told else str(fault)).split())[:_MESSAGE_CHARS_MAX]


async def _first_differing(replayer: Replayer, run: WorkflowHistory) -> int | None:
    """Return the first command of the first task that differs, found by replaying ever closer beginnings."""
    tasks = _tasks(run)
    good, bad = -1, len(tasks) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        beginning = WorkflowHistory(run.workflow_id, run.events[: tasks[middle][1]])
        if await _difference(replayer, beginning) is None:
            good = middle
        else:
            bad = middle
    first, end = tasks[bad] if tasks else (0, 0)
    return run.events[first].event_id if first < end else None


def _tasks(run: WorkflowHistory) -> list[tuple[int, int]]:
    """Return, of each completed workflow task, the index of its first command and that after its last."""
    completed = [
        i for i, event in enumerate(run.events) if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    scheduled = [
        i for i, event in enumerate(run.events) if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
    ]
    return [(i + 1, next((s for s in scheduled if s > i), len(run.events))) for i in completed]
