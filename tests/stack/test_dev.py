"""Laws of `interlock dev` as its caller sees it: ready file, exit status, messages, what a kill leaves behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack.standins import is_alive, wait_until

ROOT = Path(__file__).parents[2]


class Dev:
    """Runs of a small stack over one data folder."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.ready_file = folder / "ready.json"
        self.runs: list[subprocess.Popen[str]] = []

    def start(self, *more: str) -> subprocess.Popen[str]:
        """Start another run."""
        command = [sys.executable, "-m", "tests.stack.small_dev", str(self.data), str(self.ready_file), *more]
        self.runs.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return self.runs[-1]

    def up(self, *more: str) -> subprocess.Popen[str]:
        """Start another run and wait until it is ready."""
        run = self.start(*more)
        wait_until(lambda: self.ready_file.exists() or run.poll() is not None)
        assert run.poll() is None, run.communicate()
        return run

    def ready(self) -> dict[str, Any]:
        """Return what the ready file says."""
        content: dict[str, Any] = json.loads(self.ready_file.read_text())
        return content


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    dev = Dev(tmp_path)
    yield dev
    for run in dev.runs:
        run.kill()
        run.communicate()


def test_the_ready_file_says_where_everything_is(dev: Dev) -> None:
    dev.up()
    ready = dev.ready()
    assert ready["database_url"] == "postgresql://app@nowhere/interlock"
    assert ready["data_dir"] == str(dev.data.resolve())
    assert ready["temporal_namespace"] == "default"
    assert all(ready[name].startswith("http://127.0.0.1:") for name in ("api_url", "shop_url", "temporal_ui_url"))
    assert list(ready["pids"]) == ["api", "worker", "temporal", "postgres", "shop"]
    assert ready["pids"]["postgres"] is None
    assert all(is_alive(pid) for name, pid in ready["pids"].items() if name != "postgres")
    assert dev.ready_file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_clean_and_leaves_no_process_and_no_ready_file(dev: Dev, how: signal.Signals) -> None:
    run = dev.up()
    pids = [pid for pid in dev.ready()["pids"].values() if pid]
    run.send_signal(how)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, err) == (0, "")
    assert "Interlock is ready" in out
    assert not dev.ready_file.exists()
    assert not [pid for pid in pids if is_alive(pid)]


def test_a_killed_child_comes_back_and_the_ready_file_follows(dev: Dev) -> None:
    run = dev.up()
    before = dev.ready()["pids"]["worker"]
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: dev.ready()["pids"]["worker"] != before)
    run.send_signal(signal.SIGTERM)
    out, _ = run.communicate(timeout=30)
    assert "worker     was ended by SIGKILL; starting it again in 0.5 s" in out


def test_a_child_that_will_not_start_ends_everything_with_its_log(dev: Dev) -> None:
    dev.data.mkdir()
    (dev.data / "fail").touch()
    run = dev.start()
    _, err = run.communicate(timeout=30)
    assert run.returncode == 1
    assert "migrate exited with status 3 while starting" in err
    assert "| the cause of it all" in err
    assert "Traceback" not in err


def test_a_port_in_use_is_told_with_its_flag_and_status_two(dev: Dev) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        run = dev.start("none", "0", str(port))
        _, err = run.communicate(timeout=30)
    assert run.returncode == 2
    assert f"Port {port} is in use" in err
    assert "--api-port" in err


def test_models_that_cannot_be_asked_are_told_before_anything_is_started(
    dev: Dev, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / "models.toml"
    models.write_text("currency = 'EUR'\n")
    monkeypatch.setenv("INTERLOCK_MODEL", "openai")
    monkeypatch.setenv("INTERLOCK_MODELS_FILE", str(models))
    run = dev.start("none")
    _, err = run.communicate(timeout=30)
    assert (run.returncode, f"{models}: roles: is missing" in err, "Traceback" in err) == (2, True, False)


CONTRARY = {"id": "t", "kind": "saas", "currency": "EUR", "customers": [{"id": "c", "orders": [{"id": "o"}] * 2}]}


@pytest.mark.parametrize(
    "content",
    [
        None,
        "not JSON",
        "[]",
        '{"tenants": 1}',
        '{"users": {}, "orders": {"o": {}}}',
        json.dumps({"tenants": [CONTRARY]}),
    ],
)
def test_a_world_that_no_shop_can_load_is_refused_and_does_not_stay(
    dev: Dev, tmp_path: Path, content: str | None
) -> None:
    world = tmp_path / "world.json"
    if content is not None:
        world.write_text(content)
    run = dev.start("none", "0", "0", str(world))
    _, err = run.communicate(timeout=30)
    assert (run.returncode, f"--shop-world: world file {world}: " in err, "Traceback" in err) == (2, True, False)
    assert not list((dev.data / "shop").iterdir())
    fine = json.dumps({"tenants": [CONTRARY | {"customers": []}]})
    world.write_text(fine)
    dev.up("none", "0", "0", str(world))
    assert (dev.data / "shop" / "world.json").read_text() == fine


def test_a_data_folder_serves_one_run_at_a_time(dev: Dev) -> None:
    first = dev.up()
    second = dev.start()
    _, err = second.communicate(timeout=30)
    assert second.returncode == 1
    assert f"process {first.pid}" in err
    assert dev.ready_file.exists()


def test_two_stacks_run_side_by_side(dev: Dev, tmp_path: Path) -> None:
    other = Dev(tmp_path / "other")
    other.data.mkdir(parents=True)
    dev.up()
    run = other.up()
    assert not set(dev.ready()["pids"].values()) & set(other.ready()["pids"].values()) - {None}
    run.terminate()
    run.communicate(timeout=30)
    assert run.returncode == 0


@pytest.mark.parametrize("status", ["0", "5"])
def test_the_tour_alone_decides_the_status(dev: Dev, status: str) -> None:
    run = dev.start("only", status)
    run.communicate(timeout=30)
    assert run.returncode == int(status)
    assert not dev.ready_file.exists()


def test_a_tour_that_fails_does_not_end_the_stack(dev: Dev) -> None:
    run = dev.up("play", "5")
    assert run.stdout is not None
    wait_until(lambda: "The tour ended with status 5." in str(run.stdout.readline() if run.stdout else ""))
    assert run.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
def test_a_killed_stack_leaves_nothing_that_hinders_the_next(dev: Dev) -> None:
    run = dev.up()
    pids = [pid for pid in dev.ready()["pids"].values() if pid]
    run.kill()
    run.communicate()
    wait_until(lambda: not [pid for pid in pids if is_alive(pid)], timeout_s=5)
    dev.ready_file.unlink()
    dev.up()
