"""Rules that pull in opposite directions, found by trying requests on every rule alone: a permit and a forbid that
both match, with a request that shows it; and permits that nothing tried gets through.

Pure. Found is not proved: it says how many requests were tried.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from domain.base import Noun
from policy.bundle import Bundle
from policy.examining.search import Search
from policy.schema import NotUnderstood, shapes_of


class Conflict(Noun):
    """A permit and a forbid that both match `request`: the forbid wins. `also` are other forbids that match it.

    The request is `start`, a case or one made from the schema, with every approval given and then with `changes`.
    """

    action: str
    permit: str
    forbid: str
    request: dict[str, Any]
    start: str
    changes: tuple[str, ...]
    also: tuple[str, ...] = ()

    @property
    def pair(self) -> tuple[str, str, str]:
        """What it is a conflict of."""
        return self.action, self.permit, self.forbid

    def __str__(self) -> str:
        changed = f", with {'; '.join(self.changes)}" if self.changes else ""
        others = f" (so do {', '.join(self.also)})" if self.also else ""
        return f"{self.action}: {self.permit} allows and {self.forbid} forbids{others}: {self.start}{changed}"


class Unreached(Noun):
    """A permit that no request tried gets through: none matches it, or `forbids` are in the way of all that do."""

    action: str
    permit: str
    forbids: tuple[str, ...]

    def __str__(self) -> str:
        if not self.forbids:
            return f"{self.action}: no request tried is one that {self.permit} allows"
        return f"{self.action}: whatever {self.permit} allows is forbidden, by {', '.join(self.forbids)} at least"


class Conflicts(Noun):
    """All that was found in a bundle, and how many requests were tried."""

    found: tuple[Conflict, ...]
    unreached: tuple[Unreached, ...]
    tried: int

    def new_since(self, other: "Conflicts") -> tuple[Conflict, ...]:
        """Return the conflicts of pairs that are none in `other`: a layer's own, next to its base's."""
        known = {conflict.pair for conflict in other.found}
        return tuple(conflict for conflict in self.found if conflict.pair not in known)


def conflicts_of(bundle: Bundle, starts: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> Conflicts:
    """Return the conflicts among the rules of `bundle`.

    `starts` are Cedar requests without approvals, by name: those of its cases, best. A schema beyond what is read here
    leads to none tried.
    """
    try:
        shapes = shapes_of(bundle.schema)
    except NotUnderstood:
        return Conflicts(found=(), unreached=(), tried=0)
    named = list(starts)
    searches = [Search(action, shape, bundle, named) for action, shape in shapes.items() if shape.principals]
    for search in searches:
        search.run()
    return Conflicts(
        found=tuple(conflict for search in searches for conflict in _found(search)),
        unreached=tuple(permit for search in searches for permit in _unreached(search)),
        tried=sum(search.tried for search in searches),
    )


def _found(search: Search) -> Iterator[Conflict]:
    """The conflicts, by permit and forbid in the order of the bundle."""
    for permit in search.permits:
        for forbid in search.forbids:
            tried = search.shown.get((permit.id, forbid.id))
            if tried is not None:
                yield Conflict(
                    action=search.action,
                    permit=permit.id,
                    forbid=forbid.id,
                    request=tried.request,
                    start=tried.start,
                    changes=tried.told,
                    also=tuple(sorted(tried.forbids - {forbid.id})),
                )


def _unreached(search: Search) -> Iterator[Unreached]:
    for permit in search.permits:
        tried = search.through.get(permit.id)
        if tried is None or tried.forbids:
            forbids = tuple(sorted(tried.forbids)) if tried else ()
            yield Unreached(action=search.action, permit=permit.id, forbids=forbids)
