"""What can be asked of the shop to change, read from any JSON whatsoever.

Everything that is not exactly a command raises a BadRequest that says which field is wrong.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from demo.shop.changes import ACCOUNT_CHANGES, AccountChange, Change
from demo.shop.problems import BadRequest
from demo.shop.retail_changes import RETAIL_CHANGES, RetailChange
from demo.shop.shapes import Id

BODY_BYTES_MAX = 64 * 1024

BY_KIND: dict[str, type[AccountChange]] = {change.kind: change for change in ACCOUNT_CHANGES}
BY_WRITE: dict[str, type[RetailChange]] = {change.kind: change for change in RETAIL_CHANGES}
#: the names that faults and effects know operations by
OPERATIONS = (*BY_KIND, *BY_WRITE)

Shape = TypeVar("Shape", bound=Change)
_OPERATION_ID = TypeAdapter[str](Id)


@dataclass(frozen=True)
class Command:
    """One operation of one tenant, with the identity of exactly what was asked."""

    tenant: str
    operation_id: str
    change: AccountChange | RetailChange

    @property
    def kind(self) -> str:
        """The name that faults and effects know this operation by."""
        return self.change.kind

    @property
    def fingerprint(self) -> str:
        """A digest of all that is asked; the same key with another one is a misuse."""
        asked = [self.kind, self.change.model_dump(mode="json")]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def parse_json(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises BadRequest for anything else, NaN and absurd nesting included."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(400, "malformed_json", "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise _invalid("the body must be a JSON object")
    return body


def parse_change(tenant: str, kind: str, key: str | None, raw: bytes, **named: str) -> Command:
    """The change of this kind in this body, sent under this key; `named` stood in the path. Raises BadRequest."""
    if kind not in BY_KIND:
        raise BadRequest(404, "unknown_kind", f"There is no such change; there are {', '.join(BY_KIND)}.")
    body = parse_json(raw)
    operation_id = _operation_id(body, key)
    if twice := body.keys() & named.keys():
        raise _invalid(f"{', '.join(twice)} stands in the path already")
    return Command(tenant, operation_id, _read(BY_KIND[kind], {**body, **named}))


def parse_retail(tenant: str, write: str, key: str | None, raw: bytes) -> Command:
    """The retail write in this body, sent under this key. Raises BadRequest."""
    if write not in BY_WRITE:
        raise BadRequest(404, "unknown_kind", f"There is no such write; there are {', '.join(BY_WRITE)}.")
    body = parse_json(raw)
    operation_id = _operation_id(body, key)
    arguments = body.pop("arguments", None)
    if body.keys() != {"customer_id"} or not isinstance(arguments, dict) or "customer_id" in arguments:
        raise _invalid("it holds operation_id, customer_id and arguments, an object, and nothing else")
    return Command(tenant, operation_id, _read(BY_WRITE[write], {**arguments, **body}))


def _read(shape: type[Shape], fields: dict[str, Any]) -> Shape:
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        raise _invalid(_first(error, "the request")) from None


def _operation_id(body: dict[str, Any], key: str | None) -> str:
    """Takes the operation id out of the body. Raises BadRequest where it is none, or not the key."""
    try:
        operation_id = _OPERATION_ID.validate_python(body.pop("operation_id", None), strict=True)
    except ValidationError as error:
        raise _invalid(_first(error, "operation_id")) from None
    if key is None:
        raise BadRequest(400, "key_missing", "The header Idempotency-Key is required on every write.")
    if key != operation_id:
        raise BadRequest(400, "key_mismatch", "The header Idempotency-Key must equal the operation_id of the body.")
    return operation_id


def _first(error: ValidationError, whole: str) -> str:
    """The first thing that is wrong: which field, and what would be right."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or whole
    return f"{place}: {first['msg']}"


def _invalid(what: str) -> BadRequest:
    return BadRequest(422, "invalid_request", f"The request cannot be read: {what}.")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
