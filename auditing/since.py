"""From when on, as a person writes it: a day, a time, or how long ago.

Pure.
"""

import re
from datetime import UTC, datetime, timedelta

RIGHT = "write a day (2026-01-31), a time (2026-01-31T12:00:00Z), or how long ago (36h, 7d)"
_AGO = re.compile(r"(\d{1,6})([hd])")
_HOURS = {"h": 1, "d": 24}


def moment_of(text: str, now: datetime) -> datetime:
    """Return the moment that `text` means, in UTC where it names no zone. Raises ValueError: what would be right."""
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago:
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time; {RIGHT}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
