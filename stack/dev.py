"""`interlock dev`: the whole stack as children of one command, from first look at the data folder to clean stop.

Everything here is order; what each step does stands in the module that it is named after.
"""

import json
import secrets as randomness
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from stack import environment, keys, leftovers, postgres
from stack.addresses import Addresses, Tour, Wishes, settle
from stack.child import Child, end
from stack.environment import Role, Secrets, child_environment
from stack.faults import OptionFault, StackFault
from stack.layout import DataDir, write_private
from stack.postgres import Cluster
from stack.ready import ReadyFile
from stack.roster import models_check, roster, tour, world_check
from stack.supervisor import WATCH_S, Supervisor
from stack.terminal import Terminal

SHOP_KEYS = ("SHOP_READ_KEY", "SHOP_WRITE_KEY")
OWN_KEYS = ("SESSION_KEY", "SECRETS_KEY")
Roster = Callable[
    [DataDir, Addresses, Cluster | None, Mapping[str, str], Callable[[Role], Mapping[str, str]]], Sequence[Child]
]


@dataclass(frozen=True)
class Programs:
    """What a stack is made of: its children, and the commands that play the tour and check what it is given."""

    roster: Roster = roster
    tour: Callable[[Path], Sequence[str]] = tour
    world_check: Callable[[Path], Sequence[str]] = world_check
    models_check: Callable[[], Sequence[str]] = models_check


PROGRAMS = Programs()


@dataclass
class StopRequest:
    """Counts the requests to stop: the first is heeded in order, the second in a hurry."""

    count: int = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        self.count += 1

    def asked(self) -> bool:
        """Tell whether a stop has been asked for."""
        return self.count > 0

    def urgent(self) -> bool:
        """Tell whether it has been asked for twice."""
        return self.count > 1

    def listen(self) -> None:
        """Heed SIGINT, SIGTERM and SIGHUP from now on."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self)


def run(wishes: Wishes, inherited: Mapping[str, str], programs: Programs = PROGRAMS) -> int:
    """Run the stack until it is told to stop; returns the exit status."""
    terminal, stop = Terminal(), StopRequest()
    stop.listen()
    try:
        return _run(wishes, inherited, programs, terminal, stop)
    except StackFault as fault:
        terminal.fault(fault)
        return fault.exit_code
    except PermissionError as error:
        terminal.fault(StackFault(f"{error.filename} may not be used by this user. Mend its owner, or use --data-dir."))
        return StackFault.exit_code


def _run(
    wishes: Wishes, inherited: Mapping[str, str], programs: Programs, terminal: Terminal, stop: StopRequest
) -> int:
    data = DataDir.at(wishes.data_dir)
    with data.held():
        data.prepare()
        terminal.found_leftovers(leftovers.end_all(data))
        addresses = settle(wishes)
        keys.ensure(data)
        stack = _assemble(wishes, data, addresses, inherited, programs, terminal)
        return stack.run(wishes.tour, stop)


@dataclass(frozen=True)
class Stack:
    """A stack that is ready to be started."""

    data: DataDir
    terminal: Terminal
    supervisor: Supervisor
    ready: ReadyFile
    environment: Mapping[str, str]
    programs: Programs
    announced: list[bool]  # empty until the ready file has been written

    def run(self, tour: Tour, stop: StopRequest) -> int:
        """Start everything, serve until asked to stop, stop everything; returns the exit status."""
        with ExitStack() as ending:
            ending.callback(leftovers.forget, self.data)
            ending.callback(self.supervisor.stop, stop.urgent)
            ending.callback(self.ready.remove)
            if not self.supervisor.start(stop.asked):
                return 0
            self.announced.append(True)
            self.ready.write(self.supervisor.pids())
            self.terminal.welcome(self.ready)
            if tour is not Tour.NONE:
                status = self._play(stop)
                if tour is Tour.ONLY:
                    return status
                self.terminal.welcome(self.ready)  # again: the tour has scrolled it away
            self.supervisor.watch(stop.asked)
            self.terminal.say("Stopping")
            return 0

    def _play(self, stop: StopRequest) -> int:
        """Play the tour on this terminal while the children are watched; returns its exit status."""
        process = subprocess.Popen(
            self.programs.tour(self.ready.path), env=dict(self.environment), stdin=subprocess.DEVNULL
        )
        while process.poll() is None:
            if stop.asked():
                end(process, signal.SIGTERM, patience_s=3.0)
                return 1
            self.supervisor.tick()
            time.sleep(WATCH_S)
        if process.returncode != 0:
            self.terminal.say(f"The tour ended with status {process.returncode}.", "yellow")
        return process.returncode if process.returncode >= 0 else 1


def _assemble(
    wishes: Wishes,
    data: DataDir,
    addresses: Addresses,
    inherited: Mapping[str, str],
    programs: Programs,
    terminal: Terminal,
) -> Stack:
    if inherited.get("INTERLOCK_MODEL") == "openai":
        _check_models(programs.models_check(), inherited)
    if wishes.shop_world is not None:
        _keep_world(wishes.shop_world, data, programs.world_check(wishes.shop_world), inherited)
    kept = _kept_secrets(data)
    cluster = postgres.prepare(data, addresses.postgres_port, kept) if addresses.postgres_port else None
    secrets = _secrets(wishes, cluster, kept)
    environment.record(data, addresses, secrets)
    ready = ReadyFile(wishes.ready_file or data.ready, data, addresses, secrets.database_url)
    ready.remove()
    announced: list[bool] = []

    def on_pids(pids: Mapping[str, int]) -> None:
        leftovers.record(data, pids)
        if announced:
            ready.write(pids)

    children = programs.roster(
        data,
        addresses,
        cluster,
        {name: kept[name] for name in SHOP_KEYS},
        lambda role: child_environment(role, data, addresses, secrets, inherited),
    )
    supervisor = Supervisor(children, data.logs, terminal, on_pids)
    return Stack(data, terminal, supervisor, ready, inherited, programs, announced)


def _check_models(check: Sequence[str], env: Mapping[str, str]) -> None:
    """Look at models.toml before anything is started. Raises OptionFault with what is wrong with it."""
    checked = subprocess.run(check, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if checked.returncode != 0:
        told = checked.stderr.strip() or f"the check of the models ended with status {checked.returncode}"
        raise OptionFault(f"INTERLOCK_MODEL=openai: {told}")


def _keep_world(world: Path, data: DataDir, check: Sequence[str], env: Mapping[str, str]) -> None:
    """Keep the demo shop's world beside its data, for its first start and its resets; raises `OptionFault`.

    It is kept only once a shop has loaded it: one that no shop can load would keep this folder from ever starting.
    """
    if data.shop.exists():
        raise OptionFault("The shop of this data folder has a world already: give --shop-world with a new --data-dir.")
    checked = subprocess.run(check, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if checked.returncode != 0:
        told = (checked.stderr.strip().splitlines() or [f"the check ended with status {checked.returncode}"])[-1]
        raise OptionFault(f"--shop-world: {told}")
    try:
        part = data.shop_world.with_suffix(".part")
        shutil.copyfile(world, part)
        part.replace(data.shop_world)
    except OSError as fault:
        raise OptionFault(f"--shop-world {world}: {fault.strerror or fault}.") from None


def _kept_secrets(data: DataDir) -> dict[str, str]:
    """Return the generated passwords and keys of `data`, made at the first start and kept; raises `StackFault`.

    Keys that a folder of an earlier version lacks are made now.
    """
    if data.secrets.exists():
        try:
            known = {str(name): str(value) for name, value in json.loads(data.secrets.read_text()).items()}
        except (ValueError, AttributeError):
            raise StackFault(
                f"{data.secrets} is damaged. Put it back from a copy, or use another --data-dir."
            ) from None
        kept = {**_new_keys(OWN_KEYS), **known}
        if kept != known:
            write_private(data.secrets, kept)
        return kept
    if data.postgres.exists():
        raise StackFault(f"{data.secrets} is missing, and with it the passwords of the database in {data.postgres}.")
    made = {**postgres.new_passwords(), **_new_keys(SHOP_KEYS + OWN_KEYS)}
    write_private(data.secrets, made)
    return made


def _new_keys(names: Sequence[str]) -> dict[str, str]:
    return {name: randomness.token_urlsafe(32) for name in names}


def _secrets(wishes: Wishes, cluster: Cluster | None, kept: Mapping[str, str]) -> Secrets:
    if cluster is not None:
        app, owner, relay = (cluster.url(role) for role in (postgres.APP, postgres.OWNER, postgres.RELAY))
    elif wishes.database_url and wishes.owner_url:
        app, owner, relay = wishes.database_url, wishes.owner_url, wishes.relay_url or wishes.owner_url
    else:
        raise OptionFault("--database-url needs --owner-url beside it: the login that owns the tables and may migrate.")
    return Secrets(app, owner, relay, *(kept[name] for name in SHOP_KEYS + OWN_KEYS))
