"""Laws of the supervisor, over real small children: order, restarts, deadlines, stops."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from stack.child import Child
from stack.faults import ChildFault
from stack.supervisor import PAUSE_S_MAX, Supervisor, pause_s
from tests.stack.standins import DIES, NEVER_READY, SLEEPER, STUBBORN, Ears, is_alive, python, standin, step, wait_until


class Yard:
    """Supervisors over one folder, all stopped at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ears = Ears()
        self.pids: list[Mapping[str, int]] = []
        self.made: list[Supervisor] = []

    def supervisor(self, *children: Child) -> Supervisor:
        """Return a supervisor of `children`."""
        self.made.append(Supervisor(children, self.folder, self.ears, self.pids.append))
        return self.made[-1]


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    yard = Yard(tmp_path)
    yield yard
    for supervisor in yard.made:
        supervisor.stop(lambda: True)


def never() -> bool:
    return False


def test_children_start_in_the_order_of_their_needs(yard: Yard) -> None:
    last = standin("last", yard.folder, after=("middle",))
    middle = step("middle", "pass", after=("first",))
    first = standin("first", yard.folder)
    assert yard.supervisor(last, middle, first).start(never)
    assert [name for _, name, _ in yard.ears.heard] == ["first", "middle", "last"]


def test_what_comes_after_a_child_waits_for_what_is_done_when_it_is_ready(yard: Yard) -> None:
    mark = yard.folder / "mark"
    first = standin("first", yard.folder, then=mark.touch)
    second = step(
        "second", f"import sys, pathlib; sys.exit(not pathlib.Path({str(mark)!r}).exists())", after=("first",)
    )
    assert yard.supervisor(first, second).start(never)


def test_a_child_that_dies_comes_back_with_another_pid(yard: Yard) -> None:
    supervisor = yard.supervisor(standin("worker", yard.folder))
    supervisor.start(never)
    before = supervisor.pids()["worker"]
    os.kill(before, signal.SIGKILL)
    supervisor.watch(until=lambda: ("ready", "worker", True) in yard.ears.heard)
    after = supervisor.pids()["worker"]
    assert after != before
    assert yard.pids[-1] == {"worker": after}
    assert ("died", "worker", "was ended by SIGKILL") in yard.ears.heard


def test_a_restart_that_fails_is_tried_again(yard: Yard) -> None:
    luck = yard.folder / "luck"
    code = (
        f"import sys, time, pathlib; luck = pathlib.Path({str(luck)!r});"
        "n = len(luck.read_text()) if luck.exists() else 0; luck.write_text('x' * (n + 1));"
        "n == 1 and sys.exit(4); pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
    )
    supervisor = yard.supervisor(standin("api", yard.folder, code))
    supervisor.start(never)
    os.kill(supervisor.pids()["api"], signal.SIGKILL)
    supervisor.watch(until=lambda: ("ready", "api", True) in yard.ears.heard)
    assert ("died", "api", "exited with status 4 while starting") in yard.ears.heard


def test_pauses_double_up_to_a_limit() -> None:
    assert [pause_s(deaths) for deaths in range(1, 5)] == [0.5, 1.0, 2.0, 4.0]
    assert pause_s(1_000_000) == PAUSE_S_MAX


def test_a_child_that_will_not_start_fails_with_the_tail_of_its_log(yard: Yard) -> None:
    with pytest.raises(ChildFault, match="shop exited with status 3 while starting") as caught:
        yard.supervisor(standin("shop", yard.folder, DIES)).start(never)
    assert caught.value.tail == "the cause of it all"


def test_a_step_that_fails_is_a_child_that_will_not_start(yard: Yard) -> None:
    with pytest.raises(ChildFault, match="migrate exited with status 3"):
        yard.supervisor(step("migrate", DIES)).start(never)


def test_a_program_that_is_not_there_is_a_child_that_will_not_start(yard: Yard) -> None:
    with pytest.raises(ChildFault) as caught:
        yard.supervisor(Child("ghost", ("/no/such/program",), env={})).start(never)
    assert "No such file" in caught.value.tail


def test_a_child_that_never_gets_ready_fails_at_its_deadline_and_is_ended(yard: Yard) -> None:
    supervisor = yard.supervisor(standin("slow", yard.folder, NEVER_READY, deadline_s=1.0))
    with pytest.raises(ChildFault, match="was not ready within 1 s") as caught:
        supervisor.start(never)
    assert caught.value.tail == "warming up for ever"
    assert not is_alive(yard.pids[0]["slow"])


def test_a_stop_during_the_start_is_heeded(yard: Yard) -> None:
    assert yard.supervisor(standin("slow", yard.folder, NEVER_READY)).start(lambda: bool(yard.pids)) is False


def test_children_are_stopped_in_reverse_order(yard: Yard) -> None:
    supervisor = yard.supervisor(standin("one", yard.folder), standin("two", yard.folder))
    supervisor.start(never)
    supervisor.stop()
    assert [row[:2] for row in yard.ears.heard[-2:]] == [("stopped", "two"), ("stopped", "one")]


def test_a_child_that_does_not_stop_when_asked_is_killed(yard: Yard) -> None:
    supervisor = yard.supervisor(standin("deaf", yard.folder, STUBBORN, stop_patience_s=0.3))
    supervisor.start(never)
    pid = supervisor.pids()["deaf"]
    supervisor.stop()
    assert ("stopped", "deaf", False) in yard.ears.heard
    assert not is_alive(pid)


def test_an_old_ready_file_does_not_pass_for_readiness(yard: Yard) -> None:
    (yard.folder / "slow.ready").touch()
    with pytest.raises(ChildFault):
        yard.supervisor(standin("slow", yard.folder, NEVER_READY, deadline_s=0.5)).start(never)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
def test_children_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    code = f"""
import pathlib, sys
from stack.child import Child, spawn
child = Child("sleeper", {python(SLEEPER, str(tmp_path / "up"))!r}, env={{}})
print(spawn(child, pathlib.Path({str(tmp_path / "log")!r})).pid, flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        wait_until((tmp_path / "up").exists)
        parent.kill()
    wait_until(lambda: not is_alive(child), timeout_s=5)
