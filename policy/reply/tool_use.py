"""Whether a model may read what it asks for: from a fixed list, so many times, and nothing twice.

Pure: one small state, moved by each wish; who reads is elsewhere.
"""

from enum import StrEnum

from domain.base import Noun
from domain.model_draft import Read, Wish

STEPS_MAX = 3  # reads for one reply


class Ruling(StrEnum):
    """What becomes of a wish."""

    READ = "read"
    NOT_ALLOWED = "not_allowed"
    ASKED_BEFORE = "asked_before"
    TOO_MANY = "too_many"


class ToolUse(Noun):
    """What may be read for one reply, and what has been asked for so far."""

    allowed: frozenset[Read]
    asked: frozenset[tuple[Read, str]] = frozenset()
    steps: int = 0
    over: bool = False  # after the first wish that was refused nothing is read any more

    def ruling(self, wish: Wish) -> Ruling:
        """Return what becomes of `wish` now."""
        if wish.read not in self.allowed:
            return Ruling.NOT_ALLOWED
        if _same(wish) in self.asked:
            return Ruling.ASKED_BEFORE
        return Ruling.TOO_MANY if self.over or self.steps >= STEPS_MAX else Ruling.READ

    def after(self, wish: Wish) -> "ToolUse":
        """Return the state once `wish` was ruled on."""
        read = self.ruling(wish) is Ruling.READ
        changed = {"asked": self.asked | {_same(wish)}, "steps": self.steps + read, "over": self.over or not read}
        return self.model_copy(update=changed)


def _same(wish: Wish) -> tuple[Read, str]:
    return wish.read, " ".join(wish.about.casefold().split())
