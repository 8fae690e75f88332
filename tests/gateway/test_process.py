"""The api as a process: it says when it serves, stops when told, and says in one line why it cannot start."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import api
from gateway.keys import KEY_SET_BYTES_MAX, KeySet, Pace, Unread
from policy.bundle import Bundle
from tests.gateway.conftest import Publish
from tests.gateway.issuer import AUDIENCE, ISSUER, Issuer
from tests.postgres import Postgres
from tests.store.world import Talk

RUN = "import sys, pathlib, api, settings; sys.exit(api.run(settings.load(), pathlib.Path(sys.argv[1])))"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def start(postgres: Postgres, issuer: Issuer, port: int, ready: Path) -> subprocess.Popen[str]:
    env = {
        **os.environ,
        "INTERLOCK_DATABASE_URL": postgres.app_url,
        "INTERLOCK_JWKS": str(issuer.path),
        "INTERLOCK_JWT_ISSUER": ISSUER,
        "INTERLOCK_JWT_AUDIENCE": AUDIENCE,
        "INTERLOCK_API_PORT": str(port),
        "INTERLOCK_TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}",
    }
    return subprocess.Popen([sys.executable, "-c", RUN, str(ready)], env=env, stderr=subprocess.PIPE, text=True)


def wait_for(ready: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not ready.exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ask(port: int, method: str, path: str, token: str | None = None, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    told = answer.status, json.loads(answer.read())
    connection.close()
    return told


async def test_the_api_serves_without_temporal_and_stops_when_told(
    postgres: Postgres, issuer: Issuer, tmp_path: Path, talk: Talk, publish: Publish
) -> None:
    publish(talk.tenant, Bundle.load())
    port, ready = free_port(), tmp_path / "api.ready"
    process = start(postgres, issuer, port, ready)
    try:
        wait_for(ready, process)
        assert ask(port, "GET", "/healthz") == (200, {"status": "alive"})
        status, told = ask(port, "GET", "/readyz")
        assert (status, told["dependencies"]) == (503, {"postgres": "ok", "temporal": "failing", "keys": "ok"})
        token, path = issuer.token(talk.customer), f"/conversations/{talk.id}"
        said = ask(port, "POST", f"{path}/messages", token, {"client_message_id": "m", "text": "private text"})
        assert said == (202, {"seq": 1, "version": 1, "duplicate": False})
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        stream.request(
            "GET", f"{path}/events", None, {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        )
        streaming = stream.getresponse()
        assert streaming.status == 200
        assert ask(port, "POST", f"{path}/messages", token, {"client_message_id": "n", "text": "x"})[0] == 202
        while streaming.readline() != b"id: 2\n":
            pass
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=20)
        assert process.returncode == 0, logged
        assert "private text" not in logged
        assert token not in logged
        streaming.close()
        stream.close()
    finally:
        process.kill()


def test_a_port_that_is_taken_is_said_in_one_line(postgres: Postgres, issuer: Issuer, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start(postgres, issuer, port, tmp_path / "ready")
        _, told = process.communicate(timeout=60)
        assert process.returncode == 2
        assert told.splitlines() == [
            f"interlock api: 127.0.0.1:{port} is in use by another process; "
            "set INTERLOCK_API_HOST and INTERLOCK_API_PORT"
        ]


class KeyServer(BaseHTTPRequestHandler):
    body: bytes = b""
    status: int = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def key_server() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), KeyServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/jwks.json"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_keys_come_from_a_url_and_outlive_its_absence(key_server: str, issuer: Issuer) -> None:
    eager = Pace(refresh_s=0.0, retry_s=0.0, trusted_s=0.0)
    keys = KeySet(api.url_reader(key_server), eager)
    KeyServer.body, KeyServer.status = issuer.path.read_bytes(), 200
    assert await keys.find(issuer.kid) is not None
    for body, status in ((b"", 500), (b"{", 200), (b" " * (KEY_SET_BYTES_MAX + 1), 200), (b"", 302)):
        KeyServer.body, KeyServer.status = body, status
        assert await keys.find(issuer.kid) is not None
    old = issuer.rotate(keep=False)
    KeyServer.body, KeyServer.status = issuer.path.read_bytes(), 200
    assert await keys.find(issuer.kid) is not None
    assert await keys.find(old) is None


async def test_a_url_that_answers_nothing_is_unread() -> None:
    with pytest.raises(Unread):
        await api.url_reader(f"http://127.0.0.1:{free_port()}/")()
