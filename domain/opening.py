"""When a desk is open: its hours on its own clock, without its holidays, as instants in UTC.

Pure; both the words that a transaction says and the targets that policy reckons come from here.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from holidays import HolidayBase, country_holidays

from domain.base import Noun
from domain.desk import DAY_MINUTES, DeskSettings, Weekday, minutes

DAYS_AHEAD_MAX = 400  # a desk that does not open within a year and a month has no next opening that one could name
_CALENDARS_KEPT = 64
_WEEK, _DAY = tuple(Weekday), timedelta(days=1)


class Stand(Noun):
    """Whether a desk is open at a moment; when it closes, or opens again (None: never, as far as one can see)."""

    open: bool
    opens_at: datetime | None
    closes_at: datetime | None


class Calendar:
    """The open hours of one document."""

    def __init__(self, settings: DeskSettings) -> None:
        self.zone = ZoneInfo(settings.timezone)
        self._settings = settings
        place = settings.holidays
        self._public = country_holidays(place.country, subdiv=place.subdivision) if place.country else HolidayBase()
        self._closed, self._opened = frozenset(place.closed), frozenset(place.open)
        self.day = cache(self._day)

    def stand(self, at: datetime) -> Stand:
        """Return how the desk stands at `at`."""
        spans = self._from(at)
        began, ends = next(spans, (None, None))
        if began is None or ends is None:
            return Stand(open=False, opens_at=None, closes_at=None)
        if began > at:
            return Stand(open=False, opens_at=began, closes_at=None)
        for following, later in spans:
            if following > ends:
                return Stand(open=True, opens_at=None, closes_at=ends)
            ends = later
        return Stand(open=True, opens_at=None, closes_at=None)

    def after(self, at: datetime, open_s: int) -> datetime | None:
        """Return the moment when the desk has been open for `open_s` seconds since `at`; None where it never is."""
        left = timedelta(seconds=open_s)
        for began, ends in self._from(at):
            start = max(began, at)
            if ends - start >= left:
                return start + left
            left -= ends - start
        return None

    def between(self, since: datetime, until: datetime) -> int:
        """Return for how many seconds the desk was open from `since` to `until`."""
        total = timedelta()
        for began, ends in self._from(since):
            if began >= until:
                break
            total += min(ends, until) - max(began, since)
        return int(total.total_seconds())

    def _from(self, at: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The spans that end after `at`, in order."""
        first = at.date() - 2 * _DAY  # two clocks differ by a day and two hours at most; days are kept, and cheap
        for ahead in range(DAYS_AHEAD_MAX):
            for span in self.day(first + ahead * _DAY):
                if span[1] > at:
                    yield span

    def _day(self, day: date) -> tuple[tuple[datetime, datetime], ...]:
        """The spans of one day of the desk's own calendar; a change of the clocks makes one longer or shorter."""
        if day in self._closed or (day in self._public and day not in self._opened):
            return ()
        spans = self._settings.hours.get(_WEEK[day.weekday()], ())
        found = ((self._at(day, minutes(began)), self._at(day, minutes(ends))) for began, ends in spans)
        return tuple((began, ends) for began, ends in found if began < ends)

    def _at(self, day: date, minute: int) -> datetime:
        on = day + timedelta(days=minute // DAY_MINUTES)
        clock = time(minute % DAY_MINUTES // 60, minute % 60)
        return datetime.combine(on, clock, self.zone).astimezone(UTC)


def calendar_of(settings: DeskSettings) -> Calendar:
    """Return the calendar of a document, made once."""
    return _calendar(settings.model_dump_json(include={"timezone", "hours", "holidays"}))


@lru_cache(maxsize=_CALENDARS_KEPT)
def _calendar(document: str) -> Calendar:
    return Calendar(DeskSettings.model_validate_json(document))
