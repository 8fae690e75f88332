"""`interlock claims` as a script meets it: a line for each line, and a fault says where and what would be right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from language.embedding import embedder

ROOT = Path(__file__).parents[1]


def run(given: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cli import app; app()", "claims"]
    return subprocess.run(command, input=given, text=True, capture_output=True, cwd=ROOT, check=False)


@pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")
def test_each_draft_is_answered_in_order_and_a_bad_line_stops_no_other() -> None:
    rows = [
        {"id": "a", "text": "Мы уже вернули вам деньги."},
        {"id": 2, "text": "Which order do you mean?"},
        {"id": "c", "text": ""},
        {"id": "d", "text": "😀\ud83d"},
        {"id": "e", "text": "返金済みです。" * 200},
    ]
    lines = [json.dumps(row) for row in rows]
    done = run("\n".join([*lines[:2], "", "nonsense", '{"id": true}', '{"text": "x"}', *lines[2:]]))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(t["id"], t["claims_action"]) for t in told] == [
        ("a", True), (2, False), ("c", False), ("d", False), ("e", True)
    ]  # fmt: skip
    assert done.returncode == 1
    faults = done.stderr.splitlines()
    assert [f.partition(": ")[2].partition(":")[0] for f in faults] == ["line 4", "line 5", "line 6"]
    assert "not JSON" in faults[0]
    assert '"id"' in faults[2]


def test_a_closed_input_is_said_and_not_a_fault_of_the_program() -> None:
    command = f"{sys.executable} -c 'from cli import app; app()' claims <&-"
    done = subprocess.run(
        ["sh", "-c", command], text=True, capture_output=True, check=False, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 1
    assert done.stderr.startswith("interlock claims: standard input is closed")
