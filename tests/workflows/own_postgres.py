"""A Postgres server that a law may stop and start: the embedded one, in a folder of its own."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import Popen

from stack import child, ports
from stack import postgres as embedded
from stack.layout import DataDir
from store.migrate import migrate
from tests.postgres import QUICK, Postgres, _await_ready, _run_to_its_end
from tests.workflows.servers import furnish


@dataclass
class OwnPostgres:
    """One embedded server and its database."""

    program: child.Child
    log: Path
    database: Postgres
    process: Popen[bytes] | None = None

    def start(self) -> None:
        self.process = child.spawn(self.program, self.log)
        _await_ready(self.process, self.program, self.log)

    def stop(self) -> None:
        if self.process is not None:
            child.end(self.process, self.program.stop_signal, self.program.stop_patience_s)


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """Give a running, migrated and furnished server; it is gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="interlock-own-"))
    home.chmod(0o755)
    data = DataDir.at(home)
    data.prepare()
    port = ports.resolve({"--postgres-port": 0})["--postgres-port"]
    cluster = embedded.prepare(data, port, embedded.new_passwords())
    initdb, program = embedded.children(cluster, dict(os.environ))
    urls = [cluster.url(role) for role in (embedded.ADMIN, embedded.OWNER, embedded.APP, embedded.RELAY)]
    server = OwnPostgres(replace(program, argv=(*program.argv, *QUICK)), data.logs / "postgres.log", Postgres(*urls))
    try:
        _run_to_its_end(initdb, data.logs / "initdb.log")
        server.start()
        embedded.make_roles(cluster)
        migrate(server.database.owner_url, server.database.app_url, server.database.relay_url)
        furnish(server.database)
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)
