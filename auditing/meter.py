"""How far something has come: a bar on a terminal, a plain line every few seconds elsewhere; on standard error.

Knows nothing of what is counted.
"""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EVERY_S = 5.0


class Meter:
    """Counts towards a total that may grow."""

    def __init__(self, what: str, console: Console | None = None) -> None:
        self.what, self.done, self.total = what, 0, 0
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console, transient=True) if self._console.is_terminal else None
        self._row = self._bar.add_task(what, total=None) if self._bar else None
        self._told_at = time.monotonic()

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def expect(self, more: int) -> None:
        """Add `more` to the total."""
        self.total += more
        if self._bar and self._row is not None:
            self._bar.update(self._row, total=self.total)

    def advance(self, n: int) -> None:
        """Count `n` more as done."""
        self.done += n
        if self._bar and self._row is not None:
            self._bar.update(self._row, completed=self.done)
        elif time.monotonic() - self._told_at >= EVERY_S:
            self._told_at = time.monotonic()
            of = f" of {self.total:,}" if self.total else ""
            self._console.print(f"{self.what}: {self.done:,}{of}", highlight=False, soft_wrap=True)
