"""A bundle's manifest: which bundle it is, whose, over which base, from when to when, and what changed.

Pure.
"""

import json
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AliasChoices, AwareDatetime, Field, ValidationError, model_validator

from domain.base import Noun
from policy.invalid import BundleInvalid, line_of

MANIFEST = "manifest.json"
FIELDS = "id, version, author, effective_from and changed are needed, as text; effective_from as 2026-01-31T00:00:00Z"


NAME = re.compile(r"[a-z][a-z0-9-]{0,79}")
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,39}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


def _name(given: str) -> str:
    if not NAME.fullmatch(given):
        raise ValueError("a name is up to 80 of a-z, 0-9 and hyphens, a letter first")
    return given


def _version(given: str) -> str:
    if not VERSION.fullmatch(given):
        raise ValueError("a version is up to 40 letters, digits, dots, hyphens, + and _, such as 2026-12.1")
    return given


def _plain(given: str) -> str:
    if CONTROL.search(given):
        raise ValueError("it has control characters")
    return given


def _within(given: datetime) -> datetime:
    if not EARLIEST <= given < LATEST:
        raise ValueError(f"a time from {EARLIEST.year} on and before {LATEST.year}")
    return given


Words = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(_plain)]
Moment = Annotated[AwareDatetime, AfterValidator(_within)]


class Facts(StrEnum):
    """Whose facts the requests of a bundle are made from: `policy.question`'s or `policy.retail`'s."""

    ACCOUNT = "account"
    RETAIL = "retail"


class Manifest(Noun):
    """Which bundle this is. `tenant` and `base` are None for a base; `withdraws` are the base's permits given up."""

    id: Annotated[str, AfterValidator(_name)]
    version: Annotated[str, AfterValidator(_version)]
    author: Words
    effective_from: Moment
    effective_until: Moment | None = None
    changed: Words = Field(validation_alias=AliasChoices("changed", "notes"))  # `notes` in bundles published by 0.1
    tenant: str | None = None
    base: str | None = None
    withdraws: tuple[str, ...] = ()
    facts: Facts = Facts.ACCOUNT

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.effective_until is not None and self.effective_until <= self.effective_from:
            raise ValueError(
                f"effective_until {self.effective_until} is not after effective_from {self.effective_from}"
            )
        if (self.tenant is None) != (self.base is None):
            raise ValueError("tenant and base go together: both are null for a base, neither for a tenant's layer")
        if self.base is None and self.withdraws:
            raise ValueError("withdraws is for a tenant's layer: a base leaves the rule out")
        return self


def read_manifest(text: str) -> Manifest:
    """Return the manifest that `text` is. Raises BundleInvalid."""
    try:
        content: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise BundleInvalid(MANIFEST, error.lineno, f"not JSON: {error.msg}", "one JSON object") from error
    except ValueError as error:  # a number with more digits than Python reads
        raise BundleInvalid(MANIFEST, 1, "a number in it is too long", "one JSON object of texts and lists") from error
    except RecursionError as error:
        raise BundleInvalid(
            MANIFEST, 1, "it nests too deep", "one JSON object with the fields of a manifest"
        ) from error
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise _invalid(text, content, error) from error


def _invalid(text: str, content: Any, error: ValidationError) -> BundleInvalid:
    """The first thing that is wrong, with the line of the field that it is wrong with."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return BundleInvalid(MANIFEST, 1, f"the field {where} is missing", FIELDS)
    if first["type"] == "extra_forbidden":
        right = f"the fields are {', '.join(Manifest.model_fields)}"
        return BundleInvalid(MANIFEST, line_of(text, f"`{where}`"), f"there is no field {where}", right)
    if not isinstance(content, dict):
        return BundleInvalid(MANIFEST, 1, "the file is not a JSON object", "{…} with the fields of a manifest")
    told = first["msg"].removeprefix("Value error, ")
    if not where:
        return BundleInvalid(MANIFEST, line_of(text, f"`{told.split()[0]}`"), told, "make the two agree")
    return BundleInvalid(MANIFEST, line_of(text, f"`{first['loc'][0]}`"), f"{where}: {told}", FIELDS)
