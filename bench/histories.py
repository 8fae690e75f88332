"""What a conversation leaves in Temporal: events and bytes per turn, and how long its replay takes.

The chain of a conversation's runs is fetched whole, the last run first.
"""

import time
from dataclasses import dataclass

from google.protobuf.message import Message
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from worker import BUILD_ID, WORKFLOWS, workflow_runner
from workflows.messages import conversation_workflow_id


@dataclass(frozen=True)
class PerTurn:
    """What one later turn adds to a history, on average."""

    events: float
    size_bytes: float


@dataclass(frozen=True)
class Replayed:
    """How long a chain of runs took to replay."""

    runs: int
    events: int
    total_s: float
    processor_s: float


async def chain_of(client: Client, conversation_id: str) -> list[WorkflowHistory]:
    """Return the histories of a conversation's runs, oldest first."""
    workflow_id = conversation_workflow_id(conversation_id)
    found: list[WorkflowHistory] = []
    run_id: str | None = None
    while True:
        history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        found.insert(0, history)
        run_id = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
        if not run_id:
            return found


def per_turn(history: WorkflowHistory) -> PerTurn:
    """Return the average over the later turns of a run: from its second signal on."""
    signalled = [
        n for n, e in enumerate(history.events) if e.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    ]
    later = history.events[signalled[1] :]
    turns = len(signalled) - 1
    return PerTurn(len(later) / turns, sum(_size(e) for e in later) / turns)


def _size(event: Message) -> int:
    return event.ByteSize()


async def replay(chain: list[WorkflowHistory]) -> Replayed:
    """Replay every run on today's code and return how long it took; raises where one is not deterministic."""
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
        build_id=BUILD_ID,
    )
    began_at, used_s = time.perf_counter(), time.process_time()
    for history in chain:
        await replayer.replay_workflow(history)
    events = sum(len(h.events) for h in chain)
    return Replayed(len(chain), events, time.perf_counter() - began_at, time.process_time() - used_s)
