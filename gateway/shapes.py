"""The shapes that ids and texts must have before they go any further.

A malformed id names nothing (404); a text with a NUL or half a surrogate pair cannot be stored, and is refused (422).
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from domain.refusal import NotFound

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

VERSION_MAX = 2_147_483_647


def _names_something(given: str) -> str:
    if not _ID.match(given):
        raise NotFound("There is nothing of that id.")
    return given


def storable(given: str) -> str:
    """Return a text that Postgres can keep; raises ValueError for any other."""
    if _UNSTORABLE.search(given):
        raise ValueError("a NUL character or half of a surrogate pair cannot be stored")
    return given


def _not_blank(given: str) -> str:
    if not given.strip():
        raise ValueError("this text is empty")
    return given


Id = Annotated[str, AfterValidator(_names_something)]
"""An id in a path: malformed, it is an id of nothing."""

ClientId = Annotated[str, Field(strict=True, min_length=1, max_length=128), AfterValidator(storable)]
"""An id that the caller makes up, by which a repeat is known."""

Text = Annotated[str, Field(strict=True, min_length=1), AfterValidator(storable), AfterValidator(_not_blank)]
"""What a person writes; how long it may be is a setting, and is judged on admission."""

Label = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
"""A short name, as of a channel."""

Remark = Annotated[str, Field(strict=True, max_length=2_000), AfterValidator(storable)]
"""A reason or a note."""

Version = Annotated[int, Field(strict=True, ge=0, le=VERSION_MAX)]
"""A version or an epoch."""

Reason = Annotated[Remark, Field(min_length=1), AfterValidator(_not_blank)]
"""Why somebody does what has to be accounted for."""

ResourceName = Annotated[
    str,
    StringConstraints(strict=True, max_length=160, pattern=r"^(order|payment|subscription|account):.+$"),
    AfterValidator(storable),
]
"""What an action is on: its type and its id in the business system."""

Names = Annotated[tuple[ClientId, ...], Field(max_length=100)]
"""Ids of things in the business system, in order."""

AMOUNT_MINOR_MAX = 1_000_000_000_000
Amount = Annotated[int, Field(strict=True, ge=1, le=AMOUNT_MINOR_MAX)]
"""An amount of money in minor units."""

Currency = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Z]{3}$")]
"""A currency by its code of ISO 4217."""
