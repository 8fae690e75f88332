"""Permits that ask nobody: those that let a request through which no person has approved, each with one that shows it.

Pure. Found is not proved: a permit that asks nobody may have been missed.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from domain.base import Noun
from policy.bundle import Bundle
from policy.examining.search import MADE, Search
from policy.permissions import USE_TOOL
from policy.schema import NotUnderstood, shapes_of


class Unasked(Noun):
    """A permit that lets `request` through without any approval: `start`, a case or one made up, with `changes`."""

    action: str
    permit: str
    request: dict[str, Any]
    start: str
    changes: tuple[str, ...]

    def __str__(self) -> str:
        changed = f", with {'; '.join(self.changes)}" if self.changes else ""
        start = self.start if self.start == MADE else f'as in the case "{self.start}"'
        return f"{self.action}: {self.permit} lets through, approved by nobody: a request {start}{changed}"


def unasked_of(bundle: Bundle, starts: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> tuple[Unasked, ...]:
    """Return the permits of `bundle` itself, its base's aside, that come through with no approval at all.

    `starts` are Cedar requests without approvals, by name, as for conflicts. The use of tools is never approved.
    """
    try:
        shapes = shapes_of(bundle.schema)
    except NotUnderstood:
        return ()
    own = bundle.rule_ids - (bundle.base.rule_ids if bundle.base else frozenset())
    named, found = list(starts), []
    for action, shape in shapes.items():
        if action == USE_TOOL or not shape.principals:
            continue
        search = Search(action, shape, bundle, named, approved=())
        for permit in search.permits:
            tried = search.comes_through(permit) if permit.id in own else None
            if tried is not None:
                shown = {"request": tried.request, "start": tried.start, "changes": tried.told}
                found.append(Unasked(action=action, permit=permit.id, **shown))
    return tuple(found)
