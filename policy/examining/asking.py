"""What rules ask about the approvals: read from their conditions, so that no set is tried twice in vain.

Pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from domain.action import ApprovalRole
from policy.rules import Path, Rule, context_path, parts_of

APPROVALS: Path = ("approvals",)
CONTAINS = ("contains", "containsAll", "containsAny")


@dataclass(frozen=True)
class ApprovalTest:
    """One question that rules ask about the approvals: whether they contain some, or all, of `names`."""

    operator: str
    names: frozenset[str]

    def holds(self, approvals: frozenset[str]) -> bool:
        """Whether it is true of `approvals`."""
        return not self.names.isdisjoint(approvals) if self.operator == "containsAny" else self.names <= approvals


def tests_of(rules: Sequence[Rule]) -> tuple[ApprovalTest, ...] | None:
    """Return all that `rules` ask about the approvals, or None where one of them asks in a way not read here."""
    found = [_test(node) for rule in rules for node in _about_approvals(rule.tree["conditions"])]
    tests = [test for test in found if test is not None]
    return tuple(dict.fromkeys(tests)) if len(tests) == len(found) else None


def larger_sets(
    granted: Sequence[ApprovalRole], tests: tuple[ApprovalTest, ...] | None
) -> Iterator[tuple[ApprovalRole, ...]]:
    """Yield supersets of `granted`, the smallest first, the customer before staff.

    Left out is every set of which `tests`, all that rules ask, say the same as of one before it.
    """
    seen = {_told(granted, tests)}
    others = [role for role in ApprovalRole if role not in granted]
    for size in range(1, len(others) + 1):
        for more in combinations(others, size):
            approvals = in_order((*granted, *more))
            told = _told(approvals, tests)
            if told not in seen:
                seen.add(told)
                yield approvals


def in_order(roles: Collection[ApprovalRole]) -> tuple[ApprovalRole, ...]:
    """Return the roles, each once, in the order in which they are declared."""
    return tuple(role for role in ApprovalRole if role in roles)


def _told(approvals: Collection[ApprovalRole], tests: tuple[ApprovalTest, ...] | None) -> Collection[object]:
    names = frozenset(role.value for role in approvals)
    return names if tests is None else tuple(test.holds(names) for test in tests)


def _about_approvals(node: Any) -> Iterator[Any]:
    """Every smallest part of a condition that asks something of the approvals, or of the context as a whole."""
    path = context_path(node)
    if path is not None:
        if path in (APPROVALS, ()):
            yield node
        return
    if isinstance(node, Mapping) and len(node) == 1:
        [(operator, asked)] = node.items()
        if operator in CONTAINS and set(asked) == {"left", "right"} and context_path(asked["left"]) == APPROVALS:
            yield node
            return
    for part in parts_of(node):
        yield from _about_approvals(part)


def _test(node: Mapping[str, Any]) -> ApprovalTest | None:
    [(operator, asked)] = node.items()
    match asked["right"] if operator in CONTAINS else None:
        case {"Value": str(name)}:
            return ApprovalTest(operator, frozenset({name}))
        case {"Set": list(parts)} if all(isinstance(part.get("Value"), str) for part in parts):
            return ApprovalTest(operator, frozenset(part["Value"] for part in parts))
        case _:
            return None
