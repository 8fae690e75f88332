"""The amounts of money that a customer's words name: read where they can be read in one way, else marked as unread.

An unread amount has no value. Whoever decides asks about it, since the whole must not be taken where a part was named.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from domain.understanding import Entity, EntityKind
from language.formats import exponent
from language.tokens import LATIN, fold

_DATA = Path(__file__).parent / "data" / "amounts.toml"
_NEAR_A_WISH = 3  # words between "refund" and a number that says how much of it
_UNREAD_WORDS_MAX = 60  # characters of what carried it

_SIGNS = {
    "€": "EUR",
    "$": "USD",
    "us$": "USD",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "r$": "BRL",
    "zł": "PLN",
    "₴": "UAH",
}
_SIGNS |= {"₺": "TRY", "₽": "RUB", "euro": "EUR", "euros": "EUR", "dollar": "USD", "dollars": "USD", "dolares": "USD"}
_SIGNS |= {"pounds": "GBP", "reais": "BRL", "franken": "CHF", "yen": "JPY", "kč": "CZK", "lei": "RON", "円": "JPY"}
_CODES = (
    "EUR",
    "USD",
    "GBP",
    "CHF",
    "JPY",
    "BRL",
    "PLN",
    "SEK",
    "NOK",
    "DKK",
    "CZK",
    "RON",
    "TRY",
    "UAH",
    "INR",
    "CAD",
    "AUD",
)
_CURRENCY = (
    r"(?:us\$|r\$|[€$£¥₹₴₺₽円]|zł|kč|\b(?:eur|usd|gbp|chf|jpy|brl|pln|sek|nok|dkk|czk|ron|try|uah|inr|cad|aud|"
    + (r"euros?|dollars?|d[oó]lares|pounds|reais|franken|yen|lei)\b)")
)
_NUMBER = r"[1-9]\d{0,2}(?:[.,' \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?"
_AMOUNT = re.compile(
    rf"(?<![-–−(\d]\s)(?<![-–−(\d])(?P<before>{_CURRENCY})\s?(?P<n1>{_NUMBER})"
    rf"(?![{LATIN}])(?![.,]?\d)(?!\s?[-–−x×*/]\s?\d)(?!\s\d)(?!\s?{_CURRENCY})"
    rf"|(?<![{LATIN}.,'’×*/−–(-])(?<!\d\s)(?<![-–−x×*/]\s)(?P<n2>{_NUMBER})\s?(?P<after>{_CURRENCY})(?!\s?\d)(?!\s?[-–−x×*/]\s?\d)",
    re.IGNORECASE,
)
# A number in a row of its own marks: `1.000`, `20,-`, `.50`, `1e2`, `5k`, `5-10`, `50 %`.
_DIGITS = re.compile(
    r"(?:[-–−+(]\s?)?[.,]?\d[\d.,'’]*(?:[eE]\d{1,3}|[kK](?![A-Za-z]))?"
    r"(?:\s?[-–−x×*/]\s?\d[\d.,'’]*|,?[-–—]+(?![^\W\d_]))?"
)
_ODD = re.compile(
    r"^\D*[.,]\d|\d[.,'’]\d|\d,?[-–—]+$|\d[eEkK]|\d\s?[-–−x×*]\s?\d|^[-–−]|(?<![\d/])[1-3]\s?/\s?[2-5](?![\d/])"
)
_SOON = r"(?:[\s,\0]+\w+){0,3}?[\s,\0]+"  # after at most three other words
_WORD, _SENTENCE = re.compile(r"[^\W\d_]+"), re.compile(r"[.,;!?\n]")


def amounts_in(text: str, others: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Entity]]:
    """Yield what is named in `text` with where it begins; `others` are the stretches that name something else.

    Where one amount cannot be read, it is the only one: what the others are of cannot be told either.
    """
    read, covered = [], list(others)
    for match in _AMOUNT.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in others):
            continue
        minor, currency = _read(match)
        covered.append(match.span())
        unsure = minor is None or _bounded(text, *match.span())
        read.append((match.start(), _amount("" if unsure else f"{minor} {currency}".strip(), match[0])))
    rest = text
    for start, end in covered:
        rest = rest[:start] + "\0" * (end - start) + rest[end:]
    unread = _unread(rest)
    if unread is None and all(entity.value for _, entity in read):
        yield from read
    elif unread is None:
        yield next(item for item in read if not item[1].value)
    else:
        words = text[slice(*unread)].strip(" ,\0")
        yield unread[0], _amount("", words[:_UNREAD_WORDS_MAX])


def _amount(value: str, words: str) -> Entity:
    return Entity(kind=EntityKind.AMOUNT, value=value, words=words)


def _read(match: re.Match[str]) -> tuple[int | None, str]:
    named = fold(match["before"] or match["after"])
    currency = named.upper() if named.upper() in _CODES else _SIGNS.get(named, _SIGNS.get(match["after"] or "", ""))
    return minor_units(match["n1"] or match["n2"], currency), currency


def minor_units(written: str, currency: str) -> int | None:
    """Return a number as customers write it in minor units of `currency`, or None where it has too many decimals.

    The last mark before one or two digits is the decimal one; marks before three digits are for reading only.
    """
    places = exponent(currency)
    parts = re.split(r"[.,' \u00a0\u202f]", written)
    decimals = parts.pop() if len(parts) > 1 and len(parts[-1]) <= 2 else ""
    if len(decimals) > places:
        return None
    whole = int("".join(parts)) * int(10**places)
    return whole + (int(decimals.ljust(places, "0")) if places and decimals else 0)


def _bounded(text: str, start: int, end: int) -> bool:
    """Whether the words beside an amount make it another: "all but 5 euros", "at least 5", "5 euros each"."""
    before = f" {_words(_SENTENCE.split(text[max(0, start - 40) : start])[-1])} "
    after = f" {_words(text[end : end + 24])} "
    return _table()["before"].search(before) is not None or _table()["after"].search(after) is not None


def _unread(rest: str) -> tuple[int, int] | None:
    """Where the first amount stands that is one and cannot be read, in what names nothing else."""
    table = _table()
    plain = _even(rest)
    wishes = [m.end() for m in table["wish"].finditer(plain)]
    for match in _DIGITS.finditer(rest):
        if _is_amount(match, rest, wishes):
            return match.span()
    named = (table["number_of_money"].search(plain), table["share"].search(plain) if wishes else None)
    if found := next(filter(None, named), None):
        return found.span()
    after = (table[name].match(plain, end) for end in wishes for name in ("number", "portion"))
    return next((found.span() for found in after if found is not None), None)


def _is_amount(match: re.Match[str], rest: str, wishes: Sequence[int]) -> bool:
    table = _table()
    before, after = _even(rest[max(0, match.start() - 12) : match.start()]), _even(rest[match.end() : match.end() + 24])
    touching = before[-1:] if before[-1:].isascii() and before[-1:].isalnum() else ""
    if touching or table["counted"].match(after):
        return False
    if table["money_after"].match(after) or table["money_before"].search(before):
        return True
    if _ODD.search(match[0].rstrip(".,")):
        return True
    if table["noun_after"].match(after):
        return False
    return any(_few_words(rest[end : match.start()]) for end in wishes if end <= match.start()) or bool(
        table["back_after"].match(after)
    )


def _few_words(between: str) -> bool:
    return len(_WORD.findall(between)) <= _NEAR_A_WISH and not _SENTENCE.search(between)


def _even(text: str) -> str:
    """The same, folded letter by letter, so that places stay where they are."""
    return "".join(map(_letter, text))


@lru_cache(maxsize=1024)
def _letter(char: str) -> str:
    return (fold(char) or char)[0]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+|[x×*%]", fold(text)))


@cache
def _table() -> dict[str, re.Pattern[str]]:
    raw: dict[str, dict[str, str]] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    lists = {name: _either(by_language) for name, by_language in raw.items()}
    number, money, back = lists["number"], lists["money"], lists["back"]
    return {
        "before": re.compile(rf" (?:{lists['before']})(?: [^ ]+){{0,2}} $"),
        "after": re.compile(rf"^ (?:{lists['after']})\b"),
        "wish": re.compile(rf"(?:{lists['wish']})[^\W\d_]*"),
        "share": re.compile(
            rf"(?<!in )(?<!por la )(?<!em )(?<!zur )(?<!\w)(?:{lists['share']})(?!\w)"
            rf"(?!\s+(?:an?\s+)?(?:{lists['counted']})\b)"
            rf"|(?<!\w)(?:{lists['far']})"
        ),
        "portion": re.compile(rf"{_SOON}(?:{lists['portion']})(?!\w)"),
        "number": re.compile(rf"{_SOON}(?:{number})(?!\w)(?=\s*(?:$|[.,;!?\0]|(?:{back})\b))"),
        "number_of_money": re.compile(
            rf"(?<!\w)(?:{number}|{lists['article']})[\s-]{{1,2}}(?:(?:{number})[\s-]{{1,2}})?(?:{money}|%)(?!\w)"
        ),
        "money_after": re.compile(rf"[\s\0)]{{0,2}}(?:{money}|[€$£¥₹₴₺₽円%％٪])(?![{LATIN}])"),
        "money_before": re.compile(rf"(?:(?<![{LATIN}])(?:{money})|[€$£¥₹₴₺₽])[.:]?\s?\(?$"),
        "counted": re.compile(rf"[\s-]?(?:{lists['counted']})(?![{LATIN}])|(?:st|nd|rd|th)\b|º|ª|:\d"),
        "noun_after": re.compile(rf"\s+(?!(?:{back})\b)[^\W\d_]"),
        "back_after": re.compile(rf"\s*(?:{lists['returned']})(?!\w)"),
    }


def _either(by_language: dict[str, str]) -> str:
    phrases = {_even(p.strip()) for line in by_language.values() for p in line.replace("\n", " ").split(",")}
    return "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in sorted(phrases - {""}, key=len, reverse=True))
