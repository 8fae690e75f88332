"""Cursors: where a page of a search ended, as one opaque word.

A cursor says nothing that its bearer could not see, and is worth nothing to anybody else.
"""

import base64
import binascii
from datetime import datetime

from gateway.refusals import InvalidRequest


def encode(updated_at: datetime, conversation_id: str) -> str:
    """Return the cursor of the last item of a page."""
    return base64.urlsafe_b64encode(f"{updated_at.isoformat()} {conversation_id}".encode()).decode().rstrip("=")


def decode(cursor: str, came_in: str = "body") -> tuple[datetime, str]:
    """Return what a cursor stands for, which came in the body or the query. Raises InvalidRequest for no cursor."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
        at, _, conversation_id = raw.partition(" ")
        updated_at = datetime.fromisoformat(at)
        if updated_at.tzinfo is None or not 2000 < updated_at.year < 3000 or not conversation_id.isprintable():
            raise ValueError
    except (ValueError, binascii.Error):
        message = "this is no cursor of this search"
        field = f"{came_in}.cursor"
        raise InvalidRequest(f"{field}: {message}", errors=[{"field": field, "message": message}]) from None
    return updated_at, conversation_id
