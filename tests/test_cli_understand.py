"""`interlock understand`: a line in, a line out; a bad line is named and loses nothing."""

import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import cli

RUN = CliRunner()
KEYS = {"id", "language", "intents", "entities", "asks_for_person", "suspicious", "out_of_scope", "route"}
NOT_IN_THE_CONTRACT = {"action_status"}


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def test_each_line_is_answered_in_its_order() -> None:
    said = lines(
        {"id": "a", "text": "Where is my order A-20417?"},
        {"id": 2, "text": "I want to talk to a human"},
        {"id": "c", "text": "did my refund go through?", "more": 1},
        {"id": "d", "text": ""},
    )
    done = RUN.invoke(cli.app, ["understand"], input=said)
    assert done.exit_code == 0, done.output
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in told] == ["a", 2, "c", "d"]
    assert all(set(row) == KEYS for row in told)
    assert told[0]["intents"] == ["order_status"]
    assert told[0]["entities"] == [{"kind": "order", "value": "A-20417", "words": "A-20417"}]
    assert told[1]["asks_for_person"] is True
    assert told[1]["intents"] == ["asks_for_person"]
    assert not NOT_IN_THE_CONTRACT & {intent for row in told for intent in row["intents"]}
    assert told[3]["out_of_scope"] is True


def test_a_bad_line_is_named_and_the_others_are_answered() -> None:
    said = lines({"id": 1, "text": "hello"}, "{oops", {"id": 3}, {"text": "no id"}, "", {"id": 6, "text": "thanks"})
    done = RUN.invoke(cli.app, ["understand"], input=said)
    assert done.exit_code == 1
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 6]
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [" line 2", " line 3", " line 4"]
    assert 'needs a JSON object with "id" and, as a string, "text"' in done.stderr


def test_marked_rows_are_measured(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        lines({"text": "refund please", "intent": "refund_request", "lang": "en"}, {"text": "operator", "label": 1})
    )
    done = RUN.invoke(cli.app, ["understand", "eval", str(rows), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["intent"]["hits"] == 1
    assert found["person_recall"]["hits"] == 1
    assert "refund_request" in RUN.invoke(cli.app, ["understand", "eval", str(rows)]).stdout


def test_rows_that_cannot_be_measured_end_it(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "x", "intent": "fly"}\n')
    done = RUN.invoke(cli.app, ["understand", "eval", str(rows)])
    assert done.exit_code == 1
    assert "line 1: intents" in done.stderr
    assert RUN.invoke(cli.app, ["understand", "eval", str(tmp_path / "none")]).exit_code == 2


def test_the_kept_heads_are_up_to_date() -> None:
    done = RUN.invoke(cli.app, ["understand", "train", "--check"])
    assert done.exit_code == 0, done.output
    assert "hashed-pieces: up to date" in done.stdout


def test_a_closed_input_is_said_and_not_a_fault_of_the_program() -> None:
    command = f"{sys.executable} -c 'from cli import app; app()' understand <&-"
    done = subprocess.run(
        ["sh", "-c", command], text=True, capture_output=True, check=False, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 1
    assert done.stderr.startswith("interlock understand: standard input is closed")
