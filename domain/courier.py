"""The interface by which a committed wake-up reaches Temporal quickly; the outbox relay is what makes it certain."""

from collections.abc import Sequence
from typing import Protocol

from domain.wake import Wake


class Courier(Protocol):
    """Delivers wake-ups after a commit, at best effort: it never raises and never delays the caller for long."""

    def send(self, wakes: Sequence[Wake]) -> None:
        """Take wake-ups for delivery in the background."""
        ...
