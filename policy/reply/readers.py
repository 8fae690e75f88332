"""What the checks lean on beyond patterns: readers that know a language by more than a list of words.

Handed in by whoever has them; without any, a model's words in a language without known words are never found truthful.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass


def _no_words(_: str) -> Container[str]:
    return frozenset()


@dataclass(frozen=True)
class Readers:
    """`claims(text, language)`: whether it says that something was or will be done; rather once too often.

    `language_of(text)`: its language, or None where the words do not tell. `vocabulary(language)`: folded words that
    are nobody's name.
    """

    claims: Callable[[str, str], bool] | None = None
    language_of: Callable[[str], str | None] | None = None
    vocabulary: Callable[[str], Container[str]] = _no_words
