"""Money and dates as each language writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from language.formats import day, money

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("minor", "currency", "language", "written"),
    [
        (2300, "EUR", "en", "€23.00"),
        (2300, "EUR", "de", "23,00 €"),
        (123450, "EUR", "fr", "1 234,50 €"),
        (1250, "USD", "es", "12,50 US$"),
        (1250, "BRL", "pt", "R$ 12,50"),
        (4200, "JPY", "en", "¥4,200"),
        (1234, "KWD", "en", "KWD 1.234"),
        (5, "EUR", "it", "0,05 €"),
        (2300, "EUR", "sv", "€23.00"),
        (123450, "EUR", "pl", "1 234,50 €"),
        (123450, "EUR", "ru", "1 234,50 €"),
        (123450, "TRY", "tr", "₺1.234,50"),
        (123450, "CNY", "zh", "¥1,234.50"),
        (4200, "JPY", "ja", "￥4,200"),
    ],
)
def test_minor_units_are_written_with_the_decimals_of_their_currency(
    minor: int, currency: str, language: str, written: str
) -> None:
    assert money(minor, currency, language).replace("\u00a0", " ").replace("\u202f", " ") == written


@pytest.mark.parametrize(
    ("at", "language", "written"),
    [
        (datetime(2026, 1, 1, 9, tzinfo=UTC), "en", "1 January"),
        (datetime(2025, 12, 31, 9, tzinfo=UTC), "en", "31 December 2025"),
        (datetime(2025, 12, 31, 9, tzinfo=UTC), "es", "31 de diciembre de 2025"),
        (datetime(2026, 1, 1, 9, tzinfo=UTC), "de", "1. Januar"),
        (datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=9))), "fr", "31 décembre 2025"),
        (datetime(2026, 1, 1, 9, tzinfo=UTC), "pl", "1 stycznia"),
        (datetime(2025, 12, 31, 9, tzinfo=UTC), "ru", "31 декабря 2025\u202fг."),
        (datetime(2025, 12, 31, 9, tzinfo=UTC), "ja", "2025年12月31日"),
    ],
)
def test_a_day_is_told_in_utc_with_its_year_when_that_is_another(at: datetime, language: str, written: str) -> None:
    assert day(at, NOW, language) == written
