"""Laws of what an earlier stack left running: its own processes are ended, no other is touched."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack import leftovers
from stack.layout import DataDir, write_private
from tests.stack.standins import is_alive


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


def test_a_recorded_process_is_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    data = DataDir.at(tmp_path)
    leftovers.record(data, {"worker": sleeper.pid})
    assert leftovers.end_all(data) == ["worker"]
    assert not is_alive(sleeper.pid)


def test_a_process_that_was_born_at_another_time_is_spared(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    data = DataDir.at(tmp_path)
    write_private(data.children, {"worker": {"pid": sleeper.pid, "born": 1.0}})
    assert leftovers.end_all(data) == []
    assert sleeper.poll() is None


def test_a_postmaster_file_that_names_a_stranger_is_not_believed(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    data = DataDir.at(tmp_path)
    data.postgres.mkdir()
    (data.postgres / "postmaster.pid").write_text(f"{sleeper.pid}\n")
    assert leftovers.end_all(data) == []
    assert sleeper.poll() is None


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": {"pid": "x", "born": 1}}'])
def test_a_damaged_record_is_no_record(tmp_path: Path, content: str) -> None:
    data = DataDir.at(tmp_path)
    data.children.write_text(content)
    assert leftovers.end_all(data) == []
