"""Shares of counted things with their intervals, and percentages for a table.

Pure arithmetic.
"""

from math import sqrt

from domain.base import Noun

_Z = 1.959964  # of a 95 % interval


class Share(Noun):
    """`hits` of `of`, with Wilson's interval at 95 %."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share, or None of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper end; all of it where nothing was counted. Wilson (1927)."""
        if not self.of:
            return 0.0, 1.0
        share, n = self.hits / self.of, self.of
        middle = (share + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
        half = _Z * sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n)) / (1 + _Z * _Z / n)
        return max(0.0, min(share, middle - half)), min(
            1.0, max(share, middle + half)
        )  # none or all: exactly its own end

    def told(self) -> str:
        """Return it for a table: the share, its interval, the counts."""
        if self.value is None:
            return "–"
        low, high = self.interval
        return f"{self.value:.3f} [{low:.3f}, {high:.3f}] {self.hits}/{self.of}"

    def figures(self) -> dict[str, float | int | None]:
        """Return it for a machine."""
        low, high = self.interval
        return {"share": self.value, "low": low, "high": high, "hits": self.hits, "of": self.of}
