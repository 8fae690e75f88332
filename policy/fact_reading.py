"""Reading facts out of a sentence: whatever stands in the evidence is blotted out, and the rest must state none.

Pure; amounts are compared as minor units and dates as days, so that each language may write them its own way.
"""

import re
from functools import cache

from babel.dates import get_month_names
from babel.numbers import get_currency_symbol

from policy.claim_words import LANGUAGES
from policy.plain import blot_where, blot_words, plain
from policy.reply_facts import Facts
from policy.status_words import STATUS, denied

_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
_NUMBER = r"(?<![\d.,])(?P<{0}>\d{{1,3}}(?:[ .,']\d{{3}})+(?:[.,]\d{{1,3}})?|\d+(?:[.,]\d{{1,3}})?)(?![.,]?\d)"
_TIME = re.compile(r"(?<![\d:])(\d{1,2})[:h](\d{2})(?::\d{2})?(?: ?([ap])\.?m\.?)?(?![\d:])", re.IGNORECASE)
_THINGS = (
    r"orders?|items?|subscriptions?|payments?|charges?|pedidos?|artículos?|suscripci(?:ón|ones)|pagos?|cargos?"
    r"|bestellung(?:en)?|artikeln?|abos?|abonnements?|zahlung(?:en)?|commandes?|articles?|paiements?"
    r"|encomendas?|ite(?:m|ns)|assinaturas?|pagamentos?|ordin[ei]|articol[io]|abbonament[io]|pagament[io]"
)
_COUNT = re.compile(
    rf"(?<![\d.,])(\d{{1,4}})(?= ?[×x] | (?:[^\W\d]+ )?(?:{_THINGS})(?!\w))|(?<=[×x] )(\d{{1,4}})(?![\d.,]*\d)",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"(?<!\d)(\d{1,4})([-./])(\d{1,2})\2(\d{2,4})(?!\d)")


def unexplained(text: str, facts: Facts) -> str:
    """Return what is left of `text`, in plain form, once everything in it that stands in `facts` is blotted out."""
    left = blot_words(blot_words(text, facts.ids), map(plain, facts.names))
    for pattern in (_dated(), _NUMERIC):
        left = blot_where(left, pattern, lambda match: _is_known_day(match, facts))
    left = blot_where(left, _TIME, lambda match: _is_known_time(match, facts))
    if facts.amounts:
        pattern = _amount(frozenset(code for code, _ in facts.amounts))
        left = blot_where(left, pattern, lambda match: _is_known_amount(match, facts))
    return blot_where(left, _COUNT, lambda match: int(match[1] or match[2]) in facts.counts)


def names_a_day(text: str, facts: Facts) -> bool:
    """Return whether `text` says of which day it speaks, and the day is one of the facts."""
    return any(_is_known_day(match, facts) for pattern in (_dated(), _NUMERIC) for match in pattern.finditer(text))


def statuses_stand(text: str, facts: Facts, *, then: bool = False) -> bool:
    """Return whether every status told in `text` is one of the facts, and every one denied is not.

    `then`: the sentence says of which day it speaks, so that what was known then may be told.
    """
    known = facts.statuses | facts.statuses_then if then else facts.statuses
    return all(
        (name in known) is not denied(text, match.start())
        for name, pattern in STATUS.items()
        for match in pattern.finditer(text)
    )


def _is_known_amount(match: re.Match[str], facts: Facts) -> bool:
    money, number = match["c1"] or match["c2"], match["n1"] or match["n2"]
    return any(money in _signs(code) and _minor(number, code) == minor for code, minor in facts.amounts)


def _minor(number: str, code: str) -> int | None:
    """`number`, however grouped, in minor units of the currency; None where it has decimals that those have not."""
    precision = 0 if code in _NO_DECIMALS else 3 if code in _THREE_DECIMALS else 2
    decimals = re.search(rf"[.,](\d{{1,{max(2, precision)}}})$", number)
    given = len(decimals[1]) if decimals else 0
    digits = int("".join(c for c in number if c.isdigit()))
    return digits * 10 ** (precision - given) if given <= precision else None


@cache
def _signs(code: str) -> frozenset[str]:
    """How a currency is written in any of the languages: "EUR", "€", "US$", "$US"."""
    return frozenset({code, *(plain(get_currency_symbol(code, language)) for language in LANGUAGES)})


@cache
def _amount(codes: frozenset[str]) -> re.Pattern[str]:
    """A number with a sign of one of the currencies before or behind it."""
    signs = sorted((re.escape(sign) for code in codes for sign in _signs(code)), key=len, reverse=True)
    money = f"(?:{'|'.join(signs)})"
    before = rf"(?<!\w)(?P<c1>{money}) ?{_NUMBER.format('n1')}"
    return re.compile(rf"{before}|{_NUMBER.format('n2')} ?(?P<c2>{money})(?!\w)")


def _is_known_day(match: re.Match[str], facts: Facts) -> bool:
    days = {(at.year, at.month, at.day) for at in facts.times}
    if match.re is _NUMERIC:
        a, b, c = int(match[1]), int(match[3]), int(match[4])
        readings = {(a, b, c), (_year(c), b, a), (_year(c), a, b)}
        return bool(days & readings)
    month = _months()[match["m1" if match["m1"] else "m2"].casefold()]
    day, year = int(match["d1"] or match["d2"]), match["y1"] or match["y2"]
    return any((not year or int(year) == y) and month & {m} and day == d for y, m, d in days)


def _year(number: int) -> int:
    return number + 2000 if number < 100 else number


def _is_known_time(match: re.Match[str], facts: Facts) -> bool:
    hour, minute = int(match[1]), int(match[2])
    if match[3]:
        hour = hour % 12 + (12 if match[3].casefold() == "p" else 0)
    return any((at.hour, at.minute) == (hour, minute) for at in facts.times)


@cache
def _months() -> dict[str, set[int]]:
    """The months that a name may mean in some language; "mar" and the like mean the same in all of them."""
    names: dict[str, set[int]] = {}
    for language in sorted(LANGUAGES):
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for month, name in get_month_names(width, context, language).items():
                    names.setdefault(name.rstrip(".").casefold(), set()).add(int(month))
    return names


@cache
def _dated() -> re.Pattern[str]:
    """A day and a month by its name, in either order, with or without a year."""
    month = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    return re.compile(
        rf"(?<![\d.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|o|\.)? ?(?:de |of |di )?(?P<m1>{month})(?!\w)\.?,?"
        rf"(?: ?(?:de |of |di )?(?P<y1>\d{{4}})(?!\d))?"
        rf"|(?<!\w)(?P<m2>{month})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y2>\d{{4}})(?!\d))?",
        re.IGNORECASE,
    )
