"""Laws of telling: facts read in one line, a pipe gets plain text within a hundred columns, links stay whole."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from demo.tour import lines
from demo.tour.commandline import main
from demo.tour.doors import Stack
from demo.tour.following import parse
from demo.tour.teller import WIDTH, Outcome, Teller
from tests.demo.tour_records import OP, action, effect, event, state

READY = {"api_url": "http://127.0.0.1:1", "shop_url": "http://127.0.0.1:1", "data_dir": "/x"}
NAMESPACE = {"temporal_namespace": "default", "temporal_ui_url": "http://127.0.0.1:8233"}


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (event(1, "customer_message", text="Hello"), "Hello"),
        (event(2, "proposal", summary="Refund 1.00", required_approvals=["customer"]), "Refund 1.00 [needs: customer]"),
        (event(3, "approval", decision="approve", role="customer"), "approve by the customer"),
        (
            state(4, "unknown") | {"cause": "response_lost", "text": "Not known."},
            "→ unknown (response_lost) Not known.",
        ),
        (event(5, "owner_changed", owner="human", owner_epoch=2), "→ human, epoch 2"),
        (event(6, "handoff", queue_status="waiting", reason="out_of_scope"), "waiting · out_of_scope"),
        (
            event(7, "verdict", verdict_kind="ask", required=["customer"], rule_ids=["refund-small-with-confirmation"]),
            "ask · needs customer · refund-small-with-confirmation",
        ),
        (event(8, "evidence", evidence_id=OP), "account read, kept as 0b9c7a52…"),
    ],
    ids=lambda given: given["kind"] if isinstance(given, dict) else "",
)
def test_an_event_reads_in_one_line(told: dict[str, object], text: str) -> None:
    assert lines.told(told) == text


def test_a_move_of_the_ledger_tells_time_cause_and_actor() -> None:
    moved = ("12:00:04.250", "submitted → confirmed", "succeeded", "executor:interlock")
    assert lines.moves(action("confirmed", "succeeded")) == [moved]


def test_amounts_and_times_read_as_people_write_them() -> None:
    assert lines.money(2305, "EUR") == "23.05 EUR"
    assert lines.since("2026-11-30T12:00:02.5+00:00", "2026-11-30T12:00:01+00:00") == "+1.50 s"
    assert lines.effect(effect()) == "refund of 23.50 EUR on A-10482 at 12:00:03.100"


def test_a_pipe_gets_plain_lines_within_a_hundred_columns() -> None:
    sheet = io.StringIO()
    teller = Teller(Console(file=sheet, width=WIDTH, highlight=False, markup=False))
    teller.heading(1, 6, "A title", "A premise. " * 12)
    teller.event(event(1, "customer_message", text="[bold]a long message[/bold] " * 12))
    teller.ledger(action("confirmed", "succeeded"))
    teller.effects([effect()])
    teller.outcome(Outcome("A title", [], 1.0, "It went well."))
    teller.table([Outcome("A title", ["it did not"], 2.0, "It went well.")])
    printed = sheet.getvalue()
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "\x1b" not in printed
    assert "[bold]a long message[/bold]" in printed
    assert "✔" in printed
    assert "✘" in printed


def test_a_link_is_never_broken_over_lines() -> None:
    sheet, url = io.StringIO(), "http://127.0.0.1/" + "x" * 150
    Teller(Console(file=sheet, width=WIDTH)).link("workflow", url)
    assert url in sheet.getvalue()


def test_a_workflow_link_names_the_workflow_in_one_path_segment() -> None:
    stack = Stack(READY | NAMESPACE)
    link = stack.workflow_link("conversation/c-1")
    stack.close()
    assert link == "http://127.0.0.1:8233/namespaces/default/workflows/conversation%2Fc-1"


def test_server_sent_events_are_read_past_comments_and_names() -> None:
    stream = [": open", "retry: 2000", "", "id: 1", "event: notice", 'data: {"seq":1}', "", ": still here", ""]
    assert list(parse(stream)) == [{"seq": 1}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "start `interlock dev` first"),
        ("{", "not the ready file"),
        ("{}", "it lacks api_url"),
        (json.dumps(READY | NAMESPACE), "does not answer at http://127.0.0.1:1"),
    ],
    ids=["no file", "no JSON", "another file", "no stack"],
)
def test_without_a_stack_one_line_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, complaint: str
) -> None:
    ready = tmp_path / "ready.json"
    if content is not None:
        ready.write_text(content)
    assert main(["--ready", str(ready)]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1


def test_the_command_explains_itself() -> None:
    command = [sys.executable, "-m", "demo.tour", "--help"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Exit status" in done.stdout
