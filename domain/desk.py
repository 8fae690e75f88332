"""A tenant's service desk as one document: its hours, how urgent things are, its targets, and the skills they take.

Pure; what the document means for one moment or one handoff is said by `opening` and `urgency`.
"""

from datetime import date
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from holidays import country_holidays
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from domain.base import Noun

SPANS_MAX, DATES_MAX, NAMES_MAX = 6, 400, 200
TARGET_S_MAX = 60 * 24 * 3_600
DAY_MINUTES = 24 * 60

Name = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_.:-]{0,63}$")]
"""A label: of a reason, an intent, a skill or a language."""

Clock = Annotated[str, StringConstraints(strict=True, pattern=r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$")]
"""A time of day on the desk's own clock, `HH:MM`; `24:00` is the end of the day."""

Seconds = Annotated[int, Field(strict=True, ge=1, le=TARGET_S_MAX)]


class Urgency(StrEnum):
    """How soon a person should see something, the most urgent first."""

    URGENT = "urgent"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Return 0 for the most urgent: what is sorted by, and what rows carry."""
        return _RANKS[self]


_RANKS = {urgency: rank for rank, urgency in enumerate(Urgency)}
BY_RANK = tuple(Urgency)


class Weekday(StrEnum):
    """A day of the week, in order."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


def minutes(clock: str) -> int:
    """Return how many minutes of the day have passed at `HH:MM`."""
    hours, _, rest = clock.partition(":")
    return int(hours) * 60 + int(rest)


def _in_order(spans: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    edges = [minutes(edge) for span in spans for edge in span]
    if any(later <= earlier for earlier, later in pairwise(edges)):
        raise ValueError("the spans of a day follow each other and do not touch, as in 09:00-12:00, 13:00-17:00")
    return spans


Spans = Annotated[tuple[tuple[Clock, Clock], ...], Field(max_length=SPANS_MAX), AfterValidator(_in_order)]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not there; not a name; a folder of zones
        raise ValueError("there is no such time zone; one is named as in Europe/Berlin") from None
    return name


class Holidays(Noun):
    """Days that differ from their weekday: the public holidays of a place, and days closed or open beside those."""

    country: Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Z]{2}$")] | None = None
    subdivision: Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9-]{1,8}$")] | None = None
    closed: Annotated[tuple[date, ...], Field(max_length=DATES_MAX)] = ()
    open: Annotated[tuple[date, ...], Field(max_length=DATES_MAX)] = ()

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        if self.country is None:
            if self.subdivision is not None:
                raise ValueError("a subdivision is one of a country; name the country too")
            return self
        try:
            country_holidays(self.country, subdiv=self.subdivision)
        except NotImplementedError:
            raise ValueError("no holidays are known of this country and subdivision (ISO 3166, as DE and BY)") from None
        return self


_BY_REASON = {
    "high_risk": Urgency.URGENT,
    "unknown_outcome": Urgency.URGENT,
    "unknown_action": Urgency.URGENT,
    "effect_without_row": Urgency.URGENT,
    "row_without_effect": Urgency.HIGH,
    "other_amount": Urgency.HIGH,
    "approval_escalated": Urgency.HIGH,
    "draft_rejected": Urgency.HIGH,
    "customer_requested": Urgency.HIGH,
    "handoff_requested": Urgency.HIGH,
}
_BY_INTENT = {"duplicate_charge": Urgency.HIGH, "account_access": Urgency.HIGH}


class UrgencyRules(Noun):
    """How urgent a reason or an intent is. The more urgent of the two counts; what is not named is normal."""

    by_reason: Annotated[dict[Name, Urgency], Field(max_length=NAMES_MAX)] = Field(default=_BY_REASON)
    by_intent: Annotated[dict[Name, Urgency], Field(max_length=NAMES_MAX)] = Field(default=_BY_INTENT)


class Target(Noun):
    """How soon, in seconds of open hours: a first reply, each further one, and the end of it."""

    first_reply_s: Seconds
    next_reply_s: Seconds
    resolution_s: Seconds


class Targets(Noun):
    """One target for each urgency."""

    urgent: Target = Target(first_reply_s=15 * 60, next_reply_s=30 * 60, resolution_s=4 * 3_600)
    high: Target = Target(first_reply_s=3_600, next_reply_s=2 * 3_600, resolution_s=8 * 3_600)
    normal: Target = Target(first_reply_s=4 * 3_600, next_reply_s=6 * 3_600, resolution_s=24 * 3_600)
    low: Target = Target(first_reply_s=8 * 3_600, next_reply_s=12 * 3_600, resolution_s=48 * 3_600)

    def of(self, urgency: Urgency) -> Target:
        """Return the target of one urgency."""
        target: Target = getattr(self, urgency.value)
        return target


class Skills(Noun):
    """Which skill a matter takes, by what the customer wants."""

    by_intent: Annotated[dict[Name, Name], Field(max_length=NAMES_MAX)] = Field(default={})


Origin = Annotated[
    str,
    StringConstraints(
        strict=True,
        max_length=200,
        pattern=r"^(https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http://(localhost|127\.0\.0\.1))(:[1-9]\d{0,4})?$",
    ),
]
"""A site as browsers name it, `https://shop.example`, without a path; plain http on this machine alone."""

Language = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2}$")]


class Widget(Noun):
    """Which sites may show the customer chat in a frame, and its languages, the first by default; none named: all."""

    allowed_origins: Annotated[tuple[Origin, ...], Field(max_length=NAMES_MAX)] = ()
    languages: Annotated[tuple[Language, ...], Field(max_length=NAMES_MAX)] = ()


_ALWAYS: dict[Weekday, Spans] = dict.fromkeys(Weekday, (("00:00", "24:00"),))


class DeskSettings(Noun):
    """The whole document. Where none is set, people are there around the clock: nothing is promised for later.

    A weekday that is not named is closed.
    """

    timezone: Annotated[str, Field(strict=True, max_length=64), AfterValidator(_known_zone)] = "UTC"
    hours: dict[Weekday, Spans] = _ALWAYS
    holidays: Holidays = Holidays()
    urgency: UrgencyRules = UrgencyRules()
    targets: Targets = Targets()
    skills: Skills = Skills()
    widget: Widget = Widget()
    claim_minutes: Annotated[int, Field(strict=True, ge=1, le=60)] = 10
    recontact_hours: Annotated[int, Field(strict=True, ge=1, le=24 * 60)] = 72
