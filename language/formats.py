"""Money and dates as each language writes them.

Amounts come in integer minor units as ISO 4217 counts them, days are told in UTC.
"""

import re
from copy import copy
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_skeleton, format_time, get_timezone_name
from babel.numbers import NumberPattern, format_decimal

from language.words import spoken

_NO_DECIMALS = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF")
_THREE_DECIMALS = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")
_CODE_BESIDE_DIGIT = re.compile(r"(?<=[A-Z])(?=\d)|(?<=\d)(?=[A-Z])")
_DAYS_AS_IN = {"en": "en_GB"}  # the day before the month, without a comma


def exponent(currency: str) -> int:
    """Return how many decimals the minor unit of a currency has."""
    code = currency.upper()
    return 0 if _NO_DECIMALS.fullmatch(code) else 3 if _THREE_DECIMALS.fullmatch(code) else 2


def money(minor: int, currency: str, language: str) -> str:
    """Return `minor` units of `currency` as the language writes them, with all decimals and none too many."""
    code = currency.upper()
    decimals = exponent(code)
    amount = Decimal(minor).scaleb(-decimals)
    locale = spoken(language)
    pattern = _pattern(locale, decimals)
    written = str(pattern.apply(amount, _locale(locale), currency=code, currency_digits=False))
    return _CODE_BESIDE_DIGIT.sub("\u00a0", written)


def number(count: int, language: str) -> str:
    """Return a whole number as the language groups it."""
    return format_decimal(count, locale=_locale(spoken(language)))


def plural(count: int, language: str) -> str:
    """Return the CLDR plural form of whole numbers that `count` takes in the language: `one`, `many`, `other`."""
    return str(_locale(spoken(language)).plural_form(count))


def day(at: datetime, now: datetime, language: str) -> str:
    """Return the day of `at`, with its year where it is not that of `now`."""
    here, today = at.astimezone(UTC), now.astimezone(UTC)
    skeleton = "MMMMd" if here.year == today.year else "yMMMMd"
    locale = spoken(language)
    return format_skeleton(skeleton, here.date(), locale=_locale(_DAYS_AS_IN.get(locale, locale)))


def moment(at: datetime, timezone: str, language: str) -> tuple[str, str, str]:
    """Return the weekday and day, the time of day and the name of the clock on which `timezone` reads `at`."""
    here, locale = at.astimezone(ZoneInfo(timezone)), spoken(language)
    told = _locale(_DAYS_AS_IN.get(locale, locale))
    clock = get_timezone_name(here, width="long", locale=told)
    return format_skeleton("MMMMEEEEd", here.date(), locale=told), format_time(here, "short", locale=told), clock


@cache
def _locale(name: str) -> Locale:
    return Locale.parse(name)


@cache
def _pattern(locale: str, decimals: int) -> NumberPattern:
    pattern: NumberPattern = copy(_locale(locale).currency_formats["standard"])
    pattern.frac_prec = (decimals, decimals)
    return pattern
