"""What a step's recorded answer says, in a few words: the intent, the step, the effect, the state. Pure."""

from collections.abc import Mapping
from typing import Any

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
    if not step:
        return f"nothing to do; {owner}, version {answer.get('version')}"
    sure = understood.get("confidence")
    intent = f"understood {understood.get('intent', '?')}" + (f" ({sure:g})" if isinstance(sure, int | float) else "")
    more = " ".join(f"{name} {_plain(step[name])}" for name in _OF_A_STEP if step.get(name))
    return f"{intent} → {step.get('step')} {more}; answers through seq {through}; {owner}".replace(" ;", ";")


def _progress(answer: Mapping[str, Any], state: Any, cause: Any) -> str:
    missing = answer.get("missing")
    waits = f", waits for {_plain(missing)}" if missing else ""
    sends = f", sent {answer['send_count']}×" if answer.get("send_count") else ""
    person = ", a person has it" if answer.get("person_has_it") else ""
    return f"{state} ({cause}){waits}{sends}{person}"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
