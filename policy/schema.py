"""A bundle's schema, read so far that a request can be held against it without asking Cedar.

Pure. What is not understood here is simply not answered here: Cedar's own check is then asked (see `slices`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cedarpy

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_]\w*(?:::\w+)*(?:::(?="))?|[^\s\w])')
PRIMITIVES = {"Long": int, "String": str, "Bool": bool}


@dataclass(frozen=True)
class Entity:
    """A reference to an entity of the type `name`."""

    name: str


@dataclass(frozen=True)
class SetOf:
    """A set whose elements are all of one type."""

    of: "Type"


@dataclass(frozen=True)
class Field:
    """One attribute of a record."""

    type: "Type"
    required: bool


@dataclass(frozen=True)
class Record:
    """Attributes by name; no others are allowed."""

    fields: Mapping[str, Field]


Type = Entity | SetOf | Record | type[int] | type[str] | type[bool] | None  # None: one that is not understood here


@dataclass(frozen=True)
class ActionShape:
    """What a request for one action must look like; `groups` are the actions that it is in, itself included."""

    principals: frozenset[str]
    resources: frozenset[str]
    context: Record
    groups: frozenset[str]


class NotUnderstood(ValueError):
    """The schema uses something that is read by Cedar alone: namespaces, tags, enumerated entities."""


def shapes_of(schema: cedarpy.Schema) -> Mapping[str, ActionShape]:
    """Return the shape of each action by its id. Raises NotUnderstood for a schema beyond what is read here."""
    reader = _Reader(str(schema))
    reader.read()
    return {name: reader.shape(name) for name in reader.actions}


@dataclass(frozen=True)
class _Action:
    above: tuple[str, ...]
    principals: frozenset[str]
    resources: frozenset[str]
    context: Any


class _Reader:
    """Reads Cedar's own rendering of a schema, in which everything is written in one way."""

    def __init__(self, text: str) -> None:
        self._tokens: Iterator[str] = iter([*TOKEN.findall(text), ""])
        self._next = next(self._tokens)
        self._types: dict[str, Any] = {}
        self._entities: set[str] = set()
        self.actions: dict[str, _Action] = {}

    def read(self) -> None:
        """Read every declaration."""
        while self._next:
            match self._take():
                case "type":
                    name = self._name()
                    self._expect("=")
                    self._types[name] = self._type()
                case "entity":
                    self._entities.add(self._name())
                    self._entity()
                case "action":
                    name = self._name()
                    self.actions[name] = self._action()
                case other:
                    raise NotUnderstood(other)
            self._expect(";")

    def shape(self, name: str) -> ActionShape:
        """Return the shape of one action, its types looked up."""
        action = self.actions[name]
        context = self._resolved(action.context)
        if not isinstance(context, Record):
            raise NotUnderstood(name)
        return ActionShape(action.principals, action.resources, context, frozenset(self._groups(name)))

    def _groups(self, name: str) -> Iterator[str]:
        yield name
        for above in self.actions[name].above:
            yield from self._groups(above)

    def _resolved(self, told: Any) -> Type:
        match told:
            case str() if told in self._types:
                return self._resolved(self._types[told])
            case str() if told in self._entities:
                return Entity(told)
            case str():
                return PRIMITIVES.get(told.removeprefix("__cedar::"))
            case ("Set", of):
                return SetOf(self._resolved(of))
            case dict():
                return Record({name: Field(self._resolved(of), required) for name, (of, required) in told.items()})
            case _:
                raise NotUnderstood(str(told))

    def _entity(self) -> None:
        if self._next == "in":
            self._take()
            self._names()
        if self._next == "=":
            self._take()
            self._type()

    def _action(self) -> _Action:
        above: tuple[str, ...] = ()
        applies: dict[str, Any] = {"principal": (), "resource": (), "context": {}}
        if self._next == "in":
            self._take()
            above = self._names()
        if self._next == "appliesTo":
            self._take()
            self._expect("{")
            while self._next != "}":
                part = self._name()
                self._expect(":")
                applies[part] = self._type() if part == "context" else self._names()
                if self._next == ",":
                    self._take()
            self._expect("}")
        return _Action(above, frozenset(applies["principal"]), frozenset(applies["resource"]), applies["context"])

    def _type(self) -> Any:
        """A name, a set as `("Set", of)`, or a record as `{name: (type, required)}`."""
        if self._next == "{":
            return dict(self._fields())
        name = self._name()
        if name != "Set":
            return name
        self._expect("<")
        of = self._type()
        self._expect(">")
        return "Set", of

    def _fields(self) -> Iterator[tuple[str, Any]]:
        self._expect("{")
        while self._next != "}":
            name, required = self._name(), True
            if name.startswith("__"):  # Cedar reads such a key in JSON as an escape
                raise NotUnderstood(name)
            if self._next == "?":
                self._take()
                required = False
            self._expect(":")
            yield name, (self._type(), required)
            if self._next == ",":
                self._take()
        self._expect("}")

    def _names(self) -> tuple[str, ...]:
        names = []
        self._expect("[")
        while self._next != "]":
            names.append(self._name())
            if self._next == ",":
                self._take()
        self._expect("]")
        return tuple(names)

    def _name(self) -> str:
        """A name, bare or quoted; an action's as the action's id alone."""
        token = self._take()
        if token == "Action::":  # noqa: S105 — what stands before an action's id
            token = self._take()
        if token.startswith('"'):
            try:
                return str(json.loads(token))
            except ValueError:
                raise NotUnderstood(token) from None
        if not re.match(r"[A-Za-z_]", token):
            raise NotUnderstood(token)
        return token

    def _take(self) -> str:
        taken, self._next = self._next, next(self._tokens, "")
        return taken

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise NotUnderstood(token)
