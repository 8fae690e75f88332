"""How a retail world calls things: its statuses, and an address in its parts.

Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

PENDING, MODIFIED, PROCESSED = "pending", "pending (item modified)", "processed"
DELIVERED, RETURNED, EXCHANGED = "delivered", "return requested", "exchange requested"
#: the label of the address that an account has for itself
DEFAULT = "default"


def lines_of(address: Mapping[str, Any]) -> list[str]:
    """The lines of a label for an address in its parts."""
    town = f"{address['city']}, {address['state']} {address['zip']}"
    return [line for line in (address["address1"], address["address2"], town, address["country"]) if line]


def with_address(book: Sequence[dict[str, Any]], address: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The book with this address in it, and its id there: the same lines are the same address."""
    lines = lines_of(address)
    known = next((a for a in book if a["lines"] == lines), None)
    if known:
        return list(book), known["id"]
    ident = "adr_" + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return [*book, {"id": ident, "label": "", "lines": lines, "verified": False}], ident
