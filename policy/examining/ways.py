"""Ways to make a rule match a request, or not: changes made from the literals that the rule itself compares with.

Pure. A way is a good guess, to be tried: conditions may depend on each other, and some are beyond what is read here.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any

from policy.examining.moves import GONE, Move, as_written, at, entity_of, place_of
from policy.rules import Path, Rule, parts_of

Way = tuple[Move, ...]

ANOTHER = "another"
WAYS_MAX = 24  # of one part of a condition
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
# By how much the left side is the greater at the edge where the comparison holds, and where it no longer does.
EDGES = {"==": (0, 1), "!=": (1, 0), "<": (-1, 0), "<=": (0, 1), ">": (1, 0), ">=": (0, -1)}


def ways_to(rule: Rule, match: bool, request: Mapping[str, Any]) -> tuple[Way, ...]:
    """Return ways to change `request` so that `rule` matches it, or so that it does not."""
    wanted = [(clause["body"], (clause["kind"] == "when") is match) for clause in rule.tree["conditions"]]
    if match:
        found = _all([[tuple(_scope_moves(rule.tree))], *(_ways(body, want, request) for body, want in wanted)])
    else:
        found = [way for body, want in wanted for way in _ways(body, want, request)]
    return tuple({"; ".join(map(str, way)): way for way in found if way}.values())


def _scope_moves(tree: Mapping[str, Any]) -> Iterator[Move]:
    for part in ("principal", "resource"):
        scope = tree[part]
        if scope["op"] == "==":
            yield Move((part,), dict(scope["entity"]))
        elif scope["op"] == "is":
            yield Move((part, "type"), scope["entity_type"])


def _ways(node: Mapping[str, Any], want: bool, request: Mapping[str, Any]) -> list[Way]:
    """Ways to make a part of a condition come out as `want`; one without a move where nothing better is known."""
    place = place_of(node)
    if place is not None:
        return _reading(node, place, want, request)
    [(operator, asked)] = node.items()
    match operator:
        case "&&" | "||":
            sides = [_ways(asked[side], want, request) for side in ("left", "right")]
            return _all(sides) if (operator == "&&") is want else [*sides[0], *sides[1]][:WAYS_MAX]
        case "!":
            return _ways(asked["arg"], not want, request)
        case "if-then-else":
            then = _all([_ways(asked["if"], True, request), _ways(asked["then"], want, request)])
            return then + _all([_ways(asked["if"], False, request), _ways(asked["else"], want, request)])
        case "Value":
            return [()] if asked is want else []
        case "contains" | "containsAll" | "containsAny":
            return _holding(asked["left"], asked["right"], want, request)
        case _ if operator in EDGES:
            return _comparing(operator, asked["left"], asked["right"], want, request)
        case "is":
            about = place_of(asked["left"])
            return [(Move((*about, "type"), asked["entity_type"]),)] if about and want else [()]
        case "like":
            about, parts = place_of(asked["left"]), [p["Literal"] for p in asked["pattern"] if p != "Wildcard"]
            return [(Move(about, "".join(parts) if want else ANOTHER),)] if about else [()]
        case _:
            return [()]


def _all(parts: list[list[Way]]) -> list[Way]:
    """Ways that do all of them: one of each, one after the other."""
    return [tuple(move for way in ways for move in way) for ways in islice(product(*parts), WAYS_MAX)]


def _reading(node: Mapping[str, Any], place: Path, want: bool, request: Mapping[str, Any]) -> list[Way]:
    """A truth value, or whether something that may be missing is there."""
    now = at(request, place)
    if "has" in node:  # what is missing comes with the part that asks what it is
        return [()] if want or now is GONE else [(Move(place, GONE),)]
    return [()] if now is want else [(Move(place, want),)]


def _comparing(operator: str, left: Any, right: Any, want: bool, request: Mapping[str, Any]) -> list[Way]:
    one, two = _number(left, request), _number(right, request)
    if one is None or two is None:
        same = (operator == "==") is want
        return _equal(left, right, same, request) + _equal(right, left, same, request) or [()]
    due = EDGES[operator][0 if want else 1]
    if _holds(operator, one - two) is want:
        return [()]
    places = [(place, 1) for place in _places(left)] + [(place, -1) for place in _places(right)]
    off = due - (one - two)
    steps = [(place, at(request, place) + sign * way * off) for place, sign in places for way in (1, -1)]
    found: list[Way] = [(Move(place, value),) for place, value in steps]
    return found[:WAYS_MAX] or [()]


def _holds(operator: str, difference: int) -> bool:
    match operator:
        case "==":
            return difference == 0
        case "!=":
            return difference != 0
        case "<":
            return difference < 0
        case "<=":
            return difference <= 0
        case ">":
            return difference > 0
        case _:
            return difference >= 0


def _equal(here: Any, there: Any, same: bool, request: Mapping[str, Any]) -> list[Way]:
    """Put there what stands here, or something else."""
    place, value = place_of(here), _value(there, request)
    if place is None or value is GONE:
        return []
    now, written = at(request, place), as_written(place, value)
    if (now == written) is same:
        return [()]
    if same:
        return [(Move(place, written),)]
    entity = entity_of(value)
    if entity is not None:
        return [(Move(place, as_written(place, {**entity, "id": ANOTHER})),)]
    return [(Move(place, ANOTHER),)] if isinstance(value, str) else []


def _holding(left: Any, right: Any, want: bool, request: Mapping[str, Any]) -> list[Way]:
    """A list with or without some values, or a value that is or is not in a list."""
    listed = place_of(left)
    if listed is not None:
        asked = [_value(part, request) for part in right["Set"]] if "Set" in right else [_value(right, request)]
        held = at(request, listed)
        if not isinstance(held, list) or GONE in asked:
            return [()]
        kept = [value for value in held if value not in asked]
        return [(Move(listed, kept + asked if want else kept),)]
    if "Set" not in left:
        return [()]
    if want:
        return [way for part in left["Set"] for way in _equal(right, part, True, request)][:WAYS_MAX] or [()]
    return (left["Set"] and _equal(right, left["Set"][0], False, request)) or [()]


# ---- what the parts of a condition are worth in a request ----


def _places(node: Any) -> Iterator[Path]:
    place = place_of(node)
    if place is not None:
        yield place
        return
    for part in parts_of(node):
        yield from _places(part)


def _value(node: Any, request: Mapping[str, Any]) -> Any:
    if isinstance(node, Mapping) and "Value" in node:
        return node["Value"]
    place = place_of(node)
    return GONE if place is None else at(request, place)


def _number(node: Any, request: Mapping[str, Any]) -> int | None:
    """What a sum comes to, or None for what is no sum."""
    value = _value(node, request)
    if type(value) is int:
        return value
    if not isinstance(node, Mapping) or len(node) != 1:
        return None
    [(operator, asked)] = node.items()
    if operator == "neg":
        inner = _number(asked["arg"], request)
        return None if inner is None else -inner
    if operator in ARITHMETIC:
        left, right = _number(asked["left"], request), _number(asked["right"], request)
        return None if left is None or right is None else ARITHMETIC[operator](left, right)
    return None
