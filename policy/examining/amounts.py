"""Amounts as the rules see them: what a request is about, and the bands that the rules' own thresholds cut.

Pure; all in minor units.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from policy.rules import Path, Rule, context_path, parts_of

AMOUNTS: tuple[Path, ...] = (("amount_minor",), ("difference_minor",))
_ENDS = {"<=": 0, ">": 0, "<": -1, ">=": -1}  # where a band ends, relative to the number compared with
_MIRRORED = {"<=": ">=", ">": "<", "<": ">", ">=": "<="}


class Band(NamedTuple):
    """Amounts from `low` to `high`, both included; None is without end. Both None: no amount, or one band for all."""

    low: int | None = None
    high: int | None = None


def amount_of(context: Mapping[str, Any]) -> tuple[int | None, str]:
    """Return the amount that a request is about and its currency; None and "" where it is about none."""
    for (name,) in AMOUNTS:
        amount = context.get(name)
        if type(amount) is int:
            target = context.get("target")
            currency = context.get("currency") or (target.get("currency") if isinstance(target, Mapping) else None)
            return amount, str(currency or "")
    return None, ""


def thresholds_of(rules: Iterable[Rule], action: str) -> tuple[int, ...]:
    """Return the amounts up to which something holds in the rules that name `action`, ascending."""
    mine = (rule for rule in rules if _names(rule, action))
    return tuple(sorted({end for rule in mine for end in _ends(rule.tree["conditions"])}))


def band_of(amount: int | None, thresholds: tuple[int, ...]) -> Band:
    """Return the band in which `amount` lies."""
    if amount is None:
        return Band()
    low = max((end + 1 for end in thresholds if end < amount), default=None)
    return Band(low, min((end for end in thresholds if end >= amount), default=None))


def _names(rule: Rule, action: str) -> bool:
    scope = rule.tree["action"]
    named = scope.get("entities") or [scope["entity"]] if scope["op"] != "All" else []
    return not named or any(entity["id"] == action for entity in named)


def _ends(node: Any) -> Iterator[int]:
    if isinstance(node, Mapping) and len(node) == 1:
        [(operator, asked)] = node.items()
        if operator in _ENDS:
            yield from _end(operator, asked["left"], asked["right"])
            yield from _end(_MIRRORED[operator], asked["right"], asked["left"])
    for part in parts_of(node):
        yield from _ends(part)


def _end(operator: str, fact: Any, literal: Any) -> Iterator[int]:
    if context_path(fact) in AMOUNTS and isinstance(literal, Mapping) and type(literal.get("Value")) is int:
        yield literal["Value"] + _ENDS[operator]
