"""A desk is open by its own clock, without its holidays, through every change of the clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.desk import DeskSettings, Weekday
from domain.opening import calendar_of

OFFICE = {d: [["09:00", "12:00"], ["13:00", "17:00"]] for d in ("mon", "tue", "wed", "thu", "fri")}
BERLIN = DeskSettings.model_validate(
    {
        "timezone": "Europe/Berlin",
        "hours": OFFICE,
        "holidays": {"country": "DE", "closed": ["2026-12-24"], "open": ["2027-01-01"]},
    }
)
NEW_YORK = DeskSettings.model_validate(
    {"timezone": "America/New_York", "hours": {d.value: [["00:00", "24:00"]] for d in tuple(Weekday)[:5]}}
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("settings", "at", "stands"),
    [
        (BERLIN, "2026-12-07 08:00", (True, None, "2026-12-07 11:00")),
        (BERLIN, "2026-12-07 07:59", (False, "2026-12-07 08:00", None)),
        (BERLIN, "2026-12-07 11:00", (False, "2026-12-07 12:00", None)),
        (BERLIN, "2026-07-06 07:30", (True, None, "2026-07-06 10:00")),  # summer time
        (BERLIN, "2026-12-23 17:00", (False, "2026-12-28 08:00", None)),  # closed, Christmas, a weekend
        (BERLIN, "2027-01-01 09:00", (True, None, "2027-01-01 11:00")),  # a holiday that is worked
        (NEW_YORK, "2026-12-09 03:00", (True, None, "2026-12-12 05:00")),  # midnight is no end
        (NEW_YORK, "2026-12-12 06:00", (False, "2026-12-14 05:00", None)),
        (DeskSettings(), "2026-12-12 06:00", (True, None, None)),
        (DeskSettings(hours={}), "2026-12-12 06:00", (False, None, None)),
    ],
)
def test_how_a_desk_stands(settings: DeskSettings, at: str, stands: tuple[bool, str | None, str | None]) -> None:
    found = calendar_of(settings).stand(utc(at))
    is_open, opens_at, closes_at = stands
    assert found.open is is_open
    assert found.opens_at == (utc(opens_at) if opens_at else None)
    assert found.closes_at == (utc(closes_at) if closes_at else None)


MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1)).map(lambda at: at.replace(tzinfo=UTC, microsecond=0))  # noqa: DTZ001


@given(st.sampled_from([BERLIN, NEW_YORK, DeskSettings()]), MOMENTS, st.integers(1, 5 * 24 * 3_600))
def test_what_is_counted_forward_is_counted_back(settings: DeskSettings, at: datetime, open_s: int) -> None:
    calendar = calendar_of(settings)
    due = calendar.after(at, open_s)
    assert due is not None
    assert calendar.between(at, due) == open_s
    assert calendar.stand(due - timedelta(seconds=1)).open


@given(st.sampled_from([BERLIN, NEW_YORK]), MOMENTS)
def test_a_desk_opens_when_it_says_that_it_does(settings: DeskSettings, at: datetime) -> None:
    calendar = calendar_of(settings)
    stand = calendar.stand(at)
    turn = stand.closes_at if stand.open else stand.opens_at
    assert turn is not None
    assert turn > at
    assert calendar.stand(turn).open is not stand.open
    assert calendar.between(at, turn) == (int((turn - at).total_seconds()) if stand.open else 0)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"timezone": "Europe/Berln"}, "no such time zone"),
        ({"timezone": "../../etc/passwd"}, "no such time zone"),
        ({"hours": {"mon": [["09:00", "24:30"]]}}, "pattern"),
        ({"hours": {"mon": [["17:00", "09:00"]]}}, "follow each other"),
        ({"hours": {"mon": [["09:00", "12:00"], ["11:00", "17:00"]]}}, "follow each other"),
        ({"hours": {"noday": []}}, "noday"),
        ({"holidays": {"country": "ZZ"}}, "no holidays are known"),
        ({"holidays": {"country": "DE", "subdivision": "XX"}}, "no holidays are known"),
        ({"holidays": {"subdivision": "BY"}}, "name the country"),
        ({"targets": {"urgent": {"first_reply_s": 0, "next_reply_s": 1, "resolution_s": 1}}}, "greater than or equal"),
        ({"color": "blue"}, "Extra inputs"),
    ],
)
def test_a_document_that_means_nothing_is_refused(document: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        DeskSettings.model_validate(document)


@pytest.mark.parametrize("settings", [BERLIN, NEW_YORK, DeskSettings()])
def test_a_document_comes_back_from_json_as_it_was(settings: DeskSettings) -> None:
    assert DeskSettings.model_validate(settings.model_dump(mode="json")) == settings
