"""The doors of a running stack: its api and its shop over HTTP, and tokens by the command line.

Everything that a scene does to the world goes through here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from demo.tour.faults import CannotPlay, SceneFault

Json = dict[str, Any]

TOKEN_PATIENCE_S = 30
READY_FIELDS = ("api_url", "shop_url", "data_dir", "temporal_namespace")


class Answer(NamedTuple):
    """A status and the JSON that came with it; an empty object where none did."""

    status: int
    body: Json


def read_ready(path: Path) -> Json:
    """Return what a ready file says. Raises CannotPlay where it is not one."""
    try:
        ready = json.loads(path.read_text("utf-8"))
        missing = [name for name in READY_FIELDS if name not in ready]
    except FileNotFoundError:
        raise CannotPlay(f"{path} does not exist: start `interlock dev` first, it writes this file.") from None
    except (OSError, ValueError, TypeError) as error:
        raise CannotPlay(f"{path} is not the ready file of a running stack: {error}") from None
    if missing:
        raise CannotPlay(f"{path} is not the ready file of a running stack: it lacks {', '.join(missing)}.")
    return dict(ready)


class Stack:
    """One running stack."""

    def __init__(self, ready: Json) -> None:
        self.ready = ready
        self._http = httpx.Client(timeout=30, trust_env=False)
        self._tokens: dict[tuple[str, str, str], str] = {}

    def api(self, method: str, path: str, token: str, body: Json | None = None) -> Answer:
        """Return the api's answer. Raises CannotPlay where nothing answers."""
        return self._ask("api", method, self.ready["api_url"] + path, body, {"Authorization": f"Bearer {token}"})

    def shop(self, method: str, path: str, body: Json | None = None) -> Json:
        """Return what the shop says. Raises CannotPlay, and SceneFault where it refuses."""
        answer = self._ask("shop", method, self.ready["shop_url"] + path, body, {})
        if answer.status >= 400:
            raise SceneFault(f"the shop answers {answer.status} to {method} {path}")
        return answer.body

    def token(self, kind: str, tenant: str, ident: str) -> str:
        """Return a token, made once a run. Raises CannotPlay where the command line will not make one."""
        wanted = (kind, tenant, ident)
        if wanted not in self._tokens:
            self._tokens[wanted] = _mint(*wanted, self.ready["data_dir"])
        return self._tokens[wanted]

    def workflow_link(self, workflow_id: str) -> str | None:
        """Return where Temporal's UI shows a workflow, or None where the UI is off."""
        ui, namespace = self.ready.get("temporal_ui_url"), self.ready["temporal_namespace"]
        return f"{ui}/namespaces/{namespace}/workflows/{quote(workflow_id, safe='')}" if ui else None

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _ask(self, who: str, method: str, url: str, body: Json | None, headers: dict[str, str]) -> Answer:
        try:
            answer = self._http.request(method, url, json=body, headers=headers)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise CannotPlay(f"the {who} does not answer at {url}: {why}. Is `interlock dev` still running?") from None
        try:
            found = answer.json() if answer.content else {}
        except ValueError:
            found = {}
        return Answer(answer.status_code, found if isinstance(found, dict) else {})


def _mint(kind: str, tenant: str, ident: str, data_dir: str) -> str:
    beside = Path(sys.executable).with_name("interlock")
    command = [str(beside)] if beside.exists() else [sys.executable, "-m", "cli"]
    words = ["token", kind, "--tenant", tenant, "--id", ident, "--data-dir", data_dir]
    try:
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=TOKEN_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotPlay(f"`interlock token` cannot be run: {error}") from None
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise CannotPlay(f"`interlock token {kind}` ends with status {done.returncode}: {why}")
    return done.stdout.strip()
