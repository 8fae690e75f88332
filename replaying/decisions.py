"""What a step's recorded answer says, in a few words: the intent, the step, the effect, the state. Pure."""

from collections.abc import Mapping
from typing import Any

from domain.model import Route

_OF_A_STEP = (
    "topic",
    "kind",
    "resource",
    "amount_minor",
    "currency",
    "question",
    "reason",
    "operation_id",
    "supersedes",
)
_OF_A_LOOK_UP = ("reached", "may_resend", "past_deadline")


def told(answer: Any) -> str:
    """Return a recorded answer in words; an answer of an unknown shape as it is, cut short."""
    match answer:
        case None:
            return ""
        case {"step": _, "through_seq": through}:
            return _considered(answer, through)
        case {"state": state, "past_deadline": _}:
            flags = [name.replace("_", " ") for name in _OF_A_LOOK_UP if answer.get(name)]
            return ", ".join([str(state), *flags])
        case {"state": state, "cause": cause}:
            return _progress(answer, state, cause)
        case bool():
            return "yes" if answer else "no"
        case str() | int():
            return str(answer)
        case _:
            return str(answer)[:200]


def _considered(answer: Mapping[str, Any], through: int) -> str:
    step = answer.get("step")
    understood = answer.get("understood") or {}
    owner = f"owner {answer.get('owner')} (epoch {answer.get('owner_epoch')})"
    if asked := answer.get("ask_model"):
        return f"{_whom(asked)} is to read it first; {owner}, version {answer.get('version')}"
    if answer.get("draft_waits"):
        return f"a draft waits for a person; {owner}, version {answer.get('version')}"
    if not step:
        return f"nothing to do; {owner}, version {answer.get('version')}"
    more = " ".join(f"{name} {_plain(step[name])}" for name in _OF_A_STEP if step.get(name))
    found = f" from {_plain(pages)}" if (pages := _pages(step)) else ""
    drafted = f"; to be drafted by {_whom(drafter)}" if (drafter := answer.get("draft_by")) else ""
    reviewed = ", for a person to let out" if answer.get("for_review") else ""
    taken = f"{step.get('step')} {more}".rstrip() + found + drafted + reviewed
    return f"{_understood(understood)} → {taken}; answers through seq {through}; {owner}"


def _understood(understood: Mapping[str, Any]) -> str:
    """What the turn was taken to mean, by which route, and how certainly."""
    route, sure = understood.get("route"), understood.get("confidence")
    by = f" by {_whom(route)}" if route else ""
    return f"understood {understood.get('intent', '?')}{by}" + (
        f" ({sure:.2g})" if isinstance(sure, int | float) else ""
    )


def _whom(route: Any) -> str:
    """Who reads or writes on a route, in words."""
    is_model = route in (Route.SMALL, Route.LARGE)
    return f"the {route} model" if is_model else f"the {route}"


def _pages(step: Mapping[str, Any]) -> list[str]:
    """The versions of articles that an answer was decided on, as they are cited."""
    found = step.get("passages")
    return list(dict.fromkeys(f"{p['slug']}@{p['version']}" for p in found)) if isinstance(found, list) else []


def _progress(answer: Mapping[str, Any], state: Any, cause: Any) -> str:
    missing = answer.get("missing")
    waits = f", waits for {_plain(missing)}" if missing else ""
    sends = f", sent {answer['send_count']}×" if answer.get("send_count") else ""
    person = ", a person has it" if answer.get("person_has_it") else ""
    return f"{state} ({cause}){waits}{sends}{person}"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
