"""The data folder of one embedded stack: what lies where, of which format, and who is using it.

Nothing else in this room joins paths below the data folder.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from stack.faults import StackFault

FORMAT_VERSION = "1"


@dataclass(frozen=True)
class DataDir:
    """The paths below one data folder; `root` is absolute."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "DataDir":
        """Return the layout of the folder at `path`, which need not exist."""
        return cls(path.expanduser().resolve())

    @property
    def version(self) -> Path:
        """The file that names the format of the folder."""
        return self.root / "version"

    @property
    def lock(self) -> Path:
        """The file that a running stack holds locked, with its pid inside."""
        return self.root / "lock"

    @property
    def secrets(self) -> Path:
        """Generated passwords and keys; readable by its owner alone."""
        return self.root / "secrets.json"

    @property
    def environment(self) -> Path:
        """The settings of the running or last stack, for the commands that are given only its data folder."""
        return self.root / "environment.json"

    @property
    def children(self) -> Path:
        """The processes that a stack has started, to find those that outlived it."""
        return self.root / "children.json"

    @property
    def seeded(self) -> Path:
        """Exists once the demo world has been put in."""
        return self.root / "seeded"

    @property
    def ready(self) -> Path:
        """The ready file, where no other was asked for."""
        return self.root / "ready.json"

    @property
    def keys(self) -> Path:
        """The folder of the key that signs tokens, and its public half."""
        return self.root / "keys"

    @property
    def people(self) -> Path:
        """Who may sign in to the demo without a password; written by `interlock seed`."""
        return self.root / "people.json"

    @property
    def logs(self) -> Path:
        """The folder with one log a child."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """The folder of what matters only while the stack runs: sockets and children's ready files."""
        return self.root / "run"

    @property
    def postgres(self) -> Path:
        """Postgres's own folder."""
        return self.root / "postgres"

    @property
    def temporal(self) -> Path:
        """Temporal's database file."""
        return self.root / "temporal" / "temporal.db"

    @property
    def shop(self) -> Path:
        """The demo shop's database file."""
        return self.root / "shop" / "shop.db"

    @property
    def shop_world(self) -> Path:
        """The demo shop's world, where it was given another than its own."""
        return self.root / "shop" / "world.json"

    def prepare(self) -> None:
        """Make the folders and name the format; raises `StackFault` where another format lies there."""
        _refuse_other_format(self)
        for folder in (self.root, self.logs, self.run, self.temporal.parent, self.shop.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self.version.write_text(FORMAT_VERSION + "\n")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this process; raises `StackFault` naming the process that has it already."""
        with self._open_lock() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise StackFault(
                    f"{self.root} is in use by another `interlock dev`, process {file.read().strip() or 'unknown'}. "
                    "Stop that one, or give this one another folder with --data-dir."
                ) from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield
            file.truncate(0)

    def _open_lock(self) -> TextIO:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            return self.lock.open("a+")
        except OSError as error:
            raise StackFault(
                f"{self.root} cannot hold data: {error.strerror}. Choose another with --data-dir."
            ) from None


def write_private(path: Path, content: Any) -> None:
    """Put `content` as JSON at `path` in one rename, readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(content, file, indent=2)
        file.write("\n")
    draft.replace(path)


def _refuse_other_format(data: DataDir) -> None:
    if data.version.exists():
        found = data.version.read_text(errors="replace").strip() or "(empty)"
        if found != FORMAT_VERSION:
            raise StackFault(
                f"{data.root} has data format {found[:40]}; this Interlock reads and writes format {FORMAT_VERSION}. "
                "Use the Interlock that made it, or choose another folder with --data-dir."
            )
    elif any(part.exists() for part in (data.postgres, data.temporal, data.keys)):
        raise StackFault(
            f"{data.root} holds data, yet no `version` file that names its format. "
            "Put the folder back whole from where it came, or choose another with --data-dir."
        )
