"""Reading facts out of a sentence: whatever stands in the evidence is blotted out, and the rest must state none.

Pure; amounts are compared as minor units and dates as days, so that each language may write them its own way.
"""

import re
from functools import cache

from babel.numbers import get_currency_name, get_currency_symbol

from policy.reply.calendar_words import READ_LANGUAGES, months
from policy.reply.facts import Facts
from policy.reply.plain import blot_where, blot_words, plain
from policy.reply.status_words import STATUS, denied

_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
_NUMBER = (
    r"(?<![\d.,])(?P<{0}>\d{{1,3}}(?:[ .,']\d{{3}})+(?:[.,]\d{{1,3}})?|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}(?:\.\d{{1,3}})?"
    r"|\d+(?:[.,]\d{{1,3}})?)(?![.,]?\d)"
)  # thousands, thousands and lakhs, or not grouped
TIME = re.compile(r"(?<![\d:])(\d{1,2})[:h](\d{2})(?::\d{2})?(?: ?([ap])\.?m\.?)?(?![\d:])", re.IGNORECASE)
_THINGS = (
    r"orders?|items?|subscriptions?|payments?|charges?|pedidos?|artículos?|suscripci(?:ón|ones)|pagos?|cargos?"
    r"|bestellung(?:en)?|artikeln?|abos?|abonnements?|zahlung(?:en)?|commandes?|articles?|paiements?"
    r"|encomendas?|ite(?:m|ns)|assinaturas?|pagamentos?|ordin[ei]|articol[io]|abbonament[io]|pagament[io]"
    r"|bestelling(?:en)?|abonnementen|zamówie(?:nie|nia|ń)|subskrypcj[aieę]|subskrypcji|заказ(?:а|ов)?"
    r"|подпис(?:ка|ки|ок)|шт\.?|sipariş\w*|aboneli[kğ]\w*"
)
_UNSPACED_THINGS = r"个(?:订单|订阅)|件(?:です|あり|の)"
_COUNT = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[., ']\d{3})+|\d{1,4})"
    rf"(?= ?[×x] | (?:[^\W\d]+ )?(?:{_THINGS})(?!\w)| ?(?:{_UNSPACED_THINGS}))"
    r"|(?<=[×x] )(\d{1,4})(?![\d.,]*\d)",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"(?<!\d)(\d{1,4})([-./]) ?(\d{1,2})\2 ?(\d{1,4})(?!\d)")
_EASTERN = re.compile(r"(?:(?<!\d)(\d{4}) ?[年년] ?)?(?<!\d)(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")


def unexplained(text: str, facts: Facts) -> str:
    """Return what is left of `text`, in plain form, once everything in it that stands in `facts` is blotted out."""
    left = blot_words(blot_words(text, facts.ids), map(plain, facts.names))
    for pattern in day_patterns():
        left = blot_where(left, pattern, lambda match: _is_known_day(match, facts))
    left = blot_where(left, TIME, lambda match: _is_known_time(match, facts))
    if facts.amounts:
        pattern = amount_pattern(frozenset(code for code, _ in facts.amounts))
        left = blot_where(left, pattern, lambda match: _is_known_amount(match, facts))
    return blot_where(left, _COUNT, lambda match: _count(match[1] or match[2]) in facts.counts)


def _count(number: str) -> int:
    return int("".join(c for c in number if c.isdigit()))


def names_a_day(text: str, facts: Facts) -> bool:
    """Return whether `text` says of which day it speaks, and the day is one of the facts."""
    return any(_is_known_day(match, facts) for pattern in day_patterns() for match in pattern.finditer(text))


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
    money, number = (match["c1"] or match["c2"]).casefold(), match["n1"] or match["n2"]
    return any(money in signs(code) and _minor(number, code) == minor for code, minor in facts.amounts)


def _minor(number: str, code: str) -> int | None:
    """`number`, however grouped, in minor units of the currency; None where it has decimals that those have not."""
    precision = 0 if code in _NO_DECIMALS else 3 if code in _THREE_DECIMALS else 2
    decimals = re.search(rf"[.,](\d{{1,{max(2, precision)}}})$", number)
    given = len(decimals[1]) if decimals else 0
    digits = int("".join(c for c in number if c.isdigit()))
    return digits * 10 ** (precision - given) if given <= precision else None


@cache
def signs(code: str) -> frozenset[str]:
    """Return how a currency is written in any of the languages, folded: "eur", "€", "us$", "euros"."""
    written = {code, *(get_currency_symbol(code, language) for language in READ_LANGUAGES)}
    written |= {get_currency_name(code, count, language) for language in READ_LANGUAGES for count in (1, 2, 5)}
    return frozenset({plain(sign).casefold() for sign in written} | _MORE_SIGNS.get(code, frozenset()))


_MORE_SIGNS = {
    "USD": frozenset({"dollars", "dollar", "dólares", "доллара", "долларов", "ドル", "美元", "달러", "دولار"}),
    "GBP": frozenset({"pounds", "pound"}),
    "JPY": frozenset({"yen", "円"}),
    "CNY": frozenset({"元", "yuan"}),
    "KRW": frozenset({"원", "won"}),
    "PLN": frozenset({"zł", "złotych"}),
    "RUB": frozenset({"руб", "рублей", "рубля"}),
    "INR": frozenset({"rupees", "रुपये"}),
    "TRY": frozenset({"lira", "tl"}),
    "SEK": frozenset({"kr", "kronor"}),
}


@cache
def amount_pattern(codes: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern for a number (`n1`, `n2`) with a sign (`c1`, `c2`) of one of the currencies beside it."""
    every = sorted((re.escape(sign) for code in codes for sign in signs(code)), key=len, reverse=True)
    money = f"(?:{'|'.join(every)})"
    before = rf"(?<!\w)(?P<c1>{money}) ?{_NUMBER.format('n1')}"
    return re.compile(rf"{before}|{_NUMBER.format('n2')} ?(?P<c2>{money})(?![a-zA-Z\u00c0-\u04ff])", re.IGNORECASE)


def days_meant(match: re.Match[str]) -> set[tuple[int | None, int, int]]:
    """Return the days, as year (None where none is told), month and day, that a match of a day pattern may mean."""
    if match.re is _NUMERIC:
        a, b, c = int(match[1]), int(match[3]), int(match[4])
        return {(a, b, c), (_year(c), b, a), (_year(c), a, b)}
    if match.re is _EASTERN:
        return {(int(match[1]) if match[1] else None, int(match[2]), int(match[3]))}
    name, day, year = (next(v for v in (match[f"{part}{n}"] for n in (1, 2, 3)) if v or part == "y") for part in "mdy")
    return {(int(year) if year else None, month, int(day or 0)) for month in months().get((name or "").casefold(), ())}


def _is_known_day(match: re.Match[str], facts: Facts) -> bool:
    days = {(at.year, at.month, at.day) for at in facts.times}
    return any(
        year in (None, y) and (month, day) == (m, d) for year, month, day in days_meant(match) for y, m, d in days
    )


def _year(number: int) -> int:
    return number + 2000 if number < 100 else number


def time_meant(match: re.Match[str]) -> tuple[int, int]:
    """Return the hour and minute that a match of `TIME` means."""
    hour, minute = int(match[1]), int(match[2])
    if match[3]:
        hour = hour % 12 + (12 if match[3].casefold() == "p" else 0)
    return hour, minute


def _is_known_time(match: re.Match[str], facts: Facts) -> bool:
    return any((at.hour, at.minute) == time_meant(match) for at in facts.times)


def day_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns by which a day is written, in the order in which they are to be tried."""
    return (_EASTERN, _dated(), _NUMERIC)


@cache
def _dated() -> re.Pattern[str]:
    """A day and a month by its name, in either order, with or without a year; or year, month and day."""
    month = "|".join(sorted(map(re.escape, months()), key=len, reverse=True))
    return re.compile(
        rf"(?<![\d.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|º|o|\.)? ?(?:de |of |di |ב)?(?P<m1>{month})(?!\w)\.?,?"
        rf"(?: ?(?:de |of |di )?(?P<y1>\d{{4}})(?!\d))?"
        rf"|(?<!\d)(?P<y3>\d{{4}})\.? (?P<m3>{month})\.? (?P<d3>\d{{1,2}})(?!\d)\.?"
        rf"|(?<!\w)(?P<m2>{month})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y2>\d{{4}})(?!\d))?",
        re.IGNORECASE,
    )
