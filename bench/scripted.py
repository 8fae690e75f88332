"""A model that takes exactly as long as it is told to: the scripted server of the tests, as a process of its own.

It is part of a checkout and not of the package, so it is started and never imported.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.wire import BenchFault, Wire

ROOT = Path(__file__).parents[1]
START_S, LOOK_S = 20.0, 0.05


class ScriptedModel:
    """A running server; `base_url` is what the product is given."""

    def __init__(self, base_url: str, control_url: str) -> None:
        self.base_url = base_url
        self._control_url = control_url

    async def take_ms(self, latency_ms: int) -> None:
        """Answer so many milliseconds late from now on."""
        control = Wire(self._control_url)  # a new one each time: the server hangs up on what is idle
        await control.ask("POST", "/_script", body={"name": f"slow:{latency_ms}"})
        await control.close()


@contextmanager
def scripted_model(folder: Path) -> Iterator[ScriptedModel]:
    """Run the server on a free port. Raises BenchFault where there is none to run."""
    if not (ROOT / "tests" / "scripted_model").is_dir():
        raise BenchFault("the scripted model is in the tests of a checkout, and this is none")
    ready = folder / "scripted-model.json"
    command = [sys.executable, "-m", "tests.scripted_model", "--ready-file", str(ready)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            _await(server, ready)
            yield ScriptedModel(**json.loads(ready.read_text()))
        finally:
            server.terminate()


def _await(server: subprocess.Popen[bytes], ready: Path) -> None:
    deadline = time.monotonic() + START_S
    while not ready.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise BenchFault("the scripted model did not come up")
        time.sleep(LOOK_S)
