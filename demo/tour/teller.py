"""What the tour prints: with colour to a terminal, in plain lines to a pipe, a hundred columns wide at most.

Lines are only ever added, never redrawn.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from demo.tour import lines
from demo.tour.doors import Json

WIDTH = 100
COLOURS = {
    "customer_message": "cyan",
    "bot_reply": "green",
    "proposal": "yellow",
    "action_state": "magenta",
    "owner_changed": "red",
    "approval": "yellow",
    "notice": "green",
}


class Outcome(NamedTuple):
    """How one scene ended; `wrong` is empty where it ended as it should."""

    title: str
    wrong: Sequence[str]
    took_s: float
    moral: str


class Teller:
    """Tells the tour on standard output."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or _console()
        self.to_a_person = self._console.is_terminal
        self._first_at: str | None = None

    def heading(self, number: int, count: int, title: str, premise: str) -> None:
        """Begin a scene."""
        self._first_at = None
        self._rule(f"{number} of {count} · {title}")
        self._row((premise, None), style="dim")

    def say(self, label: str, text: str, style: str = "") -> None:
        """Tell one thing that is done or found."""
        self._row((label, 11), (text, None), style=style)

    def event(self, event: Json) -> None:
        """Tell one event of the log, with the time since the first one; what only staff see is dim."""
        self._first_at = self._first_at or event["at"]
        behind = event["kind"] in lines.BEHIND
        style = "dim" if behind else COLOURS.get(event["kind"], "")
        self._row(
            (lines.since(event["at"], self._first_at), 9),
            ("" if behind else f"#{event['seq']}", 4),
            (lines.speaker(event), 14),
            (lines.told(event), None),
            style=style,
        )

    def ledger(self, action: Json) -> None:
        """Tell an action and each of its moves."""
        self.say("ledger", lines.title_of(action))
        for at, move, cause, actor in lines.moves(action):
            self._row(("", 11), (at, 13), (move, 32), (cause, 16), (actor, None))

    def effects(self, found: Sequence[Json]) -> None:
        """Tell what took effect in the shop."""
        self.say("shop", f"{len(found)} effect{'s' * (len(found) != 1)}")
        for each in found:
            self._row(("", 11), (lines.effect(each), None))

    def link(self, label: str, url: str | None) -> None:
        """Tell where to look, in one unbroken line."""
        text = Text.assemble(f"  {label:<12}", (url or "(Temporal's UI is off)", "blue"))
        self._print(text, soft_wrap=True)

    def outcome(self, outcome: Outcome) -> None:
        """Tell how a scene ended."""
        if outcome.wrong:
            self.say("✘", f"{'; '.join(outcome.wrong)} ({outcome.took_s:.1f} s)", "bold red")
        else:
            self.say("✔", f"{outcome.moral} ({outcome.took_s:.1f} s)", "bold green")

    def table(self, outcomes: Sequence[Outcome]) -> None:
        """Close with all scenes in one table."""
        table = Table("", "Scene", "Seconds", "What was seen", box=None, pad_edge=False, padding=(0, 2))
        table.columns[2].justify = "right"
        for each in outcomes:
            mark = Text("✘", "bold red") if each.wrong else Text("✔", "bold green")
            table.add_row(mark, Text(each.title), f"{each.took_s:.1f}", Text("; ".join(each.wrong) or each.moral))
        self._rule("The tour")
        self._print(table)

    def close(self, text: str, style: str) -> None:
        """Print the last line."""
        self._print(Text(f"\n{text}", style))

    def _row(self, *cells: tuple[str, int | None], style: str = "") -> None:
        """Print one row whose cells have a width each, so that long text keeps its indent."""
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=1)
        for _, width in cells:
            grid.add_column(width=width, no_wrap=width is not None, overflow="ellipsis" if width else "fold")
        grid.add_row("", *(Text(text) for text, _ in cells))
        self._print(grid, style)

    def _rule(self, title: str) -> None:
        self._print(Text())
        self._print(Rule(Text(title, "bold"), align="left", style="blue"))

    def _print(self, what: RenderableType, style: str = "", *, soft_wrap: bool = False) -> None:
        """Print to a person as it is, and to a pipe without the blanks that fill a line."""
        if self.to_a_person:
            self._console.print(what, style=style or None, soft_wrap=soft_wrap)
            return
        with self._console.capture() as caught:
            self._console.print(what, soft_wrap=soft_wrap)
        for line in caught.get().splitlines():
            self._console.file.write(line.rstrip() + "\n")


def _console() -> Console:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace", line_buffering=True)  # a terminal without ✔ shows a question mark
    width = min(Console().width, WIDTH) if sys.stdout.isatty() else WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)
