"""Whether today's code takes the same steps as a history records, under the very sandbox that the worker uses."""

import logging
import re
from collections.abc import Sequence

from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from domain.base import Noun
from worker import WORKFLOWS, workflow_runner

_EVENT = re.compile(r"HistoryEvent\(id: (\d+)|event_id: (\d+)")
_MESSAGE_CHARS_MAX = 400


class Replayed(Noun):
    """How one run replayed: `difference` is None when today's code took the same steps."""

    run_id: str
    events: int
    difference: str | None = None
    event_id: int | None = None


async def replay(runs: Sequence[WorkflowHistory], workflows: Sequence[type] = WORKFLOWS) -> list[Replayed]:
    """Replay each run against `workflows` and say how it went; never raises for a history that differs."""
    replayer = Replayer(
        workflows=list(workflows), workflow_runner=workflow_runner(), data_converter=pydantic_data_converter
    )
    logging.getLogger("temporalio.worker").setLevel(logging.CRITICAL)  # its tracebacks; the difference is told here
    logging.getLogger("temporalio.workflow").setLevel(logging.CRITICAL)
    return [await _one(replayer, run) for run in runs]


async def _one(replayer: Replayer, run: WorkflowHistory) -> Replayed:
    result = await replayer.replay_workflow(run, raise_on_replay_failure=False)
    fault = result.replay_failure
    if fault is None:
        return Replayed(run_id=run.run_id, events=len(run.events))
    told = " ".join(str(fault).split())[:_MESSAGE_CHARS_MAX]
    place = _EVENT.search(str(fault))
    event_id = next((int(g) for g in place.groups() if g), None) if place else None
    return Replayed(run_id=run.run_id, events=len(run.events), difference=told, event_id=event_id)
