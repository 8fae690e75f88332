"""When people are back is said in every language, on the desk's own clock and with its name."""

from datetime import UTC, datetime

import pytest

from domain.words import NoticeKind
from language.ledger_words import LedgerWords
from language.tongues import SPOKEN

MONDAY = datetime(2026, 12, 7, 8, 5, tzinfo=UTC)


@pytest.mark.parametrize("language", SPOKEN)
def test_day_time_and_clock_are_told(language: str) -> None:
    told = LedgerWords().back_at(MONDAY, "Europe/Berlin", language)
    assert "9:05" in told
    assert "7" in told
    assert told != LedgerWords().back_at(MONDAY, "Asia/Shanghai", language)
    assert "{" not in told + LedgerWords().notice(NoticeKind.OUT_OF_HOURS, language)


def test_the_clock_is_that_of_the_day_told() -> None:
    words = LedgerWords()
    assert words.back_at(MONDAY, "Europe/Berlin", "en") == (
        "We are back on Monday 7 December at 09:05 (Central European Standard Time)."
    )
    assert "10:05 (Central European Summer Time)" in words.back_at(MONDAY.replace(month=7), "Europe/Berlin", "en")
