"""What can be asked of the shop to change, read from any JSON whatsoever.

Everything that is not exactly a command raises a BadRequest that says which field is wrong.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from demo.shop.problems import BadRequest

BODY_BYTES_MAX = 64 * 1024
AMOUNT_MINOR_MAX = 10**12
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}")
CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True)
class Refund:
    """Give back `amount_minor` of an order, or of a payment; exactly one of the two is named."""

    customer_id: str
    order_id: str | None
    payment_id: str | None
    amount_minor: int
    currency: str
    expected_version: int


@dataclass(frozen=True)
class CancelSubscription:
    """End a subscription: no further renewal, nothing given back."""

    customer_id: str
    subscription_id: str
    expected_version: int


@dataclass(frozen=True)
class Command:
    """One operation of one tenant, with the identity of exactly what was asked."""

    tenant: str
    operation_id: str
    change: Refund | CancelSubscription

    @property
    def kind(self) -> str:
        """The name that faults and effects know this operation by."""
        return "refund" if isinstance(self.change, Refund) else "cancel_subscription"

    @property
    def fingerprint(self) -> str:
        """A digest of all that is asked; the same key with another one is a misuse."""
        return hashlib.sha256(json.dumps([self.kind, asdict(self.change)], sort_keys=True).encode()).hexdigest()


def parse_json(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises BadRequest for anything else, NaN and absurd nesting included."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(400, "malformed_json", "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise _invalid("the body must be a JSON object")
    return body


def parse_refund(tenant: str, key: str | None, raw: bytes) -> Command:
    """The refund in this body, sent under this key. Raises BadRequest."""
    body = parse_json(raw)
    _only(body, "operation_id", "customer_id", "order_id", "payment_id", "amount_minor", "currency", "expected_version")
    operation_id = _operation_id(body, key)
    order_id = None if body.get("order_id") is None else _id(body, "order_id")
    payment_id = None if body.get("payment_id") is None else _id(body, "payment_id")
    if (order_id is None) == (payment_id is None):
        raise _invalid("exactly one of order_id and payment_id must be given")
    currency = body.get("currency")
    if not isinstance(currency, str) or not CURRENCY.fullmatch(currency):
        raise _invalid("currency must be three capital letters")
    amount_minor = _integer(body, "amount_minor", AMOUNT_MINOR_MAX)
    version = _integer(body, "expected_version", 2**53)
    return Command(
        tenant, operation_id, Refund(_id(body, "customer_id"), order_id, payment_id, amount_minor, currency, version)
    )


def parse_cancel(tenant: str, subscription_id: str, key: str | None, raw: bytes) -> Command:
    """The end of this subscription, asked for in this body under this key. Raises BadRequest."""
    body = parse_json(raw)
    _only(body, "operation_id", "customer_id", "expected_version")
    operation_id = _operation_id(body, key)
    version = _integer(body, "expected_version", 2**53)
    return Command(tenant, operation_id, CancelSubscription(_id(body, "customer_id"), subscription_id, version))


def _invalid(what: str) -> BadRequest:
    return BadRequest(422, "invalid_request", f"The request cannot be read: {what}.")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _only(body: dict[str, Any], *fields: str) -> None:
    if not body.keys() <= set(fields):
        raise _invalid("it may hold only " + ", ".join(fields))


def _id(body: dict[str, Any], field: str) -> str:
    value = body.get(field)
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise _invalid(f"{field} must be 1 to 128 letters, digits or . _ : ~ -, and begin with a letter or digit")
    return value


def _integer(body: dict[str, Any], field: str, most: int) -> int:
    value = body.get(field)
    if type(value) is not int or not 1 <= value <= most:
        raise _invalid(f"{field} must be an integer from 1 to {most}")
    return value


def _operation_id(body: dict[str, Any], key: str | None) -> str:
    operation_id = _id(body, "operation_id")
    if key is None:
        raise BadRequest(400, "key_missing", "The header Idempotency-Key is required on every write.")
    if key != operation_id:
        raise BadRequest(400, "key_mismatch", "The header Idempotency-Key must equal the operation_id of the body.")
    return operation_id
