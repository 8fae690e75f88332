"""How many languages write a span of time, and a share of a hundred: what a number beside such a word counts.

Data, mostly from CLDR.
"""

import re
from functools import cache

from babel.units import format_unit

from policy.reply.calendar_words import READ_LANGUAGES
from policy.reply.plain import plain

_UNITS = ("minute", "hour", "day", "week", "month", "year")
_COUNTS = (1, 2, 5, 21)  # each plural form of these languages
_MORE = {
    "day": ("日", "天", "dag", "dagar", "dagarna", "workday", "workdays", "днів", "дня"),
    "hour": ("時間", "小时", "h"),
    "week": ("週", "周", "週間"),
    "month": ("月", "个月", "か月", "ヶ月"),
    "year": ("年",),
    "minute": ("分", "min"),
}
_PERCENT = re.compile(
    r"\s?(?:[%٪]|per ?cent(?!\w)|prozent|por ciento|por cento|per cento|pour cent|procent|процент|відсот|yüzde|pourcent"
    r"|パーセント|퍼센트|प्रतिशत|بالمئة|بالمائة|في المئة|في المائة)",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[ \-]?([^\W\d_]+)(?: ([^\W\d_]+))?(?: ([^\W\d_]+))?")
_SUFFIX_MIN = 4  # letters of a unit at the end of a longer word, as in "Werktage"
_SEES_UNSPACED = 4  # characters behind a number, where words are not spaced
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@cache
def _unit_words() -> dict[str, str]:
    words = {w: unit for unit, more in _MORE.items() for w in more}
    for language in READ_LANGUAGES:
        for unit in _UNITS:
            for count in _COUNTS:
                written = plain(str(format_unit(count, f"duration-{unit}", "long", locale=language)))
                for word in re.findall(r"[^\W\d_][^\s\d]*", written.casefold()):
                    words.setdefault(word, unit)
    return words


def unit_behind(text: str, at: int) -> str | None:
    """Return what the number that ends at `at` of plain `text` counts: `%`, `day` and the like, or None."""
    if _PERCENT.match(text, at):
        return "%"
    near = text[at : at + _SEES_UNSPACED].strip()
    if _UNSPACED.search(near):
        return next((u for w, u in _unit_words().items() if _UNSPACED.search(w) and w in near), None)
    following = _NEXT.match(text, at)
    near_words = [word.casefold() for word in (following.groups() if following else ()) if word]
    units = (_unit_words().get(word) for word in near_words)
    return next((unit for unit in units if unit), _unit_at_the_end_of(near_words[0]) if near_words else None)


def _unit_at_the_end_of(folded: str) -> str | None:
    words = _unit_words()
    ends = (folded[start:] for start in range(1, len(folded) - _SUFFIX_MIN + 1))
    return next((words[end] for end in ends if end in words), None)
