"""Text as the checks read it: one form for digits, spaces and hidden characters, and stretches blotted out.

Pure string work; nothing here is ever shown to anybody.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

BLOT = " \u2022 "  # what stands where something was accounted for: neither letter nor digit
_QUOTES = str.maketrans({"’": "'", "ʼ": "'", "`": "'", "´": "'", "٫": ".", "٬": ","})  # and Arabic number marks
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts that put no space beside an id or a number
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef]")
_DIRECTIONS = "\u200e\u200f\u061c"
_FROM_THE_RIGHT = frozenset({"ar", "ckb", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
_JOINERS = "\u200c\u200d"
_LATIN_END = "\u024f"
_EDGES = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_UNSPACED}])|(?<=[{_UNSPACED}])(?=[A-Za-z0-9])")


def shown(text: str, language: str) -> str:
    """Return `text` without what a reader cannot see: what is published is what the checks have read.

    Line breaks stay; joiners between letters beyond Latin, where they are part of the spelling; and in a language that
    is written from right to left the marks of direction that its dates and amounts are written with.
    """
    marks = _DIRECTIONS if language.partition("-")[0] in _FROM_THE_RIGHT else ""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    if lines.isascii() and lines.replace("\n", "").isprintable():
        return lines
    beside = zip(f" {lines}", lines, f"{lines} "[1:], strict=False)
    return "".join(
        c for before, c, after in beside if c == "\n" or c in marks or _is_seen(c) or _joins(before, c, after)
    )


def _is_seen(char: str) -> bool:
    return unicodedata.category(char) not in _UNSEEN and not _BLANK.match(char)


def _joins(before: str, char: str, after: str) -> bool:
    return char in _JOINERS and all(
        _is_seen(c) and c > _LATIN_END and unicodedata.category(c)[0] in "LM" for c in (before, after)
    )


def plain(text: str) -> str:
    """Return `text` with ASCII digits, plain spaces and apostrophes, and without hidden characters.

    Ids and numbers stand apart from words in scripts that would join them.
    """
    if text.isascii():
        return text.translate(_QUOTES)
    composed = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    seen = "".join(_char(c) for c in composed if unicodedata.category(c) != "Cf")
    return _EDGES.sub(" ", seen)


def _char(char: str) -> str:
    digit = None if char.isascii() else unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def contains_word(text: str, word: str) -> bool:
    """Return whether `word` stands in `text` as a whole, whatever its case."""
    return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))


def blot_words(text: str, words: Iterable[str]) -> str:
    """Return `text` without those words and phrases, longest first, each only where it stands as a whole."""
    folded = text.casefold()  # most words stand nowhere in it, and a search for each would cost the most of all checks
    for word in sorted((w for w in set(words) if w.casefold() in folded), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", BLOT, text, flags=re.IGNORECASE)
    return text


def blot_where(text: str, pattern: re.Pattern[str], holds: Callable[[re.Match[str]], bool]) -> str:
    """Return `text` without those matches of `pattern` for which `holds` is true."""
    return pattern.sub(lambda match: BLOT if holds(match) else match[0], text)
