"""The words of a turn by which a plan or an address may be named, which have no ids that a customer knows.

Candidates to match against evidence, nothing more: where the account has nothing of that name, they mean nothing.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

NAMES_MAX = 200
REPLY_WORDS_MAX = 8  # of a reply that may be no more than a name
_NAME_WORDS_MAX = 3
_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w-])")
_BREAK = re.compile(r"[.!?;:,\n\d_]")
_SENTENCE_END = re.compile(r"[.!?;\n]")
_QUOTES = "\"“„«'‘"
_COMPOUND = "adresse"  # "Büroadresse"
_DATA = Path(__file__).parent / "data" / "naming.toml"


def names_in(text: str, *, reply: bool = False) -> tuple[str, ...]:
    """Return stretches of one to three words by which something may be named, each once, at most `NAMES_MAX`.

    Of a short `reply` to the question for a name these are all; else those that stand where a name would.
    """
    words = list(_WORD.finditer(text))
    every = reply and len(words) <= REPLY_WORDS_MAX
    found: dict[str, str] = {}
    for at, match in enumerate(words):
        begins = every or _begins_a_name(text, words, at)
        for end in range(at, min(at + _NAME_WORDS_MAX, len(words))):
            name = text[match.start() : words[end].end()]
            if _BREAK.search(name):
                break
            if begins or (end + 1 < len(words) and _plain(words[end + 1]) in _words("things")):
                found.setdefault(name.casefold(), name)
        if (of := _plain(match).removesuffix(_COMPOUND)) not in ("", _plain(match)):
            found.setdefault(of, of)
    return tuple(found.values())[:NAMES_MAX]


def _begins_a_name(text: str, words: list[re.Match[str]], at: int) -> bool:
    """Whether the word stands behind one that a name follows, in quotation marks, or with a capital in a sentence."""
    start = words[at].start()
    if start > 0 and text[start - 1] in _QUOTES:
        return True
    if at == 0:
        return False
    before = words[at - 1]
    if _SENTENCE_END.search(text[before.end() : start]):
        return False
    return words[at][0][0].isupper() or _plain(before) in _words("things") | _words("pointing")


def _plain(word: re.Match[str]) -> str:
    """A word without case and without an article that leans on it, as in "l'indirizzo"."""
    return re.split("['’]", word[0].casefold(), maxsplit=1)[-1]


@cache
def _words(section: str) -> frozenset[str]:
    raw: dict[str, dict[str, str]] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return frozenset(word for words in raw[section].values() for word in words.split())
