"""The server as a process of its own, for tests and benches: started, switched, asked what it was asked, stopped."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
STARTS_WITHIN_S = 20.0


@dataclass(frozen=True)
class ScriptedModel:
    """A running server: `base_url` is what a client of the OpenAI protocol is given."""

    base_url: str
    control_url: str

    def play(self, script: str) -> None:
        """Switch to `script`; what was asked before is forgotten."""
        httpx.post(f"{self.control_url}/_script", json={"name": script}).raise_for_status()

    def asked(self) -> list[dict[str, Any]]:
        """The last requests since the switch: `{body, authorization}` each."""
        found: list[dict[str, Any]] = httpx.get(f"{self.control_url}/_asked").json()["asked"]
        return found


@contextmanager
def scripted_model(folder: Path, script: str = "good") -> Iterator[ScriptedModel]:
    """Run the server on a free port; `folder` gets its ready file."""
    ready = folder / "scripted-model.json"
    words = [sys.executable, "-m", "tests.scripted_model", "--script", script, "--ready-file", str(ready)]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            end = time.monotonic() + STARTS_WITHIN_S
            while not ready.exists():
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("the scripted model did not come up")
                time.sleep(0.02)
            yield ScriptedModel(**json.loads(ready.read_text()))
        finally:
            server.terminate()
