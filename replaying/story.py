"""A history told in time order: signals, steps with their recorded decisions, timers, ends. Pure.

Histories hold identifiers, labels, amounts and times alone, and so does what is told here.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory

from domain.base import Noun
from replaying.decisions import told


class Where(StrEnum):
    """Which record an entry was taken from."""

    WORKFLOW = "workflow"
    LOG = "log"
    LEDGER = "ledger"
    MODEL = "model"


class Entry(Noun):
    """One line of a story."""

    at: datetime
    where: Where
    what: str
    detail: str = ""
    event_id: int | None = None


def tell(runs: Iterable[WorkflowHistory]) -> list[Entry]:
    """Return what the runs' events tell, oldest first."""
    return [entry for run in runs for entry in _tell(run)]


def in_order(*parts: Iterable[Entry]) -> list[Entry]:
    """Return the entries of several records as one story."""
    return sorted((entry for part in parts for entry in part), key=lambda e: e.at)


def started_with(run: WorkflowHistory) -> dict[str, Any]:
    """Return the input that a run began with."""
    inputs = run.events[0].workflow_execution_started_event_attributes.input.payloads
    found = _value(inputs[0]) if inputs else {}
    return found if isinstance(found, dict) else {}


def _tell(run: WorkflowHistory) -> Iterable[Entry]:
    names: dict[int, str] = {}  # of scheduled activities, started timers and initiated children, by event id
    for event in run.events:
        teller = _TELLERS.get(event.event_type)
        line = teller(event, names) if teller else None
        if line is not None:
            at = event.event_time.ToDatetime(tzinfo=UTC)
            yield Entry(at=at, where=Where.WORKFLOW, what=line[0], detail=line[1], event_id=event.event_id)


Line = tuple[str, str]


def _started(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.workflow_execution_started_event_attributes
    continued = f", continues {a.continued_execution_run_id[:8]}" if a.continued_execution_run_id else ""
    return "run began", f"{a.workflow_type.name} {a.original_execution_run_id[:8]}{continued}"


def _signaled(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.workflow_execution_signaled_event_attributes
    value = _value(a.input.payloads[0]) if a.input.payloads else {}
    return f"signal {a.signal_name}", _fields(value, "seq", "owner_epoch")


def _local_step(event: HistoryEvent, names: dict[int, str]) -> Line | None:
    a = event.marker_recorded_event_attributes
    if "data" not in a.details:
        return None
    data = _value(a.details["data"].payloads[0])
    name = str(data.get("activity_type", a.marker_name)).replace("_", " ")
    if a.HasField("failure"):
        return f"step {name}", f"failed: {_label(a.failure)}"
    results = a.details["result"].payloads if "result" in a.details else []
    return f"step {name}", told(_value(results[0])) if results else ""


def _scheduled(event: HistoryEvent, names: dict[int, str]) -> None:
    names[event.event_id] = event.activity_task_scheduled_event_attributes.activity_type.name.replace("_", " ")


def _completed(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.activity_task_completed_event_attributes
    results = a.result.payloads
    return f"call {names.get(a.scheduled_event_id, '?')}", told(_value(results[0])) if results else ""


def _failed(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.activity_task_failed_event_attributes
    return f"call {names.get(a.scheduled_event_id, '?')}", f"failed: {_label(a.failure)}"


def _timed_out(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.activity_task_timed_out_event_attributes
    kind = TimeoutType.Name(a.failure.timeout_failure_info.timeout_type).removeprefix("TIMEOUT_TYPE_")
    return f"call {names.get(a.scheduled_event_id, '?')}", f"no answer: {kind.replace('_', ' ').lower()}"


def _timer_set(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.timer_started_event_attributes
    names[event.event_id] = f"{a.start_to_fire_timeout.ToTimedelta().total_seconds():g} s"
    return "timer set", names[event.event_id]


def _timer_fired(event: HistoryEvent, names: dict[int, str]) -> Line:
    return "timer ran out", names.get(event.timer_fired_event_attributes.started_event_id, "")


def _child_started(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.child_workflow_execution_started_event_attributes
    return f"{a.workflow_type.name} began", a.workflow_execution.workflow_id


def _child_ended(event: HistoryEvent, names: dict[int, str]) -> Line:
    a = event.child_workflow_execution_completed_event_attributes
    return f"{a.workflow_type.name} ended", a.workflow_execution.workflow_id


def _shown(event: HistoryEvent, names: dict[int, str]) -> Line:
    fields = event.upsert_workflow_search_attributes_event_attributes.search_attributes.indexed_fields
    shown = {name.removeprefix("Interlock"): _value(payload) for name, payload in sorted(fields.items())}
    return "shows", ", ".join(f"{name} {value}" for name, value in shown.items())


def _ended(event: HistoryEvent, names: dict[int, str]) -> Line:
    results = event.workflow_execution_completed_event_attributes.result.payloads
    return "run ended", told(_value(results[0])) if results else ""


def _task_failed(event: HistoryEvent, names: dict[int, str]) -> Line:
    return "task failed", _label(event.workflow_task_failed_event_attributes.failure)


def _run_failed(event: HistoryEvent, names: dict[int, str]) -> Line:
    return "run FAILED", _label(event.workflow_execution_failed_event_attributes.failure)


def _continued(event: HistoryEvent, names: dict[int, str]) -> Line:
    return "run continued as new", event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id[:8]


_TELLERS: Mapping[int, Callable[[HistoryEvent, dict[int, str]], Line | None]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: _started,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: _signaled,
    EventType.EVENT_TYPE_MARKER_RECORDED: _local_step,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: _scheduled,
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: _completed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: _failed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: _timed_out,
    EventType.EVENT_TYPE_TIMER_STARTED: _timer_set,
    EventType.EVENT_TYPE_TIMER_FIRED: _timer_fired,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: _child_started,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: _child_ended,
    EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: _shown,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _ended,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _run_failed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: lambda event, names: ("run terminated", ""),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: lambda event, names: ("run cancelled", ""),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: _continued,
    EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: _task_failed,
}


def _label(failure: Any) -> str:
    """The label of a failure, as the sorter put it there."""
    kind = failure.application_failure_info.type
    return f"{kind} {failure.message}" if kind else str(failure.message)[:120]


def _value(payload: Payload) -> Any:
    try:
        return json.loads(payload.data)
    except ValueError:
        return None


def _fields(value: Any, *names: str) -> str:
    return ", ".join(f"{n} {value[n]}" for n in names if n in value) if isinstance(value, dict) else ""
