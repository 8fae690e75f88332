"""What is due when, what comes first for whom, and when an estimate is told at all."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.desk import DeskSettings, Urgency
from domain.handoff import QueueStatus
from domain.opening import calendar_of
from domain.waiting import DueKind, Person, Waiting, WaitingKind
from policy.desk.due import due_of
from policy.desk.estimate import OPEN_MIN_S, TAKEN_MIN, WINDOW_S, Throughput, estimate_s, throughput
from policy.desk.placing import fits, in_order, line, placed

MONDAY = datetime(2026, 12, 7, 16, 30, tzinfo=UTC)
OFFICE = DeskSettings.model_validate({"hours": {d: [["09:00", "17:00"]] for d in ("mon", "tue", "wed", "thu", "fri")}})
ALWAYS = DeskSettings()


def waiting(ident: str = "h", **other: Any) -> Waiting:
    made: dict[str, Any] = {
        "kind": WaitingKind.HANDOFF,
        "id": ident,
        "conversation_id": "c",
        "operation_id": None,
        "reason": "customer_requested",
        "urgency": Urgency.HIGH,
        "urgency_why": "reason:customer_requested",
        "status": QueueStatus.WAITING,
        "opened_at": MONDAY,
    }
    return Waiting(**{**made, **other})


@pytest.mark.parametrize(
    ("settings", "other", "kind", "at"),
    [
        (ALWAYS, {}, DueKind.FIRST_REPLY, MONDAY + timedelta(hours=1)),
        (OFFICE, {}, DueKind.FIRST_REPLY, datetime(2026, 12, 8, 9, 30, tzinfo=UTC)),
        (ALWAYS, {"first_reply_at": MONDAY}, DueKind.RESOLUTION, MONDAY + timedelta(hours=8)),
        (
            ALWAYS,
            {"first_reply_at": MONDAY, "unanswered_at": MONDAY + timedelta(hours=1)},
            DueKind.NEXT_REPLY,
            MONDAY + timedelta(hours=3),
        ),
        (
            ALWAYS,
            {"first_reply_at": MONDAY, "unanswered_at": MONDAY + timedelta(hours=7)},
            DueKind.RESOLUTION,
            MONDAY + timedelta(hours=8),
        ),
        (ALWAYS, {"kind": WaitingKind.CASE}, DueKind.RESOLUTION, MONDAY + timedelta(hours=8)),
        (ALWAYS, {"expires_at": MONDAY + timedelta(minutes=5)}, DueKind.RESOLUTION, MONDAY + timedelta(minutes=5)),
    ],
    ids=["first", "first-paused-overnight", "resolution", "next", "resolution-is-nearer", "case", "approval"],
)
def test_the_nearest_target_counts_in_open_hours(
    settings: DeskSettings, other: dict[str, Any], kind: DueKind, at: datetime
) -> None:
    due = due_of(waiting(**other), settings, calendar_of(settings), MONDAY)
    assert due is not None
    assert (due.kind, due.at, due.overdue) == (kind, at, False)
    late = due_of(waiting(**other), settings, calendar_of(settings), at + timedelta(seconds=1))
    assert late is not None
    assert late.overdue


def test_a_desk_that_never_opens_owes_nothing() -> None:
    never = DeskSettings(hours={})
    assert due_of(waiting(), never, calendar_of(never), MONDAY) is None


def test_urgency_comes_first_then_what_fits_who_asks_then_what_is_due() -> None:
    low = waiting("low", urgency=Urgency.LOW, opened_at=MONDAY - timedelta(days=9))
    german = waiting("german", language="de", opened_at=MONDAY - timedelta(minutes=9))
    french = waiting("french", language="fr", opened_at=MONDAY)
    answered = waiting("answered", first_reply_at=MONDAY, opened_at=MONDAY - timedelta(hours=1))
    urgent = waiting("urgent", urgency=Urgency.URGENT)
    marie = Person(id="marie", languages=("fr",))
    everything = [low, answered, german, french, urgent]

    def order(*, for_person: bool) -> list[str]:
        in_turn = in_order(placed(everything, ALWAYS), marie if for_person else None)
        return [one.waiting.id for _, one in in_turn]

    assert order(for_person=False) == ["urgent", "german", "french", "answered", "low"]
    assert order(for_person=True) == ["urgent", "french", "answered", "german", "low"]


@pytest.mark.parametrize(
    ("skill", "language", "skills", "languages", "fit"),
    [
        (None, None, (), (), True),
        ("billing", "de", ("billing",), ("de", "en"), True),
        ("billing", "de", (), ("de",), False),
        (None, "de", (), ("en",), False),
        (None, "de", (), (), True),
    ],
)
def test_somebody_fits_by_skill_and_language(
    skill: str | None, language: str | None, skills: tuple[str, ...], languages: tuple[str, ...], fit: bool
) -> None:
    who = Person(id="ann", skills=skills, languages=languages)
    assert fits(waiting(skill=skill, language=language), who) is fit


@given(
    st.lists(
        st.tuples(st.sampled_from(list(Urgency)), st.integers(0, 50), st.booleans(), st.sampled_from(["en", "de"])),
        max_size=12,
    ),
    st.sampled_from([None, Person(id="ann"), Person(id="ann", languages=("de",))]),
)
def test_every_place_is_one_of_its_own_and_the_line_counts_from_one(
    shapes: list[tuple[Urgency, int, bool, str]], person: Person | None
) -> None:
    everything = [
        waiting(
            str(n),
            urgency=urgency,
            opened_at=MONDAY + timedelta(minutes=minute),
            taken_by="ann" if taken else None,
            language=language,
        )
        for n, (urgency, minute, taken, language) in enumerate(shapes)
    ]
    order = placed(everything, OFFICE)
    in_turn = list(in_order(order, person))
    places = [place for place, _ in in_turn]
    assert places == sorted(set(places))
    assert sorted(one.waiting.id for _, one in in_turn) == sorted(one.waiting.id for one in order)
    free = [p.waiting.id for p in order if p.waiting.taken_by is None]
    assert [line(order)[ident] for ident in free] == list(range(1, len(free) + 1))
    assert placed(everything[::-1], OFFICE, {one.waiting: one for one in order[::2]}) == order  # known or not: the same


@pytest.mark.parametrize(
    ("n", "open_s", "is_open", "told"),
    [
        (TAKEN_MIN, WINDOW_S, True, WINDOW_S * 3 // TAKEN_MIN),
        (TAKEN_MIN - 1, WINDOW_S, True, None),
        (TAKEN_MIN, OPEN_MIN_S - 1, True, None),
        (TAKEN_MIN, WINDOW_S, False, None),
        (7, 3_600, True, 1_560),  # 3 of 7 an hour: 25 minutes and 43 seconds, in whole minutes
    ],
    ids=["measured", "too-few", "just-opened", "closed", "rounded-up"],
)
def test_an_estimate_is_measured_or_not_told(n: int, open_s: int, is_open: bool, told: int | None) -> None:
    measured = Throughput(n=n, median_wait_s=60, done_last_hour=0, open_s=open_s)
    assert estimate_s(2, measured, is_open=is_open) == told


def test_throughput_counts_the_open_part_of_the_window_alone() -> None:
    measured = throughput([60.0, 120.0, 600.0], 2, calendar_of(OFFICE), datetime(2026, 12, 7, 10, 0, tzinfo=UTC))
    assert (measured.n, measured.median_wait_s, measured.done_last_hour, measured.open_s) == (3, 120, 2, 3_600)
