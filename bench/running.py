"""The stack that is measured: `interlock dev` in a data folder of its own, and what it says about itself.

Only its rate limits are raised, since one bench sends what many customers would.
"""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.wire import BenchFault
from settings import inherited_environment
from stack.environment import recorded
from stack.layout import DataDir

START_S, STOP_S, LOOK_S = 120.0, 40.0, 0.1
RATES = {
    "INTERLOCK_CUSTOMER_MESSAGES_PER_MINUTE_MAX": "1000000",
    "INTERLOCK_TENANT_REQUESTS_PER_SECOND_MAX": "100000",
    "INTERLOCK_SSE_STREAMS_PER_PRINCIPAL_MAX": "100",
    "INTERLOCK_LOG_LEVEL": "warning",
}
ANY_PORT = [w for name in ("api", "shop", "temporal", "temporal-ui", "postgres") for w in (f"--{name}-port", "0")]


@dataclass(frozen=True)
class Running:
    """Where everything of a running stack is."""

    api_url: str
    shop_url: str
    temporal_address: str
    temporal_namespace: str
    owner_url: str
    data_dir: Path
    pids: Mapping[str, int]


@asynccontextmanager
async def running(data_dir: Path, told: Mapping[str, str] | None = None) -> AsyncIterator[Running]:
    """Start a stack, with further variables, and stop it in the end. Raises BenchFault where it does not come up."""
    ready, log = data_dir.with_name("ready.json"), data_dir.with_name("dev.log")
    process = _started(data_dir, ready, log, told or {})
    try:
        await _until_ready(process, ready, log)
        yield _told(ready)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(_wait, process)


def _started(data_dir: Path, ready: Path, log: Path, told: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cli", "dev", "--data-dir", str(data_dir), "--ready-file", str(ready), *ANY_PORT]
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=inherited_environment() | RATES | dict(told),
            start_new_session=True,  # Ctrl-C reaches the bench alone, which then stops the stack in order
        )


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()


async def _until_ready(process: subprocess.Popen[bytes], ready: Path, log: Path) -> None:
    deadline = asyncio.get_running_loop().time() + START_S
    while not _exists(ready):
        if process.poll() is not None or asyncio.get_running_loop().time() > deadline:
            raise BenchFault(f"the stack did not come up:\n{_tail(log)}")
        await asyncio.sleep(LOOK_S)


def _exists(path: Path) -> bool:
    return path.exists()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").strip().splitlines()[-15:])


def _told(ready: Path) -> Running:
    said = json.loads(ready.read_text())
    data_dir = Path(said["data_dir"])
    pids = {name: pid for name, pid in said["pids"].items() if pid is not None}
    return Running(
        api_url=said["api_url"],
        shop_url=said["shop_url"],
        temporal_address=said["temporal_address"],
        temporal_namespace=said["temporal_namespace"],
        owner_url=recorded(DataDir.at(data_dir))["INTERLOCK_DATABASE_OWNER_URL"],
        data_dir=data_dir,
        pids=pids,
    )
