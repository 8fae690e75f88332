"""Laws of the command line: what it prints, what it ends with, and that small commands stay small."""

import subprocess
import sys
from pathlib import Path

import jwt
import pytest

from stack import keys
from stack.layout import DataDir

ROOT = Path(__file__).parents[1]


def interlock(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "cli", *words], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_token_prints_the_token_and_nothing_else(tmp_path: Path) -> None:
    keys.ensure(DataDir.at(tmp_path))
    done = interlock("token", "staff", "--tenant", "acme", "--id", "agent-1", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert jwt.decode(done.stdout.strip(), options={"verify_signature": False})["sub"] == "agent-1"


def test_token_without_a_key_says_what_makes_one(tmp_path: Path) -> None:
    done = interlock("token", "staff", "--tenant", "acme", "--id", "agent-1", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no signing key" in done.stderr


def test_token_for_an_unknown_kind_is_a_wrong_option() -> None:
    assert interlock("token", "root", "--tenant", "acme", "--id", "x").returncode == 2


def test_doctor_without_a_stack_says_so(tmp_path: Path) -> None:
    done = interlock("doctor", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "No stack has run" in done.stderr


@pytest.mark.parametrize("command", ["dev", "token", "doctor"])
def test_every_command_explains_itself(command: str) -> None:
    done = interlock(command, "--help")
    assert done.returncode == 0
    assert "Exit status" in done.stdout


def test_the_command_line_loads_nothing_heavy_before_it_knows_the_command() -> None:
    code = (
        "import sys, cli; print([n for n in ('temporalio', 'fastapi', 'sqlalchemy', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
