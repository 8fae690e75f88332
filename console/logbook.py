"""A conversation's log as people read it: what was said in order, the facts behind it, the staff's notes between.

Pure; it arranges what the contract answers and adds nothing to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from console.wording import moment

BEHIND = frozenset({"evidence", "draft", "verdict", "understanding", "summary"})
Json = dict[str, Any]


@dataclass
class Entry:
    """One line of the log, an event or a note. `behind`: the staff's facts of it; `opens`, `ends`: a human stretch."""

    kind: str
    at: datetime
    actor: str
    body: Json
    seq: int | None = None
    behind: list[Json] = field(default_factory=list)
    ends: "Stretch | None" = None
    opens: "Stretch | None" = None


@dataclass
class Stretch:
    """A person had the conversation, from one change of owner to the next."""

    who: str
    began_at: datetime
    ended_at: datetime | None = None
    handoff_id: str | None = None


def entries(events: Sequence[Json], notes: Iterable[Json]) -> list[Entry]:
    """Return the log's lines in order, each note after what was there when it was written."""
    told, behind = [], []
    for event in events:
        if event["kind"] in BEHIND:
            behind.append(event)
            continue
        at = moment(event["at"])
        told.append(Entry(event["kind"], at, event["actor"], event, event["seq"], behind))
        behind = []
    _mark_stretches(told)
    written = [Entry("note", moment(n["at"]), f"staff:{n['author']}", n) for n in notes]
    return sorted([*told, *written], key=lambda entry: entry.at) if written else told


def _mark_stretches(told: list[Entry]) -> None:
    current: Stretch | None = None
    for entry in told:
        if entry.kind == "handoff" and current is not None:
            current.handoff_id = entry.body["handoff_id"]
        if entry.kind != "owner_changed":
            continue
        if current is not None:
            current.ended_at = entry.at
            entry.ends = current
        human = entry.body["owner"] == "human"
        current = Stretch(entry.actor, entry.at) if human else None
        entry.opens = current
