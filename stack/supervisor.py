"""Starts children in the order of their needs, restarts those that die, stops all in reverse.

One loop does everything, one look at each child per tick; nothing here knows what the children are.
"""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, assert_never

from stack.child import Child, describe_exit, end, kill_group, spawn, tail
from stack.faults import ChildFault

TICK_S = 0.03
WATCH_S = 0.2
PAUSE_S_MIN = 0.5
PAUSE_S_MAX = 30.0
STEADY_S = 30.0


class Phase(Enum):
    """Where a child is in its life."""

    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    DONE = "done"
    RESTING = "resting"


class Voice(Protocol):
    """Is told what happens to the children."""

    def ready(self, name: str, took_s: float, again: bool) -> None:
        """A child serves, or a step is done; `again` after a restart."""

    def died(self, name: str, how: str, pause_s: float) -> None:
        """A child has ended by itself and comes again after a pause."""

    def stopping(self, name: str, patient: bool) -> None:
        """A child has been stopped; `patient` is False where it had to be killed."""


@dataclass
class Charge:
    """A child in care."""

    child: Child
    log: Path
    phase: Phase = Phase.WAITING
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0  # of the present phase
    deaths: int = 0  # in a row, without a steady time between
    proven: bool = False  # has been ready once

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    def enter(self, phase: Phase) -> None:
        """Begin `phase` now."""
        self.phase, self.since = phase, time.monotonic()

    def lasted_s(self) -> float:
        """Return how long the present phase has lasted."""
        return time.monotonic() - self.since


class Supervisor:
    """Keeps the children of one roster; `on_pids` is called with `{name: pid}` whenever a pid changes."""

    def __init__(
        self, roster: Sequence[Child], logs: Path, voice: Voice, on_pids: Callable[[Mapping[str, int]], None]
    ) -> None:
        self._charges = [Charge(child, logs / f"{child.name}.log") for child in roster]
        self._voice = voice
        self._on_pids = on_pids

    def start(self, stop_asked: Callable[[], bool]) -> bool:
        """Return True once every child is ready, False where a stop was asked for; raises `ChildFault`."""
        while not self._all_up():
            if stop_asked():
                return False
            self.tick()
            time.sleep(TICK_S)
        return True

    def watch(self, until: Callable[[], bool]) -> None:
        """Keep the children running until `until` says so."""
        while not until():
            self.tick()
            time.sleep(WATCH_S)

    def tick(self) -> None:
        """Look at each child once and do what its state asks for."""
        for charge in self._charges:
            match charge.phase:
                case Phase.WAITING:
                    if self._needs_are_met(charge):
                        self._spawn(charge)
                case Phase.STARTING:
                    self._look_at_start(charge)
                case Phase.READY:
                    if not charge.alive:
                        self._rest(charge)
                case Phase.RESTING:
                    if charge.lasted_s() >= pause_s(charge.deaths):
                        self._spawn(charge)
                case Phase.DONE:
                    pass
                case _:
                    assert_never(charge.phase)

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """End every child, the last of the roster first; `hurry` is asked all along, and spares the patience."""
        for charge in reversed(self._charges):
            if charge.process is None:
                continue
            if not charge.alive:
                kill_group(charge.process)
                continue
            patient = end(charge.process, charge.child.stop_signal, charge.child.stop_patience_s, hurry)
            self._voice.stopping(charge.child.name, patient)

    def pids(self) -> dict[str, int]:
        """Return the pid of each child that is meant to stay."""
        return {
            charge.child.name: charge.process.pid
            for charge in self._charges
            if charge.process is not None and charge.child.ready is not None
        }

    def _all_up(self) -> bool:
        return all(charge.phase in (Phase.READY, Phase.DONE) for charge in self._charges)

    def _needs_are_met(self, charge: Charge) -> bool:
        met = {other.child.name for other in self._charges if other.proven}
        return met.issuperset(charge.child.after)

    def _spawn(self, charge: Charge) -> None:
        charge.enter(Phase.STARTING)
        charge.process = spawn(charge.child, charge.log)
        self._on_pids(self.pids())

    def _look_at_start(self, charge: Charge) -> None:
        process, probe = charge.process, charge.child.ready
        assert process is not None
        code = process.poll()
        if code is not None:
            self._settle_exit(charge, code)
        elif probe is not None and probe():
            self._welcome(charge, Phase.READY)
        elif charge.lasted_s() > charge.child.deadline_s:
            end(process, charge.child.stop_signal, patience_s=2.0)
            self._fail(charge, f"was not ready within {charge.child.deadline_s:g} s")

    def _settle_exit(self, charge: Charge, code: int) -> None:
        if code == 0 and charge.child.ready is None:
            self._welcome(charge, Phase.DONE)
        else:
            self._fail(charge, describe_exit(code) + " while starting")

    def _welcome(self, charge: Charge, phase: Phase) -> None:
        again, took_s = charge.proven, charge.lasted_s()
        if charge.child.then is not None and not again:
            charge.child.then()
        charge.proven = True
        charge.enter(phase)
        self._voice.ready(charge.child.name, took_s, again)

    def _fail(self, charge: Charge, why: str) -> None:
        """A start has failed: fatal the first time, one more death afterwards."""
        if not charge.proven:
            raise ChildFault(charge.child.name, why, str(charge.log), tail(charge.log))
        self._rest(charge, why)

    def _rest(self, charge: Charge, why: str | None = None) -> None:
        process = charge.process
        assert process is not None
        kill_group(process)
        steady = charge.phase is Phase.READY and charge.lasted_s() >= STEADY_S
        charge.deaths = 1 if steady else charge.deaths + 1
        charge.enter(Phase.RESTING)
        self._voice.died(charge.child.name, why or describe_exit(process.wait()), pause_s(charge.deaths))


def pause_s(deaths: int) -> float:
    """Return how long to wait before a restart after so many deaths in a row: doubling, up to half a minute."""
    return float(min(PAUSE_S_MAX, PAUSE_S_MIN * 2 ** max(0, min(deaths, 10) - 1)))
