"""How many languages name a day: months, days of the week, and "today" and its neighbours.

Data, mostly from CLDR; a word that means two things counts as both, so that a doubt never allows anything.
"""

import re
from functools import cache

from babel import Locale

from policy.reply.plain import plain

READ_LANGUAGES = (  # in whose forms amounts and days are read
    *("en", "es", "de", "fr", "pt", "it", "nl", "pl", "ru", "uk", "tr", "sv", "da", "nb", "fi", "cs", "sk", "hu", "ro"),
    *("el", "bg", "he", "ar", "hi", "ja", "zh", "ko", "th", "id"),
)
_WEEKDAYS_INFLECTED = {
    0: "poniedziałek lunes montags lundi понедельник",
    1: "вторник wtorek",
    2: "среду środę середу středu",
    3: "четверг czwartek",
    4: "пятницу piątek п'ятницу",
    5: "субботу sobotę суботу sobotu sonnabend 土曜 周六",
    6: "воскресенье niedzielę неділю neděli 星期天 周日 周天",
}
_CJK_DAYS = {
    n: f"{'月火水木金土日'[n]}曜 周{'一二三四五六日'[n]} 星期{'一二三四五六日'[n]} 礼拜{'一二三四五六日'[n]}"
    for n in range(7)
}
_RELATIVE = {
    -1: (
        "yesterday|ayer|gestern|hier|ontem|ieri|gisteren|wczoraj|вчера|вчора|dün|igår|i går|eilen|včera|tegnap|χθες"
        "|אתמול|أمس|昨日|昨天|어제|เมื่อวาน|kemarin"
    ),
    0: (
        "today|tonight|hoy|heute|aujourd'hui|hoje|oggi|stasera|vandaag|dzisiaj|dziś|сегодня|сьогодні|bugün|idag|i dag"
        "|tänään|dnes|ma|astăzi|azi|σήμερα|днес|היום|اليوم|आज|今日|本日|今天|오늘|วันนี้|hari ini"
    ),
    1: (
        "tomorrow|mañana|morgen|demain|amanhã|domani|jutro|завтра|yarın|imorgon|i morgon|i morgen|huomenna|zítra|holnap"
        "|mâine|αύριο|утре|מחר|غدا|غدًا|明日|明天|내일|พรุ่งนี้|besok"
    ),
}
_NOT_WORDS = {"ma", "hier"}  # "but" in Italian, "here" in German
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def bounded(words: list[str]) -> str:
    """Return a pattern for any of `words`, each as a whole where its script puts spaces between words."""
    ordered = sorted({w for w in words if w}, key=len, reverse=True)
    spaced = [re.escape(w) for w in ordered if not _UNSPACED.search(w)]
    unspaced = [re.escape(w) for w in ordered if _UNSPACED.search(w)]
    parts = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    return "|".join([*parts, *unspaced])


@cache
def months() -> dict[str, set[int]]:
    """Return the months that a name, folded, may mean in some language; names made with numbers are left out."""
    names: dict[str, set[int]] = {}
    for locale in map(Locale.parse, READ_LANGUAGES):
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for month, name in locale.months[context][width].items():
                    key = plain(name).rstrip(".").casefold()
                    if not any(c.isdigit() for c in key):
                        names.setdefault(key, set()).add(int(month))
    return names


@cache
def weekdays() -> dict[str, set[int]]:
    """Return the days of the week, Monday 0, that a word, folded, may mean in some language."""
    names: dict[str, set[int]] = {}
    for locale in map(Locale.parse, READ_LANGUAGES):
        for day, name in locale.days["stand-alone"]["wide"].items():
            names.setdefault(plain(name).casefold(), set()).add(int(day))
    for day in range(7):
        for name in f"{_WEEKDAYS_INFLECTED[day]} {_CJK_DAYS[day]}".split():
            names.setdefault(plain(name).casefold(), set()).add(day)
    return names


@cache
def _weekday_pattern() -> re.Pattern[str]:
    return re.compile(bounded(list(weekdays())), re.IGNORECASE)


@cache
def _relative_patterns() -> dict[int, re.Pattern[str]]:
    return {
        offset: re.compile(bounded([w for w in words.split("|") if w not in _NOT_WORDS]), re.IGNORECASE)
        for offset, words in _RELATIVE.items()
    }


def weekdays_in(text: str) -> list[set[int]]:
    """Return what each day of the week that plain `text` names may be."""
    return [weekdays().get(m[0].casefold(), set()) for m in _weekday_pattern().finditer(text)]


def relative_days_in(text: str) -> set[int]:
    """Return how far from today the days are that plain `text` names by "today" and the like."""
    return {offset for offset, pattern in _relative_patterns().items() if pattern.search(text)}
