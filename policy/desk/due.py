"""Targets: which one is to be met next, and by when, in the hours in which the desk is open.

Pure; a target runs only while somebody could meet it.
"""

from collections.abc import Iterator
from datetime import datetime

from domain.desk import DeskSettings, Target
from domain.opening import Calendar
from domain.waiting import Due, DueKind, Waiting, WaitingKind

Aim = tuple[datetime, DueKind]


def due_of(waiting: Waiting, settings: DeskSettings, calendar: Calendar, now: datetime) -> Due | None:
    """Return the target that is to be met first, or None where the desk never opens."""
    aim = target_of(waiting, settings, calendar)
    return Due(kind=aim[1], at=aim[0], overdue=now >= aim[0]) if aim else None


def target_of(waiting: Waiting, settings: DeskSettings, calendar: Calendar) -> Aim | None:
    """Return the same without the moment: until when, and which."""
    if waiting.expires_at is not None:
        return waiting.expires_at, DueKind.RESOLUTION
    return min(_targets(waiting, settings, calendar), default=None)


def _targets(waiting: Waiting, settings: DeskSettings, calendar: Calendar) -> Iterator[Aim]:
    for since, (seconds, kind) in _running(waiting, settings.targets.of(waiting.urgency)).items():
        if (at := calendar.after(since, seconds)) is not None:
            yield at, kind


def _running(waiting: Waiting, target: Target) -> dict[datetime, tuple[int, DueKind]]:
    """The targets that run, by the moment since when: of two since one moment, the shorter is the nearer."""
    resolution = target.resolution_s, DueKind.RESOLUTION
    if waiting.kind is not WaitingKind.CASE:
        if waiting.first_reply_at is None:
            return {waiting.opened_at: min((target.first_reply_s, DueKind.FIRST_REPLY), resolution)}
        if waiting.unanswered_at is not None:
            next_reply = target.next_reply_s, DueKind.NEXT_REPLY
            return {waiting.opened_at: resolution, waiting.unanswered_at: next_reply}
    return {waiting.opened_at: resolution}
