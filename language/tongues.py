"""Which language a text is in, by its frequent words, its script and an identifier: quiet when they cannot tell.

A guess over a few words is worse than the language a conversation already has, so doubt keeps that one.
"""

import importlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

RULED: tuple[str, ...] = ("en", "es", "de", "fr", "pt", "it")  # read by rules: each has its lexicon
SPOKEN: tuple[str, ...] = (*RULED, "nl", "pl", "ru", "tr", "zh", "ja")  # answered in: each has its words
FALLBACK = "en"
_DATA = Path(__file__).parent / "data" / "tongues.toml"
_SCRIPTS = (
    (0x0370, 0x03FF, "el"),
    (0x0400, 0x04FF, "ru"),
    (0x0590, 0x05FF, "he"),
    (0x0600, 0x06FF, "ar"),
    (0x0900, 0x097F, "hi"),
    (0x0E00, 0x0E7F, "th"),
    (0x3040, 0x30FF, "ja"),
    (0x4E00, 0x9FFF, "zh"),
    (0xAC00, 0xD7AF, "ko"),
)
_WRITTEN_LIKE = {"ru": ("uk", "bg", "sr"), "zh": ("ja",), "ar": ("fa", "ur")}  # in the same script
_LETTERS = {"ñ": "es", "¿": "es", "¡": "es", "ß": "de", "ã": "pt", "õ": "pt", "œ": "fr", "ø": "da", "å": "sv"}
_LETTERS |= {
    "ł": "pl",
    "ę": "pl",
    "ř": "cs",
    "ě": "cs",
    "ș": "ro",
    "ț": "ro",
    "ş": "tr",
    "ğ": "tr",
    "ő": "hu",
    "ű": "hu",
}
_SCRIPT_CHARS_MAX = 200
_IDENTIFIED_MAX = 400  # characters
_LETTER_COUNTS = 0.4  # a single letter may be an initial, or part of a code
_FIRST_AMONG_FEW = 1.2  # how much the best must lead while the words are few

_KNOWN_TO_THE_IDENTIFIER = (
    "ar bg bn cs da de el en es fa fi fr he hi hr hu id it ja ko ms nl no pl pt ro ru sk sr sv th tl tr uk ur vi zh"
)
_NO_WORD = re.compile(r"\S*[\d@/_]\S*")
_IDENTIFIED_WORDS_MIN, _IDENTIFIED_CHARS_MIN = 3, 6  # fewer tell an identifier nothing
_SURE, _SURER, _SUREST = 0.5, 0.8, 0.9


@cache
def _words() -> dict[str, dict[str, float]]:
    """Return for each frequent word the languages that have it, with its weight: shared words tell less."""
    raw: dict[str, str] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    owners: dict[str, list[str]] = {}
    for language, words in raw.items():
        for word in set(words.split()):
            owners.setdefault(word, []).append(language)
    return {
        word: {language: (1.0 if language in RULED else 0.8) / len(languages) for language in languages}
        for word, languages in owners.items()
    }


def is_frequent(token: str) -> bool:
    """Whether `token` is one of the frequent words of some language."""
    return token in _words()


def language_of(text: str, tokens: Sequence[str], known: str | None, hints: dict[str, float]) -> str:
    """Return the language of a text, or `known` (else English) when its words do not tell.

    `hints` are further votes by language, from whoever knows more about the words.
    """
    guess = _by_script(text, known) or _by_words(text, tokens, known, hints)
    words = _NO_WORD.sub(" ", text[:_IDENTIFIED_MAX]).strip()
    few = len(words.split()) < _IDENTIFIED_WORDS_MIN if words.isascii() else len(words) < _IDENTIFIED_CHARS_MIN
    if few:
        return guess
    told, sure = identifier().classify(words)
    needed = _SUREST if guess == known else _SURER if guess in RULED and told in RULED else _SURE
    return str(told) if sure >= needed else guess


def nearest_first(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the languages `known`, that of `text` first, then English, then the others by their codes."""
    told = language_of(text, text.casefold().split(), None, {})
    return tuple(sorted(known, key=lambda one: (one.partition("-")[0] != told, one != FALLBACK, one)))


@cache
def identifier() -> Any:
    """Return the identifier of languages, loaded once: half a second and 40 MB."""
    langid: Any = importlib.import_module("py3langid.langid")
    loaded = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    loaded.set_languages(_KNOWN_TO_THE_IDENTIFIER.split())
    return loaded


def _by_words(text: str, tokens: Sequence[str], known: str | None, hints: dict[str, float]) -> str:
    votes = dict(hints)
    for token in tokens:
        trust = _LETTER_COUNTS if len(token) == 1 else 1.0
        for language, weight in _words().get(token, {}).items():
            votes[language] = votes.get(language, 0.0) + weight * trust
    for char in set(text.casefold()) & _LETTERS.keys():
        votes[_LETTERS[char]] = votes.get(_LETTERS[char], 0.0) + 1.0
    if known in votes:
        votes[known] += 0.5
    return _winner(votes, known)


def _winner(votes: dict[str, float], known: str | None) -> str:
    ranked = sorted(votes.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < 0.3:
        return known or FALLBACK
    best, score = ranked[0]
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    if best not in RULED and score < 2 * _FIRST_AMONG_FEW:  # a few foreign words prove nothing
        own = [language for language, _ in ranked if language in RULED]
        return known or (own[0] if own else FALLBACK)
    if known and score - second < _FIRST_AMONG_FEW / (1 + score):
        return known
    return best


def _by_script(text: str, known: str | None) -> str | None:
    """The language of the script, where that is no Latin one; the known one, where it is written in the same."""
    told = _script_of(text)
    return known if told and known in _WRITTEN_LIKE.get(told, ()) else told


def _script_of(text: str) -> str | None:
    letters = [ord(c) for c in text[:_SCRIPT_CHARS_MAX] if c.isalpha()]
    counts: dict[str, int] = {}
    for code in letters:
        for low, high, language in _SCRIPTS:
            if low <= code <= high:
                counts[language] = counts.get(language, 0) + 1
    if not counts or sum(counts.values()) * 2 < len(letters):
        return None
    return "ja" if "ja" in counts else max(counts, key=lambda language: counts[language])
