"""The open shop that the handlers work with, and the door in front of it: keys and the size of what is brought in.

Bodies are read as bytes here and as JSON by hand elsewhere, so that no input whatsoever can end in a 500.
"""

from __future__ import annotations

import hmac
import sqlite3
from dataclasses import dataclass, field

from fastapi import Request

from demo.shop.arrival import ArrivalClock
from demo.shop.commands import BODY_BYTES_MAX
from demo.shop.faults import Faults
from demo.shop.problems import BadRequest
from demo.shop.tracking import Tracking
from demo.shop.world_source import WorldSource
from demo.shop.writes import Contract, Desk


@dataclass(frozen=True)
class Keys:
    """The two secrets of the shop: one reads, one writes; neither does the other's work."""

    read: str
    write: str


@dataclass
class Shop:
    """What the handlers work with."""

    db: sqlite3.Connection
    keys: Keys
    contract: Contract
    world_source: WorldSource
    carrier_delay_s: float = 0
    faults: Faults = field(default_factory=Faults)
    clock: ArrivalClock = field(default_factory=ArrivalClock)

    def __post_init__(self) -> None:
        self.desk = Desk(self.db, self.faults, self.contract)
        self.tracking = Tracking(self.db, self.carrier_delay_s)


def authorize(request: Request, needed: str, other: str) -> None:
    """Lets the holder of the needed key in. Raises BadRequest."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    given = token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
    if hmac.compare_digest(given, needed.encode()):
        return
    if hmac.compare_digest(given, other.encode()):
        raise BadRequest(403, "wrong_key", "This key does not allow this: one key reads, the other writes.")
    raise BadRequest(401, "unauthorized", "A valid key is required as a Bearer token.")


async def read_body(request: Request) -> bytes:
    """The whole body, bounded. Raises BadRequest."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise BadRequest(413, "too_large", f"A body may hold {BODY_BYTES_MAX} bytes.")
    return bytes(body)
