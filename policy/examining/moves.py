"""One change of a Cedar request, and what stands where in one.

Pure. A request here has its approvals in the context.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.rules import Path, context_path

GONE = object()


@dataclass(frozen=True)
class Move:
    """Put `value` at `place`, or take away what is there where the value is `GONE`."""

    place: Path
    value: Any

    def __str__(self) -> str:
        name = ".".join(self.place)
        return f"no {name}" if self.value is GONE else f"{name} = {_shown(self.value)}"


def changed(request: Mapping[str, Any], moves: tuple[Move, ...]) -> dict[str, Any]:
    """Return a changed copy of `request`; a move to where nothing can be is left out."""
    made = copy.deepcopy(dict(request))
    for move in moves:
        *way, last = move.place
        place = at(made, tuple(way))
        if isinstance(place, dict) and move.value is GONE:
            place.pop(last, None)
        elif isinstance(place, dict):
            place[last] = move.value
    return made


def at(request: Mapping[str, Any], place: Path) -> Any:
    """Return what stands at `place`, or GONE."""
    value: Any = request
    for step in place:
        value = value.get(step, GONE) if isinstance(value, Mapping) else GONE
    return value


def place_of(node: Any) -> Path | None:
    """Return where in a request a part of a condition looks, or None where it does not."""
    path = context_path(node)
    if path:
        return ("context", *path)
    match node:
        case {"Var": "principal" | "resource" as name}:
            return (name,)
        case _:
            return None


def as_written(place: Path, value: Any) -> Any:
    """Return `value` as it is written at `place`: an entity bare as principal or resource, marked in the context."""
    entity = entity_of(value)
    if entity is None:
        return value
    return {"__entity": entity} if place[0] == "context" else entity


def entity_of(value: Any) -> dict[str, Any] | None:
    """Return `{type, id}` of an entity, however it is written, or None for anything else."""
    inner = value.get("__entity", value) if isinstance(value, Mapping) else None
    return dict(inner) if isinstance(inner, Mapping) and set(inner) == {"type", "id"} else None


def _shown(value: Any) -> str:
    entity = entity_of(value)
    if entity is not None:
        return f'{entity["type"]}::"{entity["id"]}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
