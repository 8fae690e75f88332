"""Sentences about what a customer has asked for beside what is being dealt with, so that nothing of it is dropped.

Fixed words; they name the kind of the matter alone, never a resource, an amount or a status.
"""

from collections.abc import Sequence

from domain.understanding import Intent
from language.words import say


def shall_i_go_on(waiting: Sequence[Intent], language: str) -> str:
    """Return the question whether to go on with what waits; for a reply while no action is open."""
    return say(language, "next.shall_i", needs=_needs(waiting, language))


def noted_for_later(waiting: Sequence[Intent], language: str) -> str:
    """Return that the rest is noted, without a question: while a proposal stands, a "yes" is about that alone."""
    return say(language, "next.noted", needs=_needs(waiting, language))


def _needs(waiting: Sequence[Intent], language: str) -> str:
    return ", ".join(say(language, f"need.{intent.value}") for intent in dict.fromkeys(waiting))
