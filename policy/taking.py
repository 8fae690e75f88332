"""Facts held against their types and taken in one go: only what rules look at, once all of it is known to fit.

Pure. What is not sure to mean to Cedar what its type says is a `Misfit`, and left to Cedar's own check.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policy.rules import Path
from policy.schema import Entity, Field, Record, SetOf, Type

LONGS = range(-(2**63), 2**63)

Taker = Callable[[Any], Any]
Wanted = dict[str, Any] | None  # the attributes that are looked at, each with those of its own; None: all there is


class Misfit(ValueError):
    """A value that is not certain to fit its type."""


def wanted_of(paths: Iterable[Path]) -> Wanted:
    """Return the tree that `paths` make."""
    wanted: Wanted = {}
    for path in sorted(paths):
        wanted = _with_path(wanted, path)
    return wanted


def taker(of: Type, wanted: Wanted) -> Taker:
    """Return what gives the wanted part of a value, and raises Misfit (or LookupError) where the value does not fit."""
    match of:
        case Record(fields):
            return _record(fields, wanted)
        case SetOf(of=element):
            return _set(taker(element, None))
        case Entity(name):
            return _reference(name)
        case None:
            return _refused
        case _ if of is str:
            return _text
        case _ if of is int:
            return _long
        case _:
            return _bool


def reducer(wanted: Wanted) -> Taker:
    """Return what gives the wanted part of a value that is known to fit."""
    if wanted is None:
        return lambda value: value
    parts = [(name, reducer(of)) for name, of in wanted.items()]

    def reduce(value: Any) -> dict[str, Any]:
        return {name: part(value[name]) for name, part in parts if name in value}

    return reduce


def is_entity(value: Any, types: frozenset[str]) -> bool:
    """Whether `value` is `{type, id}` of one of `types`. Raises LookupError or TypeError where it is no such thing."""
    return (
        type(value) is dict
        and len(value) == 2
        and value["type"] in types
        and type(value["id"]) is str
        and value["id"].isprintable()
    )


def _with_path(wanted: Wanted, path: Path) -> Wanted:
    if wanted is None or not path:
        return None
    head, *rest = path
    return {**wanted, head: _with_path(wanted.get(head, {}), tuple(rest))}


def _record(fields: Mapping[str, Field], wanted: Wanted) -> Taker:
    parts = []
    for name, field in fields.items():
        within: Wanted = None if wanted is None else wanted.get(name, {})
        parts.append((name, taker(field.type, within), field.required, wanted is None or name in wanted))

    def take(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Misfit
        met, taken = 0, {}
        for name, part, required, keep in parts:
            if name in value:
                met += 1
                found = part(value[name])
                if keep:
                    taken[name] = found
            elif required:
                raise Misfit
        if met != len(value):  # it has an attribute that is not declared
            raise Misfit
        return taken

    return take


def _set(element: Taker) -> Taker:
    def take(value: Any) -> list[Any]:
        if type(value) is not list:
            raise Misfit
        return [element(part) for part in value]

    return take


def _reference(name: str) -> Taker:
    types = frozenset({name})

    def take(value: Any) -> Any:
        if type(value) is not dict or len(value) != 1 or not is_entity(value["__entity"], types):
            raise Misfit
        return value

    return take


def _text(value: Any) -> Any:
    # A lone surrogate is no text to Cedar; it is neither ASCII nor printable.
    if type(value) is not str or not (value.isascii() or value.isprintable()):
        raise Misfit
    return value


def _long(value: Any) -> Any:
    if type(value) is not int or value not in LONGS:
        raise Misfit
    return value


def _bool(value: Any) -> Any:
    if type(value) is not bool:
        raise Misfit
    return value


def _refused(value: Any) -> Any:
    raise Misfit(value)
