"""Text as full-text search takes it: plain words, also without their accents, and pairs of characters where a script
sets no space between words.

Pure; what is returned is searched, never shown.
"""

import re
import unicodedata

from language.cleaning import cleaned

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
WORD_CHARS_MAX = 60
WORDS_MAX = 2_000
ASKED_WORDS_MAX = 64
ASKED_CHARS_MAX = 400
_RAW_CHARS_MAX = 4_000  # that are looked through for them


def searchable(text: str) -> str:
    """Return the words of `text`, in lower case and parted by spaces; one with accents stands there without, too.

    Thai, Chinese, Japanese and Korean come as overlapping pairs of characters.
    """
    found: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        found += _pairs(run) if _IS_UNSPACED.match(run) else _spellings(run[:WORD_CHARS_MAX])
        if len(found) >= WORDS_MAX:
            break
    return " ".join(word for word in found if any(map(str.isalnum, word)))  # a mark without its letter is no word


def question_in(text: str) -> str:
    """Return the beginning of what a customer wrote, as a search takes it: no blobs, links or hidden marks."""
    return cleaned(text[:_RAW_CHARS_MAX])[:ASKED_CHARS_MAX]


def asked_words(text: str) -> str:
    """Return the same of a question: its first words, since each is looked for in every passage."""
    return " ".join(searchable(text).split()[:ASKED_WORDS_MAX])


def _pairs(run: str) -> list[str]:
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def _spellings(word: str) -> list[str]:
    bare = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    return [word] if bare == word else [word, bare]
