"""Which fact it is that a recorded request lacks, or has too much, for a bundle to be asked about it.

Pure; says nothing of requests that fit.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from policy.schema import ActionShape, Entity, Record, SetOf, Type
from policy.taking import LONGS

_TYPES: Mapping[type, str] = {int: "Long", str: "String", bool: "Bool"}


def misfit_of(shapes: Mapping[str, ActionShape], request: Mapping[str, Any]) -> str | None:
    """Return what keeps `request` (without approvals) from being judged under the schema of `shapes`, or None."""
    action = request.get("action")
    name = action.get("id") if isinstance(action, Mapping) else None
    shape = shapes.get(name) if isinstance(name, str) else None
    if shape is None:
        return f"the bundle has no action {name}" if name else "no request was recorded"
    for part, types in (("principal", shape.principals), ("resource", shape.resources)):
        found = request.get(part)
        if not isinstance(found, Mapping) or found.get("type") not in types:
            return f"{part} is no {' or '.join(sorted(types))}"
    fields = {field: of for field, of in shape.context.fields.items() if field != "approvals"}
    return next(_misfits("context", Record(fields), request.get("context")), None)


def _misfits(path: str, of: Type, value: Any) -> Iterator[str]:
    match of:
        case Record(fields):
            if not isinstance(value, Mapping):
                yield f"{path} is no record"
                return
            for name, field in fields.items():
                if name in value:
                    yield from _misfits(f"{path}.{name}", field.type, value[name])
                elif field.required:
                    yield f"{path}.{name} was not recorded"
            yield from (f"{path}.{name} is not in the bundle's schema" for name in value if name not in fields)
        case SetOf(of=element):
            if not isinstance(value, list):
                yield f"{path} is no set"
                return
            for part in value:
                yield from _misfits(path, element, part)
        case Entity(name):
            if not isinstance(value, Mapping) or value.get("__entity", {}).get("type") != name:
                yield f"{path} is no {name}"
        case None:
            return
        case _:
            if type(value) is not of or (of is int and value not in LONGS):
                yield f"{path} is no {_TYPES[of]}"
