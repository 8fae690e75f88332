"""Whether a text names somebody, or something with a name of its own, that stands nowhere in what it rests on.

Pure, and rather once too often: a model's draft may write a name only where it has read it.
"""

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from typing import NamedTuple

from policy.reply.calendar_words import months, weekdays

_WORD = re.compile(r"[^\W\d_]+(?:['\-][^\W\d_]+)*")
_BEGINS = re.compile(r"(?:^|[.!?:。！？।؟\n•–—*])[\s\"'“”„«»¿¡(\[•–—\-*#>]*$")
_INITIALS_MAX = 4  # letters of what is no name but an abbreviation
_POLITE = frozenset(
    (  # noqa: SIM905
        "i i'm i'll i've i'd sie ihr ihre ihrem ihren ihrer ihres ihnen lei la le suo sua suoi sue usted ustedes ud uds"
        " su sus você senhor senhora o u uw pan pani panu panią pana państwo państwa вы вас вам ваш ваша ваше ваши"
        " вашего вашу вашей вашем вами ви de dem deres dere siz sizin sizi size ok faq pdf"
    ).split()
)
_ELIDED = frozenset("l d qu n s j m t c un all dell nell sull dall".split())  # noqa: SIM905
_ENDINGS = frozenset("s ll ve m d re t".split())  # noqa: SIM905
_CAPITALISED_NOUNS = frozenset({"de", "lb"})  # languages in which a capital says nothing
_TITLE = re.compile(
    r"(?<!\w)(?i:mr|mrs|ms|miss|dr|prof|herrn?|frau|señora?|sr|sra|monsieur|madame|mme|senhora?|signora?|sig|dhr|mevr"
    r"|meneer|mevrouw|pani?|panu|господин|госпожа|г-н|г-жа|herr|fru|bay|bayan)\.? (?P<name>[^\W\d_]+)"
)
_HONOURED = re.compile(
    r"(?P<ja>[\u3040-\u30ff\u4e00-\u9fff]{1,6})(?:様|さん|氏)|(?P<ko>[가-힣]{2,4})(?:씨|님)"
    r"|(?P<zh>[\u4e00-\u9fff]{1,3})(?:先生|女士|小姐)|(?:السيدة|السيد|الأستاذة|الأستاذ) (?P<ar>\w+)"
    r"|(?:श्रीमती|श्री) (?P<hi>\S+)"
)
_HONOURED_CUSTOMERS = re.compile(
    r"(?:お客|皆|おきゃく|客|担当者|ご担当者|お子|たく|みな|고객|회원|손|날|솜|글|마음|아저|아가|하느|손님|선생|여러분|这位|那位|各位|您好|尊敬的)$"
)


class _Capital(NamedTuple):
    """A word with a capital, and whether that says anything."""

    word: str
    start: int
    end: int
    begins: bool


def names_a_stranger(text: str, language: str, known: Container[str]) -> bool:
    """Return whether plain `text` names what is not among the `known` folded words."""
    if any(_is_new(m["name"], known) and m["name"][0].isupper() for m in _TITLE.finditer(text)):
        return True
    if any(_honours_a_stranger(m, known) for m in _HONOURED.finditer(text)):
        return True
    capitals = list(_capitals(text))
    if language.partition("-")[0] in _CAPITALISED_NOUNS:
        return any(
            b.start == a.end + 1 and _is_new(a.word, known) and _is_new(b.word, known) for a, b in pairwise(capitals)
        )
    return any(_is_new(c.word, known) for c in capitals if not c.begins)


def words_of(text: str) -> set[str]:
    """Return the words of plain `text`, folded: what may be named where it is known."""
    return {w for m in _WORD.finditer(text) for w in _forms(m[0])}


def _capitals(text: str) -> Iterator[_Capital]:
    for match in _WORD.finditer(text):
        word = match[0]
        abbreviated = word.isupper() and len(word) <= _INITIALS_MAX
        if word[0].isupper() and not (abbreviated and len(word) > 1):
            yield _Capital(word, match.start(), match.end(), bool(_BEGINS.search(text[: match.start()])))


def _is_new(word: str, known: Container[str]) -> bool:
    forms = _forms(word)
    if any(form in _POLITE or form in months() or form in weekdays() for form in forms):
        return False
    return len(word) > 1 and not any(form in known for form in forms)


def _honours_a_stranger(match: re.Match[str], known: Container[str]) -> bool:
    name = next(v for v in match.groupdict().values() if v)
    return not _HONOURED_CUSTOMERS.search(name) and name.casefold() not in known


def _forms(word: str) -> tuple[str, ...]:
    """The word folded, and without the article or the ending that an apostrophe joins to it."""
    folded = word.casefold()
    before, _, behind = folded.partition("'")
    return (folded, *((behind,) if before in _ELIDED else ()), *((before,) if behind in _ENDINGS else ()))
