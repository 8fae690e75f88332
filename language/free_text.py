"""What is known here of words that a model chose: their language, whether they claim something, what is nobody's name.

For the checks, which take it as functions; nothing here decides anything.
"""

import json
import re
from collections.abc import Callable
from functools import cache

from language.claims import claims_head
from language.claims_training import EXAMPLES_DIR
from language.tongues import SPOKEN, identifier
from language.words import spoken, texts

TOLD_SURELY = 0.97  # from which certainty on words tell their language
_NOT_TELLING = re.compile(r"\S*\d\S*|[^\W\d_]*[A-Z][^\W\d_]*(?=\s|$)(?<![.!?]\s)|[^\w\s]")
_LETTERS_MIN = 20
_WORD = re.compile(r"[^\W\d_]+")


def detector() -> Callable[[str, str], bool] | None:
    """Return who says whether a text (in a language) claims something, or None without the `embeddings` extra."""
    head = claims_head()
    return head.claims if head else None


def told_language(text: str) -> str | None:
    """Return the language of `text`, or None where its words do not tell it surely."""
    words = " ".join(_NOT_TELLING.sub(" ", text).split())
    if sum(c.isalpha() for c in words) < _LETTERS_MIN:
        return None
    told, sure = identifier().classify(words)
    return str(told) if sure >= TOLD_SURELY else None


@cache
def known_words(language: str) -> frozenset[str]:
    """Return folded words of the language that are nobody's name: of our templates, and of the examples of claims."""
    base = language.partition("-")[0]
    found = list(texts(spoken(base)).values()) if base in SPOKEN else []
    examples = EXAMPLES_DIR / f"{base}.jsonl"
    if examples.is_file():
        found += [json.loads(line)["text"] for line in examples.read_text(encoding="utf-8").splitlines()]
    return frozenset(w.casefold() for text in found for w in _WORD.findall(text))
