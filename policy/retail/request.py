"""A line of a requests file: who asks for which tool with which arguments, and what the user has said yes to.

Pure; a line that is no request is refused with what is wrong and what would be right.
"""

import json
from collections.abc import Mapping
from typing import Any, Never

from pydantic import Field, StrictInt, ValidationError

from domain.base import Noun
from policy.retail.world import Text

SHAPE = "a request is {id, principal, action, arguments, approved?, orders?, users?}"
_RIGHT = {
    "id": "a text or a whole number",
    "principal": "the id of the user on whose behalf it is asked, a text",
    "action": "the name of a tool, a text",
    "arguments": "an object with the tool's arguments",
    "orders": "an object with the orders that stand otherwise for this line, each under its id",
    "users": "an object with the users that stand otherwise for this line, each under its id",
}


class LineInvalid(ValueError):
    """A line is no request; the message says what is wrong and what would be right."""


class _Identified(Noun):
    id: Text | StrictInt


class RetailRequest(Noun):
    """One request. `arguments` and `approved` are as they came: what they amount to is for the rules to say."""

    id: Text | StrictInt
    principal: Text
    action: Text
    arguments: Any
    approved: Any = None
    orders: Mapping[str, Any] = Field(default_factory=dict)
    users: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def confirmed(self) -> bool | None:
        """Whether the user said yes to exactly these arguments; None where the user has said yes to nothing."""
        return None if self.approved is None else _same(self.approved, self.arguments)


def request_in(line: bytes) -> tuple[RetailRequest, tuple[str, ...]]:
    """Return the request that `line` holds, and the names in it that are not read. Raises LineInvalid."""
    try:
        told = _read(line)
    except (ValueError, RecursionError) as error:
        raise LineInvalid(f"this is not JSON in UTF-8 ({error}); {SHAPE}, one JSON object a line") from None
    if not isinstance(told, dict):
        raise LineInvalid(f"this is no JSON object; {SHAPE}")
    fields = RetailRequest.model_fields
    left_out = {name for name in ("orders", "users") if name in told and told[name] is None}
    try:
        made = RetailRequest.model_validate({k: v for k, v in told.items() if k in fields and k not in left_out})
    except ValidationError as error:
        raise LineInvalid(_told(error)) from None
    return made, tuple(name for name in told if name not in fields)


def id_in(line: bytes) -> str | int | None:
    """Return the id in a line that may be no request; None where there is none to be read."""
    try:
        return _Identified.model_validate({"id": _read(line)["id"]}).id
    except (ValueError, RecursionError, LookupError, TypeError):
        return None


def _read(line: bytes) -> Any:
    return json.loads(line.decode("utf-8"), object_pairs_hook=_each_once, parse_constant=_refuse_constant)


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: 1, 1.0 and true are three values, the order of names is none."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except RecursionError:
        return False


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, unless a name stands in it twice: another reader would take the other value."""
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return made


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no number of JSON")


def _told(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0])
    wrong = "is missing" if first["type"] == "missing" else "is of another kind"
    return f"{name!r} {wrong}; it should be {_RIGHT[name]}"
