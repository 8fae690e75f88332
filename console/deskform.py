"""The desk's document as lines that a person can type, and back: `09:00-12:00, 13:00-17:00`, `high_risk: urgent`.

Pure; whether what was typed makes sense is said by the contract, which has the last word.
"""

import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

DAYS = {
    "mon": "Monday",
    "tue": "Tuesday",
    "wed": "Wednesday",
    "thu": "Thursday",
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
}
URGENCIES = ("urgent", "high", "normal", "low")
TARGETS = {"first_reply_s": "First reply", "next_reply_s": "Next reply", "resolution_s": "Resolution"}
MINUTE_S = 60
_SEPARATED = re.compile(r"[,\s]+")


class Mistyped(Exception):
    """Something that was typed cannot be read; the message says what, and what would be right."""


def spans_of(day: list[list[str]]) -> str:
    """Return the spans of a day as one line; nothing for a day that is closed."""
    return ", ".join("-".join(span) for span in day)


def lines_of(pairs: Mapping[str, str]) -> str:
    """Return names and values as lines `name: value`."""
    return "\n".join(f"{name}: {value}" for name, value in sorted(pairs.items()))


def words(text: str) -> list[str]:
    """Return what stands apart by commas or spaces."""
    return [word for word in _SEPARATED.split(text) if word]


def document_of(form: Mapping[str, str], shown: Json) -> Json:
    """Return the document as it was typed; what the form does not have stays as `shown`. Raises Mistyped."""
    return {
        **shown,
        "timezone": form.get("timezone", "").strip(),
        "hours": {day: spans for day in DAYS if (spans := _spans(day, form.get(day, "")))},
        "holidays": {
            "country": form.get("country", "").strip().upper() or None,
            "subdivision": form.get("subdivision", "").strip() or None,
            "closed": words(form.get("closed", "")),
            "open": words(form.get("open", "")),
        },
        "targets": {urgency: {name: _seconds(form, urgency, name, shown) for name in TARGETS} for urgency in URGENCIES},
        "urgency": {
            "by_reason": _pairs("Urgency by reason", form.get("by_reason", "")),
            "by_intent": _pairs("Urgency by intent", form.get("by_intent", "")),
        },
        "skills": {"by_intent": _pairs("Skills", form.get("skills", ""))},
        "claim_minutes": _whole("Minutes of a claim", form.get("claim_minutes", "")),
        "recontact_hours": _whole("Hours of coming back", form.get("recontact_hours", "")),
    }


def _spans(day: str, text: str) -> list[list[str]]:
    spans = [part.strip().replace("–", "-") for part in text.split(",") if part.strip()]
    told = [[edge.strip() for edge in span.split("-")] for span in spans]
    if any(len(span) != 2 for span in told):
        raise Mistyped(f"{DAYS[day]} is typed as 09:00-12:00, 13:00-17:00; nothing means closed.")
    return told


def _seconds(form: Mapping[str, str], urgency: str, name: str, shown: Json) -> int:
    """A target in seconds; one of odd seconds that nobody has touched stays as it is."""
    before: int = shown["targets"][urgency][name]
    typed = form.get(f"{urgency}.{name}", "").strip()
    if typed == minutes_of(before):
        return before
    return _whole(f"{TARGETS[name]} ({urgency})", typed) * MINUTE_S


def minutes_of(seconds: int) -> str:
    """Return a target in minutes as it is typed."""
    return f"{seconds / MINUTE_S:g}"


def _whole(what: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise Mistyped(f"{what}: type a whole number.")
    return int(text)


def _pairs(what: str, text: str) -> dict[str, str]:
    told: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, found, value = line.partition(":")
        if not found or not value.strip():
            raise Mistyped(f"{what}: “{line}” is no line of the form name: value.")
        told[name.strip()] = value.strip()
    return told
