"""A Postgres of the stack alone, in a folder that goes away again, migrated: for what needs a database and no more.

It runs as a child of the bench and ends with it.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

from bench.wire import BenchFault
from settings import inherited_environment
from stack import child, ports, postgres
from stack.layout import DataDir
from store.migrate import migrate

READY_S, LOOK_S = 60.0, 0.05


class Urls(NamedTuple):
    """A database by the URL of each role."""

    owner: str
    app: str
    relay: str


@contextmanager
def scratch_database() -> Iterator[Urls]:
    """Give a migrated database. Raises BenchFault where it does not come up."""
    home = Path(tempfile.mkdtemp(prefix="interlock-bench-"))
    home.chmod(0o755)  # the server runs as another user where the bench is root
    data = DataDir.at(home)
    data.prepare()
    cluster = postgres.prepare(data, ports.resolve({"--postgres-port": 0})["--postgres-port"], postgres.new_passwords())
    initdb, server = postgres.children(cluster, inherited_environment())
    running: Popen[bytes] | None = None
    try:
        if child.spawn(initdb, data.logs / "initdb.log").wait(READY_S) != 0 or initdb.then is None:
            raise BenchFault(f"initdb failed:\n{child.tail(data.logs / 'initdb.log')}")
        initdb.then()
        running = child.spawn(server, data.logs / "postgres.log")
        _await(running, server, data.logs / "postgres.log")
        postgres.make_roles(cluster)
        urls = Urls(*(cluster.url(role) for role in (postgres.OWNER, postgres.APP, postgres.RELAY)))
        migrate(urls.owner, urls.app, urls.relay)
        yield urls
    finally:
        if running is not None:
            child.end(running, server.stop_signal, server.stop_patience_s)
        shutil.rmtree(home, ignore_errors=True)


def _await(running: Popen[bytes], server: child.Child, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while server.ready is None or not server.ready():
        if running.poll() is not None or time.monotonic() > deadline:
            raise BenchFault(f"Postgres does not come up:\n{child.tail(log)}")
        time.sleep(LOOK_S)
