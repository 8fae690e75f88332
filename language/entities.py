"""What a customer's words name: ids, amounts, dates, positions in a list, plans, streets, each with the very words.

Candidates until somebody matches them with the customer's own evidence; what could be read in two ways is left out.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path

from babel import Locale

from domain.understanding import Entity, EntityKind
from language.amounts import amounts_in
from language.mentions import no_amounts_in, plans_named
from language.tokens import fold
from language.tongues import RULED

ENTITIES_MAX = 40
READ_CHARS_MAX = 4_000
_DATA = Path(__file__).parent / "data" / "entities.toml"
_BEFORE_AN_ID = 4  # words

_YEAR_FIRST = re.compile(r"(?<![\w-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\w-])")
_BY_NUMBERS = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-])")
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,? (?:[A-Z][\w'’-]+ ){1,3}"
    r"(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|Row|Drive|Dr|Way|Court|Close|Place)\b"
    r"|\b(?:[A-ZÄÖÜ][\w-]{0,25}[ -])?[\wäöüß-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee) \d{1,4}[a-z]?\b"
    r"|\b\d{1,4}(?: bis)?,? (?:rue|avenue|boulevard|place|chemin|impasse) [\w'’ -]{3,40}?(?=[,.;\n]|$)"
    r"|\b(?:[Cc]alle|[Aa]venida|[Pp]laza|[Rr]ua|[Vv]ia|[Vv]iale|[Pp]iazza|[Cc]orso) "
    r"[A-ZÁÉÍÓÚ][\w'’ ]{2,40}?,? \d{1,5}\b"
)


def entities_in(text: str, mentions: Sequence[str], language: str) -> tuple[Entity, ...]:
    """Return what `text` names, in the order of its words, each once; `mentions` are the tokens that may be ids."""
    text = text[:READ_CHARS_MAX]
    named = (
        *_ids(text, mentions),
        *_dates(text, language),
        *_positions(text, language),
        *_of(EntityKind.PLAN, text, plans_named(text)),
        *((m.start(), Entity(kind=EntityKind.ADDRESS, value=m[0], words=m[0])) for m in _STREET.finditer(text)),
    )
    taken = [(at, at + len(e.words)) for at, e in named if e.kind is not EntityKind.POSITION]
    found: dict[tuple[EntityKind, str], tuple[int, Entity]] = {}
    for at, entity in (*named, *amounts_in(text, (*taken, *no_amounts_in(text, mentions)))):
        found.setdefault((entity.kind, entity.value), (at, entity))
    return tuple(entity for _, entity in sorted(found.values(), key=lambda item: item[0]))[:ENTITIES_MAX]


def _ids(text: str, mentions: Sequence[str]) -> Iterator[tuple[int, Entity]]:
    for mention in mentions:
        at = text.casefold().find(mention.casefold())
        if at < 0 or not any(c.isdigit() or c == "_" for c in mention):
            continue
        words = text[at : at + len(mention)]
        yield at, Entity(kind=_kind(words, text[max(0, at - 60) : at]), value=mention.lstrip("#"), words=words)


def _kind(ident: str, before: str) -> EntityKind:
    """What an id is one of, by its prefix or by the nearest word before it that says so."""
    if ident.casefold().startswith("sub_"):
        return EntityKind.SUBSCRIPTION
    if ident.casefold().startswith(("pay_", "ch_", "in_")):
        return EntityKind.PAYMENT
    for word in reversed(re.findall(r"[^\W\d_]+", fold(before))[-_BEFORE_AN_ID:]):
        for kind, words in _table()["ids"].items():
            if word in words:
                return EntityKind(kind)
    return EntityKind.ID


def _dates(text: str, language: str) -> Iterator[tuple[int, Entity]]:
    for match in _YEAR_FIRST.finditer(text):
        yield from _dated(match, int(match[1]), int(match[2]), int(match[3]))
    for match in _BY_NUMBERS.finditer(text):
        day, month, year = int(match[1]), int(match[3]), int(match[4])
        year = year if year > 99 else 2000 + year
        if match[2] == "/" and language == "en" and day != month:
            if day <= 12 and month <= 12:
                continue  # an American reads it the other way round
            if month > 12:
                day, month = month, day
        yield from _dated(match, year, month, day)
    for match in _named_months().finditer(text):
        day = int(match["d1"] or match["d2"])
        year = int(match["y1"] or match["y2"] or 0)
        yield from _dated(match, year, _month_of(match["m1"] or match["m2"]), day)


def _dated(match: re.Match[str], year: int, month: int, day: int) -> Iterator[tuple[int, Entity]]:
    """The date as ISO 8601; where no year is named as `--MM-DD`; nothing where there is no such day."""
    try:
        value = date(year or 2024, month, day).isoformat()
    except ValueError:
        return
    yield match.start(), Entity(kind=EntityKind.DATE, value=value if year else f"--{value[5:]}", words=match[0])


@cache
def _months() -> dict[str, int]:
    """The names of months in the languages that the rules read, folded, long and short."""
    names: dict[str, int] = {}
    for language in RULED:
        for width in ("wide", "abbreviated"):
            for number, name in Locale(language).months["format"][width].items():
                names.setdefault(fold(name).rstrip("."), number)
    return names


def _month_of(name: str) -> int:
    return _months()[fold(name).rstrip(".")]


@cache
def _named_months() -> re.Pattern[str]:
    names = {name for language in RULED for width in ("wide", "abbreviated")
             for name in Locale(language).months["format"][width].values()}  # fmt: skip
    folded = {fold(name).rstrip(".") for name in names} | {name.casefold().rstrip(".") for name in names}
    month = "|".join(re.escape(name) for name in sorted(folded, key=len, reverse=True))
    year = r"(?:,? (?:de(?:l)? |do )?(?P<y{n}>20\d\d))?"
    return re.compile(
        rf"(?<![\w.,-])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)? (?:de |of )?(?P<m1>{month})\b\.?{year.format(n=1)}"
        rf"|\b(?P<m2>{month})\b\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])\b{year.format(n=2)}",
        re.IGNORECASE,
    )


def _positions(text: str, language: str) -> Iterator[tuple[int, Entity]]:
    """Ordinals that point at one of several: after an article, or in a few words; "last week" points nowhere."""
    words = list(re.finditer(r"[^\W_]+", text))
    plain = [fold(word[0]) for word in words]
    around, ordinals = _table()["around"], _table()["positions"]
    for n, word in enumerate(plain):
        position = next((name for name, forms in ordinals.items() if word in forms), None)
        if position is None or (n + 1 < len(plain) and plain[n + 1] in around["not_positions"]):
            continue
        share = language == "en" and n > 0 and plain[n - 1] == "a"  # "a third"; elsewhere that is an article
        pointed = n > 0 and plain[n - 1] in around["pointing"] and not share
        if pointed or (len(words) <= _BEFORE_AN_ID and not share):
            first = words[n - 1] if pointed else words[n]
            told = text[first.start() : words[n].end()]
            yield first.start(), Entity(kind=EntityKind.POSITION, value=position, words=told)


def _of(kind: EntityKind, text: str, names: Sequence[str]) -> Iterator[tuple[int, Entity]]:
    for name in names:
        yield max(0, text.find(name)), Entity(kind=kind, value=name, words=name)


@cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    raw: dict[str, dict[str, str]] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {part: {name: frozenset(words.split()) for name, words in rows.items()} for part, rows in raw.items()}
