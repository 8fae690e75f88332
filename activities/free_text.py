"""The readers that the checks on a model's words are given, put together once in a process."""

from functools import cache

from language.free_text import detector, known_words, told_language
from policy.reply.readers import Readers


@cache
def readers() -> Readers:
    """Return what is known here of free text; without the `embeddings` extra no claims are found beyond known words."""
    return Readers(claims=detector(), language_of=told_language, vocabulary=known_words)


def warmed() -> Readers:
    """Return the readers after they have read once, so that the first reply does not wait for what they load."""
    ready = readers()
    if ready.claims is not None:
        ready.claims("One sentence.", "en")
    if ready.language_of is not None:
        ready.language_of("One sentence of some length.")
    return ready
