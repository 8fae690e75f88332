"""One child process: what it is, how it is started, how it is ended.

A child runs in a session of its own, logs to one file, and does not outlive the process that started it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stack.probes import Probe

LAUNCHER = Path(__file__).with_name("launch.py")
LOOK_S = 0.02


@dataclass(frozen=True)
class Identity:
    """The user that a child runs as, with the one capability that it keeps, if any."""

    uid: int
    gid: int
    capability: int | None = None


@dataclass(frozen=True)
class Child:
    """One row of the roster: everything that the supervisor needs to know about a child."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    ready: Probe | None = None  # None: a step that is done when it exits with 0
    after: tuple[str, ...] = ()
    then: Callable[[], None] | None = None  # done once, when it first is ready and before what comes after it
    deadline_s: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_patience_s: float = 10.0
    orphan_signal: signal.Signals = signal.SIGKILL
    clears: tuple[Path, ...] = ()  # files of an earlier run that would mislead the probe
    identity: Identity | None = None


def spawn(child: Child, log: Path) -> subprocess.Popen[bytes]:
    """Start `child`, its output appended to `log`; raises OSError where the program cannot be run."""
    for stale in child.clears:
        stale.unlink(missing_ok=True)
    who = child.identity or Identity(-1, -1)
    capability = -1 if who.capability is None else who.capability
    ties = [os.getpid(), int(child.orphan_signal), who.uid, who.gid, capability]
    shim = [sys.executable, "-I", "-S", str(LAUNCHER), *map(str, ties), "--"]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*shim, *child.argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(child.env),
            start_new_session=True,
        )


def end(
    process: subprocess.Popen[bytes],
    how: signal.Signals,
    patience_s: float,
    hurry: Callable[[], bool] = lambda: False,
) -> bool:
    """Ask `process` to stop, wait, then kill its whole group; returns whether asking was enough."""
    if process.poll() is None:
        process.send_signal(how)
    deadline = time.monotonic() + patience_s
    while process.poll() is None and time.monotonic() < deadline and not hurry():
        time.sleep(LOOK_S)
    asking_was_enough = process.poll() is not None
    kill_group(process)
    process.wait()
    return asking_was_enough


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the group that `process` leads."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        return


def describe_exit(code: int) -> str:
    """Return how a process ended, in words: `exited with status 3`, `was ended by SIGKILL`."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def tail(log: Path, lines: int = 15, bytes_max: int = 8_192) -> str:
    """Return the last `lines` of `log`, or a word about its being empty."""
    if not log.exists():
        return "(no log)"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - bytes_max))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(text.rstrip().splitlines()[-lines:]) or "(its log is empty)"
