"""One row of the audit, and the hash that ties it to the row before it.

Pure; what is hashed is exactly what the database hashes, so that anybody can recompute it from an export.
"""

import hashlib
from typing import NamedTuple

from domain.base import Noun

GENESIS = "0" * 64  # what stands before the first row of a tenant


class AuditRow(Noun):
    """A row as it was hashed: `at` and `body` are text, to the last character; `n` counts 1, 2, 3 … per tenant.

    `previous` is the hash of the row before it ("" where that row is not there), `hash` its own.
    """

    tenant_id: str
    n: int
    at: str  # 2026-01-31T12:00:00.000000Z
    kind: str
    actor: str
    conversation_id: str | None
    operation_id: str | None
    body: str  # JSON
    previous: str
    hash: str


class VerdictRow(NamedTuple):
    """A verdict on record: its number, when, of which operation, and its body as JSON text."""

    n: int
    at: str
    operation_id: str
    body: str


def hash_of(row: AuditRow, previous: str, n: int) -> str:
    """Return the hash that `row` has as number `n` after the row whose hash is `previous`; "" where it can have none.

    SHA-256 in hex over these lines, joined by newlines: previous, tenant, n, at, kind, actor, conversation, operation
    ("" for none), body. The body comes last and is the only one that may hold a newline.
    """
    named = (row.tenant_id, str(n), row.at, row.kind, row.actor, row.conversation_id or "", row.operation_id or "")
    if any("\n" in part for part in (previous, *named)):
        return ""
    return hashlib.sha256("\n".join((previous, *named, row.body)).encode()).hexdigest()
