"""What comes first: by urgency, then (for one person) by what they can do, then by what is due, then by age.

Pure; it orders what the store has read, and decides nothing about any of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby

from domain.desk import DeskSettings
from domain.opening import calendar_of
from domain.waiting import Person, Place, Placed, Waiting, WaitingKind
from policy.desk.due import Aim, target_of

_NEVER = datetime.max.replace(tzinfo=UTC)
Known = Mapping[Waiting, Placed]
_NOTHING: Known = {}


def fits(waiting: Waiting, person: Person) -> bool:
    """Return whether somebody has the skill that it takes and speaks its language; no languages named means any."""
    skilled = waiting.skill is None or waiting.skill in person.skills
    spoken = waiting.language is None or not person.languages or waiting.language in person.languages
    return skilled and spoken


def placed(waiting: Iterable[Waiting], settings: DeskSettings, known: Known = _NOTHING) -> list[Placed]:
    """Return all of it in order; `known` is what was placed under the same settings, and is not reckoned again."""
    calendar = calendar_of(settings)
    found = [known.get(w) or _placed(w, target_of(w, settings, calendar)) for w in waiting]
    return sorted(found, key=lambda one: one.place)


def _placed(waiting: Waiting, target: Aim | None) -> Placed:
    due_at = target[0] if target else _NEVER
    ident = f"{waiting.kind.value}:{waiting.id}"
    return Placed(
        waiting, target, (waiting.urgency.rank, False, due_at.timestamp(), waiting.opened_at.timestamp(), ident)
    )


def in_order(everything: Iterable[Placed], person: Person | None) -> Iterator[tuple[Place, Placed]]:
    """Give what `placed` returned, each with its place; between equals in urgency, what fits `person` comes first."""
    if person is None:
        yield from ((one.place, one) for one in everything)
        return
    for rank, equals in groupby(everything, key=lambda one: one.place[0]):
        others = []
        for one in equals:
            if fits(one.waiting, person):
                yield one.place, one
            else:
                others.append(one)
        yield from (((rank, True, *one.place[2:]), one) for one in others)


def line(placed: Iterable[Placed]) -> dict[str, int]:
    """Return the place, from 1, of each handoff that nobody has taken, by its id: as its customer is told."""
    standing = [p.waiting for p in placed if p.waiting.kind is WaitingKind.HANDOFF and p.waiting.taken_by is None]
    standing.sort(key=lambda w: (w.urgency.rank, w.opened_at, w.id))
    return {w.id: n for n, w in enumerate(standing, 1)}
