"""Laws of the data folder: one format, one holder, private files."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stack.faults import StackFault
from stack.layout import DataDir, write_private


def test_an_empty_folder_becomes_a_data_folder(tmp_path: Path) -> None:
    data = DataDir.at(tmp_path / "new")
    data.prepare()
    data.prepare()
    assert data.version.read_text() == "1\n"


def test_a_folder_with_other_files_may_become_one(tmp_path: Path) -> None:
    (tmp_path / "dev.log").touch()
    DataDir.at(tmp_path).prepare()


def test_another_format_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("7\n")
    with pytest.raises(StackFault, match="has data format 7; this Interlock reads and writes format 1"):
        DataDir.at(tmp_path).prepare()


def test_data_without_a_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    with pytest.raises(StackFault, match="no `version` file"):
        DataDir.at(tmp_path).prepare()


def test_a_folder_has_one_holder_and_the_second_learns_its_pid(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from stack.layout import DataDir\n"
        f"with DataDir.at(pathlib.Path({str(tmp_path)!r})).held(): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        data = DataDir.at(tmp_path)
        with pytest.raises(StackFault, match=f"in use by another `interlock dev`, process {holder.pid}"), data.held():
            pass
        holder.kill()
        holder.wait()
        with data.held():
            assert data.lock.read_text() == f"{os.getpid()}\n"


def test_a_place_that_cannot_hold_data_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StackFault, match="cannot hold data"), DataDir.at(tmp_path / "file" / "below").held():
        pass


def test_a_private_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    write_private(path, {"key": "value"})
    write_private(path, {"key": "other"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secrets.json"]
