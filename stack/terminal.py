"""What `interlock dev` says: with colour to a person's terminal, in plain lines to a pipe.

It only speaks; nothing is decided here.
"""

import sys
from typing import TYPE_CHECKING

from stack.faults import ChildFault, StackFault
from stack.ready import ReadyFile

if TYPE_CHECKING:
    from rich.console import Console


class Terminal:
    """Speaks on standard output, or on standard error of what went wrong."""

    def __init__(self) -> None:
        self._console = _console() if sys.stdout.isatty() else None

    def say(self, text: str, style: str = "") -> None:
        """Print one line."""
        if self._console is not None:
            self._console.print(text, style=style or None, markup=False, highlight=False)
        else:
            print(text, flush=True)

    def ready(self, name: str, took_s: float, again: bool) -> None:
        """Tell that a child serves, or that a step is done."""
        self.say(f"  {name:<10} {'back' if again else 'ready'} after {took_s:.1f} s", "green" if again else "dim")

    def died(self, name: str, how: str, pause_s: float) -> None:
        """Tell that a child has ended by itself."""
        self.say(f"  {name:<10} {how}; starting it again in {pause_s:g} s", "yellow")

    def stopping(self, name: str, patient: bool) -> None:
        """Tell that a child has been stopped."""
        if not patient:
            self.say(f"  {name:<10} did not stop when asked, and was killed", "yellow")

    def found_leftovers(self, names: list[str]) -> None:
        """Tell what an earlier stack had left running."""
        if names:
            self.say(f"Ended what an earlier run had left behind: {', '.join(names)}", "yellow")

    def fault(self, fault: StackFault) -> None:
        """Tell why the stack cannot run, on standard error, with the end of the log that explains it."""
        lines = [f"interlock dev: {fault}"]
        if isinstance(fault, ChildFault):
            lines += ["", *(f"  | {line}" for line in fault.tail.splitlines())]
        print("\n".join(lines), file=sys.stderr, flush=True)

    def welcome(self, ready: ReadyFile) -> None:
        """Print where to look, and how to get in."""
        lines = _welcome_lines(ready)
        if self._console is None:
            print("\nInterlock is ready\n" + "\n".join(f"  {name:<12} {what}" for name, what in lines), flush=True)
            print("Ctrl-C stops it; the data stays.", flush=True)
            return
        from rich.panel import Panel
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, what in lines:
            table.add_row(name, what)
        self._console.print(
            Panel(table, title="Interlock is ready", subtitle="Ctrl-C stops it; the data stays", border_style="green")
        )


def _welcome_lines(ready: ReadyFile) -> list[tuple[str, str]]:
    ui = ready.addresses.temporal_ui_url
    return [
        ("Console", f"{ready.addresses.api_url}/console"),
        ("Chat", f"{ready.addresses.api_url}/chat"),
        ("API", ready.addresses.api_url),
        *([("Temporal UI", ui)] if ui else []),
        ("Demo shop", ready.addresses.shop_url),
        ("Data", str(ready.data.root)),
        ("Logs", str(ready.data.logs)),
        ("Token", f"interlock token customer --tenant T --id I --data-dir {ready.data.root}"),
    ]


def _console() -> "Console":
    from rich.console import Console

    return Console()
