"""The search for requests that rules pull on in opposite directions, within one action of a bundle.

Pure. From cases, and from requests made from the schema, it goes step by step to where a permit alone matches, and on
from there to where one forbid matches too. Every rule is asked alone, by Cedar.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import cedarpy

from domain.action import ApprovalRole
from policy.bundle import Bundle
from policy.examining.blank import blanks
from policy.examining.moves import Move, changed
from policy.examining.ways import ways_to
from policy.rules import Rule
from policy.schema import ActionShape, Record
from policy.slices import applies
from policy.taking import Misfit, is_entity, taker

TRIED_PER_ACTION_MAX = 2_500
STARTS_PER_ACTION_MAX = 40
MADE = "made from the schema"  # the name of a start that is no case
STEPS_MAX = 30  # on the way from a start to a request that shows something
NOTHING: frozenset[str] = frozenset()


class Tried(NamedTuple):
    """A request, how it came about, and the rules that match it, each asked alone."""

    request: dict[str, Any]
    start: str
    changes: tuple[Move, ...]
    permits: frozenset[str]
    forbids: frozenset[str]

    @property
    def told(self) -> tuple[str, ...]:
        """What is changed from the start, each place once."""
        return tuple(str(move) for move in {move.place: move for move in self.changes}.values())

    @property
    def cost(self) -> tuple[int, int]:
        """How many forbids match, and how far it is from its start: less is better."""
        return len(self.forbids), len(self.changes)


class Search:
    """Tries requests for one action: from each start towards each permit, clear of forbids, then into each forbid."""

    def __init__(
        self,
        action: str,
        shape: ActionShape,
        bundle: Bundle,
        starts: Sequence[tuple[str, Mapping[str, Any]]],
        approved: Collection[ApprovalRole] | None = None,
    ) -> None:
        """Begin with every approval given, and then any; or, with `approved`, try requests under just these."""
        self.action, self.tried = action, 0
        self._begun_with = sorted(role.value for role in (ApprovalRole if approved is None else approved))
        self._kept_with = None if approved is None else self._begun_with
        rules = [rule for rule in bundle.rules if applies(rule, shape)]
        self._rules = {rule.id: rule for rule in rules}
        self.permits = [rule for rule in rules if rule.permits]
        self.forbids = [rule for rule in rules if not rule.permits]
        self._alone = _alone(rules)
        self._entities = cedarpy.Entities.from_json_str("[]", bundle.schema)
        self._shape, self._take = shape, taker(Record(shape.context.fields), {})
        self._starts = [(name, request) for name, request in starts if _is_for(request, action)]
        self._asked: dict[str, Tried] = {}
        self.shown: dict[tuple[str, str], Tried] = {}  # by permit and forbid, the best request that both match
        self.through: dict[str, Tried] = {}  # by permit, the request that it matches and fewest forbids do

    def comes_through(self, permit: Rule) -> Tried | None:
        """Return a request that `permit` matches and no forbid does, or None where none was found."""
        through = self._nearest(permit, NOTHING, self._begun())
        return through if through is not None and not through.forbids else None

    def run(self) -> None:
        """Try them all."""
        begun = self._begun()
        for permit in self.permits:
            through = self._nearest(permit, NOTHING, begun)
            if through is None:
                continue
            for forbid in self.forbids:
                if not self._shown_alone(permit, forbid):
                    self._nearest(permit, frozenset({forbid.id}), [through, *self._moved(through, forbid, match=True)])

    def _begun(self) -> list[Tried]:
        return [tried for tried in map(self._begin, self._all_starts()) if tried is not None]

    def _all_starts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        made = [(MADE, blank) for blank in blanks(self.action, self._shape)]
        for name, request in [*self._starts[:STARTS_PER_ACTION_MAX], *made]:
            context = {**request["context"], "approvals": self._begun_with}
            yield name, {**request, "context": context}

    def _begin(self, start: tuple[str, dict[str, Any]]) -> Tried | None:
        name, request = start
        return self._try(request, name, ())

    def _nearest(self, permit: Rule, kept: frozenset[str], starts: Sequence[Tried]) -> Tried | None:
        """A request that `permit` matches, and of all forbids those `kept`; where none is found, the nearest to one.

        The best so far is carried on first; a step that is better than where it came from is gone on from at once.
        """
        known = {id(tried) for tried in starts}
        open_ends = list(starts)
        best: Tried | None = None
        for _ in range(STEPS_MAX):
            if not open_ends:
                break
            here = min(open_ends, key=lambda tried: self._distance(permit, kept, tried))
            open_ends.remove(here)
            if best is None or self._distance(permit, kept, here) < self._distance(permit, kept, best):
                best = here
            if self._distance(permit, kept, here)[0] == 0:
                break
            for there in self._steps(permit, kept, here):
                if id(there) not in known:
                    known.add(id(there))
                    open_ends.append(there)
                    if self._distance(permit, kept, there)[0] < self._distance(permit, kept, here)[0]:
                        break
        return best if best is not None and permit.id in best.permits else None

    def _steps(self, permit: Rule, kept: frozenset[str], tried: Tried) -> Iterator[Tried]:
        """Changes that bring `permit` or what is to be kept in, and then what is in the way out."""
        if permit.id not in tried.permits:
            yield from self._moved(tried, permit, match=True)
        for name in sorted(kept - tried.forbids):
            yield from self._moved(tried, self._rules[name], match=True)
        for name in sorted(tried.forbids - kept):
            yield from self._moved(tried, self._rules[name], match=False)

    @staticmethod
    def _distance(permit: Rule, kept: frozenset[str], tried: Tried) -> tuple[int, int]:
        missing = len({permit.id} - tried.permits) + len(kept - tried.forbids)
        return 100 * missing + len(tried.forbids - kept), len(tried.changes)

    def _shown_alone(self, permit: Rule, forbid: Rule) -> bool:
        tried = self.shown.get((permit.id, forbid.id))
        return tried is not None and tried.cost[0] == 1

    def _moved(self, tried: Tried, rule: Rule, *, match: bool) -> Iterator[Tried]:
        for way in ways_to(rule, match, tried.request):
            made = self._try(changed(tried.request, way), tried.start, (*tried.changes, *way))
            if made is not None:
                yield made

    def _try(self, request: dict[str, Any], start: str, changes: tuple[Move, ...]) -> Tried | None:
        """Ask every rule about `request`, once; None where it does not fit the schema, or would be one too many."""
        key = json.dumps(request, sort_keys=True)
        if key in self._asked:
            return self._asked[key]
        if self.tried >= TRIED_PER_ACTION_MAX or not self._fits(request):
            return None
        if self._kept_with is not None and request["context"]["approvals"] != self._kept_with:
            return None
        self.tried += 1
        told = cedarpy.is_authorized(request, self._alone, self._entities).diagnostics
        matched = frozenset(told.reasons)
        permits = frozenset(name for name in matched if self._rules[name].permits)
        tried = self._asked[key] = Tried(request, start, changes, permits, matched - permits)
        self._keep(tried)
        return tried

    def _fits(self, request: Mapping[str, Any]) -> bool:
        """Whether it is a request for this action that fits the schema: a case may be about one that does not."""
        shape = self._shape
        try:
            self._take(request["context"])
            return is_entity(request["principal"], shape.principals) and is_entity(request["resource"], shape.resources)
        except (Misfit, LookupError, TypeError):
            return False

    def _keep(self, tried: Tried) -> None:
        for permit in tried.permits:
            if permit not in self.through or tried.cost < self.through[permit].cost:
                self.through[permit] = tried
            for forbid in tried.forbids:
                if (permit, forbid) not in self.shown or tried.cost < self.shown[permit, forbid].cost:
                    self.shown[permit, forbid] = tried


def _alone(rules: Sequence[Rule]) -> cedarpy.PolicySet:
    """The rules as permits, one and all: Cedar then names every one that matches."""
    policies = {rule.id: {**rule.tree, "effect": "permit"} for rule in rules}
    return cedarpy.PolicySet.from_json_str(
        json.dumps({"staticPolicies": policies, "templates": {}, "templateLinks": []})
    )


def _is_for(request: Mapping[str, Any], action: str) -> bool:
    return request.get("action") == {"type": "Action", "id": action} and isinstance(request.get("context"), Mapping)
