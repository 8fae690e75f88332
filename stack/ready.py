"""The ready file: where everything of a running stack is, for scripts and tests.

It appears in one rename once all is ready, follows every change of a pid, and goes when the stack stops.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.addresses import TEMPORAL_NAMESPACE, Addresses
from stack.faults import StackFault
from stack.layout import DataDir, write_private

SERVING = ("api", "worker", "temporal", "postgres", "shop")


@dataclass(frozen=True)
class ReadyFile:
    """The ready file of one stack at `path`."""

    path: Path
    data: DataDir
    addresses: Addresses
    database_url: str

    def write(self, pids: Mapping[str, int]) -> None:
        """Put the present state there; readable by its owner alone, since the database URL holds a password."""
        write_private(self.path, self.content(pids))

    def content(self, pids: Mapping[str, int]) -> dict[str, Any]:
        """Return what the file says; the pid of a Postgres that is not ours is null."""
        return {
            "api_url": self.addresses.api_url,
            "shop_url": self.addresses.shop_url,
            "temporal_address": self.addresses.temporal_address,
            "temporal_namespace": TEMPORAL_NAMESPACE,
            "temporal_ui_url": self.addresses.temporal_ui_url,
            "database_url": self.database_url,
            "data_dir": str(self.data.root),
            "logs_dir": str(self.data.logs),
            "jwks": str(self.data.keys / "jwks.json"),
            "pid": os.getpid(),
            "pids": {name: pids.get(name) for name in SERVING},
        }

    def remove(self) -> None:
        """Take the file away."""
        self.path.unlink(missing_ok=True)


def data_dir_of(ready: Path) -> Path:
    """Return the data folder that a ready file names; raises `StackFault` where there is none."""
    try:
        return Path(json.loads(ready.read_text())["data_dir"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StackFault(f"{ready} is not the ready file of a running stack.") from None
