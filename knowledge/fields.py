"""The fields of an article's header: which there are, and how each is read from what is written.

Pure; a value that cannot be read raises ValueError, which says what would be right.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from domain.knowledge import ArticleKind, Audience

NEEDED = ("slug", "language", "title")
_LINE_CHARS_MAX = 200
_VERSION_MAX = 1_000_000


def _matching(pattern: str, right: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError(f"{_shown(value)} is not {right}")
        return value

    return read


def _one_of(*known: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in known:
            raise ValueError(f"{_shown(value)} is none of {', '.join(known)}")
        return str(value)

    return read


def _line(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\n" in value or len(value) > _LINE_CHARS_MAX:
        raise ValueError(f"{_shown(value)} is not one line of 1 to {_LINE_CHARS_MAX} characters")
    return value.strip()


def _version(value: Any) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.isdigit() or not 0 < int(value) <= _VERSION_MAX:
        raise ValueError(f"{_shown(value)} is not a whole number from 1 on; without it, the next one is taken")
    return int(value)


def _versions(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    read = _matching(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,30}", "a version of the product, such as 2.4")
    return tuple(read(one) for one in given if one != "")


def _moment(value: Any) -> datetime:
    right = "a day, such as 2026-03-01, or a time with its zone, such as 2026-03-01T08:00:00Z"
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(value)):
            return datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC)
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"{_shown(value)} is not {right}") from None
    if moment.tzinfo is None:
        raise ValueError(f"{_shown(value)} has no zone; it is {right}")
    return moment.astimezone(UTC)


def _shown(value: Any) -> str:
    return repr(value if not isinstance(value, str) or len(value) <= _LINE_CHARS_MAX else value[:60] + "…")


READERS: dict[str, Callable[[Any], Any]] = {
    "slug": _matching(r"[a-z0-9][a-z0-9-]{0,62}", "a slug: small letters, digits and hyphens, such as refund-times"),
    "tenant": _line,
    "version": _version,
    "language": _matching(r"[a-z]{2,3}", "a language code of two or three small letters, such as pt"),
    "title": _line,
    "audience": _one_of(*(a.value for a in Audience)),
    "kind": _one_of(*(k.value for k in ArticleKind)),
    "product_versions": _versions,
    "effective_from": _moment,
    "effective_until": _moment,
    "reviewed_by": _line,
}
FIELDS = tuple(READERS)
