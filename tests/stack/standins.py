"""Small real programs that stand in for the children of a stack, and ears for what the supervisor says."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stack.child import Child
from stack.probes import FileProbe

SLEEPER = "import sys, time, pathlib; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
STUBBORN = (
    "import signal, sys, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
)
NEVER_READY = "import time; print('warming up for ever', flush=True); time.sleep(600)"
DIES = "import sys; print('the cause of it all'); sys.exit(3)"


def python(code: str, *words: str) -> tuple[str, ...]:
    """Return the command that runs `code`."""
    return (sys.executable, "-I", "-S", "-c", code, *words)


def standin(name: str, folder: Path, code: str = SLEEPER, **more: Any) -> Child:
    """Return a child that is ready once it has touched a file of its name."""
    ready = folder / f"{name}.ready"
    given: dict[str, Any] = {"env": {}, "ready": FileProbe(ready), "clears": (ready,), "deadline_s": 20.0, **more}
    return Child(name, python(code, str(ready)), **given)


def step(name: str, code: str, **more: Any) -> Child:
    """Return a child that is done when it has ended."""
    return Child(name, python(code), env={}, **more)


@dataclass
class Ears:
    """A voice that keeps what it is told."""

    heard: list[tuple[Any, ...]] = field(default_factory=list)

    def ready(self, name: str, took_s: float, again: bool) -> None:
        """Keep that a child serves."""
        self.heard.append(("ready", name, again))

    def died(self, name: str, how: str, pause_s: float) -> None:
        """Keep that a child has ended."""
        self.heard.append(("died", name, how))

    def stopping(self, name: str, patient: bool) -> None:
        """Keep that a child was stopped."""
        self.heard.append(("stopped", name, patient))


def wait_until(holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Return once `holds`; fails where it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come to hold in time"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
