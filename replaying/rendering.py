"""How a replay is shown: a table for people, plain lines for a pipe, JSON for a script."""

import json
import sys
from collections.abc import Sequence
from typing import TextIO

from domain.base import Noun
from replaying.determinism import Replayed
from replaying.story import Entry


class Report(Noun):
    """Everything that `interlock replay` says. `missing` tells what could not be added to the story."""

    workflow_id: str
    runs: tuple[Replayed, ...]
    story: tuple[Entry, ...]
    missing: str | None = None

    @property
    def deterministic(self) -> bool:
        """Whether every run replays."""
        return all(run.difference is None for run in self.runs)


def verdict(report: Report) -> list[str]:
    """Return whether the history replays on today's code, and where it does not."""
    events = sum(run.events for run in report.runs)
    of = f"{report.workflow_id}: {len(report.runs)} run(s), {events} events"
    if report.deterministic:
        return [f"DETERMINISTIC  {of}"]
    differing = [run for run in report.runs if run.difference is not None]
    where = [f"  run {r.run_id}, {_place(r)}: {r.difference}" for r in differing]
    return [f"NOT DETERMINISTIC  {of}", *where]


def _place(run: Replayed) -> str:
    return f"from event {run.event_id} on" if run.event_id else "in its last task"


def lines(report: Report) -> list[str]:
    """Return the whole report as plain lines."""
    told = [_line(entry) for entry in report.story]
    return [*told, *([f"({report.missing})"] if report.missing else []), *verdict(report)]


def _line(entry: Entry) -> str:
    at = entry.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{at}  {entry.where.value:<8}  {entry.what:<34}  {entry.detail}".rstrip()


def as_json(report: Report) -> str:
    """Return the whole report as one JSON object."""
    return json.dumps({"deterministic": report.deterministic, **report.model_dump(mode="json")}, indent=2)


def show(report: Report, *, machine: bool, out: TextIO | None = None) -> None:
    """Write the report: JSON where a script asked, a table on a terminal, plain lines elsewhere."""
    stream = out or sys.stdout
    if machine:
        print(as_json(report), file=stream)
    elif stream.isatty():
        _table(report.story, stream)
        print("\n".join([*([f"({report.missing})"] if report.missing else []), *verdict(report)]), file=stream)
    else:
        print("\n".join(lines(report)), file=stream)


def _table(story: Sequence[Entry], stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("at (UTC)", "where", "what", ""):
        table.add_column(column, overflow="fold")
    styles = {"workflow": "", "log": "cyan", "ledger": "green", "model": "magenta"}
    for entry in story:
        cells = (f"{entry.at:%H:%M:%S.%f}"[:-3], entry.where.value, entry.what, entry.detail)
        table.add_row(*(Text(cell, style=styles[entry.where.value]) for cell in cells))
    Console(file=stream).print(table)
