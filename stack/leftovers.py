"""Processes of an earlier stack that outlived it, found and ended before a new one begins.

A process counts as one of ours only where its pid and its time of birth both match what was recorded.
"""

import json
import signal
from collections.abc import Mapping
from pathlib import Path

import psutil

from stack.layout import DataDir, write_private

PATIENCE_S = 10.0
SAME_BIRTH_S = 0.05


def record(data: DataDir, pids: Mapping[str, int]) -> None:
    """Write down which processes the stack has started."""
    born = {name: _birth(pid) for name, pid in pids.items()}
    write_private(data.children, {name: {"pid": pids[name], "born": at} for name, at in born.items() if at})


def forget(data: DataDir) -> None:
    """Remove the record: all that it names has been stopped."""
    data.children.unlink(missing_ok=True)


def end_all(data: DataDir) -> list[str]:
    """End what an earlier stack left running over `data`; returns the names of what was found."""
    found = {**_recorded(data.children), **_postmaster(data.postgres)}
    for name, process in found.items():
        _end(process, signal.SIGINT if name == "postgres" else signal.SIGTERM)
    forget(data)
    return list(found)


def _recorded(children: Path) -> dict[str, psutil.Process]:
    try:
        rows = json.loads(children.read_text())
        known = {str(name): (int(row["pid"]), float(row["born"])) for name, row in rows.items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {
        name: psutil.Process(pid)
        for name, (pid, born) in known.items()
        if (at := _birth(pid)) is not None and abs(at - born) < SAME_BIRTH_S
    }


def _postmaster(postgres: Path) -> dict[str, psutil.Process]:
    """Return the server that postmaster.pid names, where it lives and does serve this very folder."""
    try:
        process = psutil.Process(int((postgres / "postmaster.pid").read_text().splitlines()[0]))
        serves_this = str(postgres) in process.cmdline() and "postgres" in process.name()
    except (OSError, ValueError, IndexError, psutil.Error):
        return {}
    return {"postgres": process} if serves_this else {}


def _birth(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _end(process: psutil.Process, how: signal.Signals) -> None:
    try:
        process.send_signal(how)
        process.wait(PATIENCE_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(PATIENCE_S)
    except psutil.NoSuchProcess:
        return
