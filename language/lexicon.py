"""The lexicons: for each language its phrases by concept, loaded once from `data/lexicon.<language>.toml`.

A lexicon finds concepts in tokens and mends small slips of spelling; what concepts mean together is not its business.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from domain.base import Noun
from language.patterns import compiled, literals
from language.tokens import ID_TOKEN
from language.tongues import is_frequent

_DATA = Path(__file__).parent / "data"
_STEM_MIN = 4  # a shorter word is never taken for a stem or a slip
_SLIP_MIN = 6  # the shortest word that one wrong letter is forgiven in
_HIDDEN_PHRASE = "_ "
_DONE = "done"  # the mood that a "not" changes
_AS_CONCEPT = {_DONE: "was_done", "thanked_that": "thanked"}
_OF_ONE_PHRASE = (_DONE, "thanked")
_DENIES_BEFORE = 2  # tokens before "was refunded" in which a "not" makes it a complaint
_NEGATION_REACH = 4  # tokens between a negator and what it denies


class Hit(Noun):
    """One concept found in a line of tokens, by character positions; `denied` when a negation reaches it."""

    concept: str
    start: int
    end: int
    sentence: int
    denied: bool = False


class Lexicon:
    """One language's phrases."""

    def __init__(self, language: str) -> None:
        raw = tomllib.loads((_DATA / f"lexicon.{language}.toml").read_text(encoding="utf-8"))
        macros: dict[str, list[str]] = raw["macros"]
        concepts: dict[str, list[str]] = raw["concepts"]
        self.language = language
        self.concepts = {name: compiled(phrases, macros) for name, phrases in concepts.items()}
        self.concepts["mention"] = compiled([ID_TOKEN], {})
        self._negator, self._but = self.concepts.pop("negator"), self.concepts.pop("but")
        self._masks = compiled(raw["masks"], macros)
        moods: dict[str, list[str]] = tomllib.loads((_DATA / "moods.toml").read_text(encoding="utf-8"))[language]
        self._not = compiled(moods.pop("negation"), macros)
        self._moods = {name: compiled(phrases, macros) for name, phrases in moods.items()}
        words = literals([p for phrases in (*macros.values(), *concepts.values(), raw["masks"]) for p in phrases])
        self._words = {word for word, stem in words if not stem} | set(raw["fine"])
        self._stems = tuple(sorted({word for word, stem in words if stem and len(word) >= _STEM_MIN}))
        self._heads = frozenset(self._stems)
        self._slips = _slips_of(word for word, _ in words if len(word) >= _SLIP_MIN)

    def knows(self, token: str) -> bool:
        """Whether `token` is one of its words or begins with one of its stems."""
        return token in self._words or any(
            token[:size] in self._heads for size in range(_STEM_MIN, min(len(token), 16) + 1)
        )

    def mended(self, tokens: Sequence[str]) -> list[str]:
        """Return `tokens` with words that are one slip away from a known word put right."""
        return [self._mend(t) for t in tokens]

    def hits(self, tokens: Sequence[str]) -> tuple[Hit, ...]:
        """Return every concept of `tokens`, in no particular order."""
        line = self._masks.sub(_HIDDEN_PHRASE, " ".join(tokens) + " ")
        denials = tuple(m.span() for m in self._negator.finditer(line))
        found = []
        for name, pattern in self.concepts.items():
            for match in pattern.finditer(line):
                start, end = match.span()
                sentence = line.count(". ", 0, start)
                found.append(
                    Hit.model_construct(
                        concept=name, start=start, end=end, sentence=sentence, denied=self._denied(line, start, denials)
                    )
                )
        return (*found, *self._moods_in(line))

    def _moods_in(self, line: str) -> Iterator[Hit]:
        """How things are spoken of; what "was not done" is told apart from what was."""
        for name, pattern in self._moods.items():
            for match in pattern.finditer(line):
                start, end = match.span()
                if name in _OF_ONE_PHRASE and ", " in match[0]:
                    continue
                before = " ".join(line[:start].split(" ")[-_DENIES_BEFORE - 1 :]).rpartition(". ")[2]
                denied = name == _DONE and self._not.search(f" {before}{match[0]}") is not None
                concept = "not_done" if denied else _AS_CONCEPT.get(name, name)
                yield Hit(concept=concept, start=start, end=end, sentence=line.count(". ", 0, start))

    def _denied(self, line: str, start: int, denials: Sequence[tuple[int, int]]) -> bool:
        for begin, end in denials:
            if begin < start < end:  # "don't need a human": the negation holds the wish's own verb
                return True
            between = line[end:start]
            if begin < start and end <= start and not re.search(r"[.,] ", between):
                near = between.count(" ") <= _NEGATION_REACH
                if near and not self._but.search(between):
                    return True
        return False

    def _mend(self, token: str) -> str:
        if len(token) < _SLIP_MIN - 1 or is_frequent(token) or self.knows(token):
            return token
        for size in (len(token), *range(min(len(token), 14), _SLIP_MIN - 2, -1)):
            for form in _shortened(token[:size]):
                for word in self._slips.get(form, ()):
                    whole = size == len(token) or word in self._heads
                    if whole and word[0] == token[0] and _one_slip(token[:size], word):
                        return word + token[size:] if word in self._heads else word
        return token


def _shortened(word: str) -> tuple[str, ...]:
    return (word, *(word[:i] + word[i + 1 :] for i in range(1, len(word))))


def _slips_of(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    index: dict[str, tuple[str, ...]] = {}
    for word in words:
        for form in _shortened(word):
            index[form] = (*index.get(form, ()), word)
    return index


def _one_slip(written: str, meant: str) -> bool:
    """Whether one letter was left out, put in, replaced, or swapped with its neighbour."""
    if len(written) == len(meant):
        wrong = [i for i, (a, b) in enumerate(zip(written, meant, strict=True)) if a != b]
        if len(wrong) == 2:
            i, j = wrong
            return j == i + 1 and written[i] == meant[j] and written[j] == meant[i]
        return len(wrong) == 1
    longer, shorter = (written, meant) if len(written) > len(meant) else (meant, written)
    if len(longer) - len(shorter) != 1:
        return False
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a spoken language, built once."""
    return Lexicon(language)
