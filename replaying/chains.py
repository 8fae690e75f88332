"""A workflow's history as one thing: all runs under one id, fetched from Temporal or kept in a file.

A file holds `{workflow_id, runs: [{run_id, events}]}`; a history as Temporal's UI or CLI saves it is read too.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseError
from temporalio.client import Client, WorkflowHistory
from temporalio.service import RPCError, RPCStatusCode

from workflows.messages import conversation_workflow_id


class ReplayFault(Exception):
    """What was asked for cannot be found or read; the message is for a person."""


@dataclass(frozen=True)
class Chain:
    """The runs of one workflow id, oldest first."""

    workflow_id: str
    runs: tuple[WorkflowHistory, ...]


async def fetch(client: Client, ident: str, run_id: str | None = None) -> Chain:
    """Return the history of a conversation, an operation or a workflow by its id: all its runs, or the one given.

    Raises ReplayFault.
    """
    try:
        workflow_id = await _existing(client, ident, run_id)
        run_ids = [run_id] if run_id else await _runs(client, workflow_id)
        handles = [client.get_workflow_handle(workflow_id, run_id=r) for r in run_ids]
        return Chain(workflow_id, tuple([await h.fetch_history() for h in handles]))
    except RPCError as error:
        raise ReplayFault(f"Temporal does not give the history of {ident}: {error.message}") from error
    except RuntimeError as error:
        raise ReplayFault("Temporal cannot be reached. Is the stack running? `interlock doctor` says more.") from error


async def _existing(client: Client, ident: str, run_id: str | None) -> str:
    for workflow_id in (ident, conversation_workflow_id(ident)):
        try:
            await client.get_workflow_handle(workflow_id, run_id=run_id).describe()
        except RPCError as error:
            if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
                raise
        else:
            return workflow_id
    which = f", run {run_id}" if run_id else ""
    raise ReplayFault(f"Temporal knows no conversation, operation or workflow {ident}{which}.")


async def _runs(client: Client, workflow_id: str) -> list[str]:
    """Every run that is still kept: those continued as new, and those begun again after an end."""
    quoted = workflow_id.replace("\\", "\\\\").replace("'", "\\'")
    found = [w async for w in client.list_workflows(f"WorkflowId = '{quoted}'")]
    latest = await client.get_workflow_handle(workflow_id).describe()
    started = {w.run_id: w.start_time for w in (*found, latest)}
    return sorted(started, key=lambda run: started[run])


def read(path: Path) -> Chain:
    """Return the histories in a file. Raises ReplayFault."""
    try:
        kept: Any = json.loads(path.read_text(encoding="utf-8"))
        runs = kept.get("runs") or [kept]
        workflow_id = str(kept.get("workflow_id") or path.stem)
        found = tuple(WorkflowHistory.from_json(workflow_id, {"events": run["events"]}) for run in runs)
    except OSError as error:
        raise ReplayFault(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, ParseError) as error:
        raise ReplayFault(
            f"{path} holds no workflow history: it must be JSON with `events`, as --save writes it."
        ) from error
    if not all(run.events for run in found):
        raise ReplayFault(f"{path} holds a history without events.")
    return Chain(workflow_id, found)


def save(chain: Chain, path: Path) -> None:
    """Write a chain to a file, for another day or another machine. Raises ReplayFault."""
    runs = [{"run_id": run.run_id, "events": run.to_json_dict()["events"]} for run in chain.runs]
    kept = {"workflow_id": chain.workflow_id, "runs": runs}
    try:
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ReplayFault(f"{path} cannot be written: {error.strerror}.") from error
