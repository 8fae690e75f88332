"""What the body of an endpoint's answer holds: the text, how it ended, the tokens it took; and the object in a text.

Pure; nothing of a body is trusted: not its shape, not its size, not its numbers.
"""

import json
from collections.abc import Mapping
from typing import Any

from domain.base import Noun
from domain.model import ModelOutcome

TOKENS_BELIEVED_MAX = 100_000_000  # what one answer may claim to have used
_BYTES_PER_TOKEN = 3  # where an endpoint does not tell: rather too many than too few


class Reply(Noun):
    """How one call ended. `text` is there where the outcome is OK; `label` says more of a failure, in a word."""

    outcome: ModelOutcome
    label: str = ""
    text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


def reply_of(body: bytes, asked_bytes: int) -> Reply:
    """Return what `body`, the whole of a 200, holds. `asked_bytes` were sent."""
    found = _json(body)
    choice = _first_choice(found)
    if found is None or choice is None:
        return Reply(outcome=ModelOutcome.MALFORMED, label="no_completion", input_tokens=_tokens_in(asked_bytes))
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    text = text if isinstance(text, str) else ""
    outcome, label = _ending(choice, text)
    used = found.get("usage")
    told = used if isinstance(used, dict) else {}
    return Reply(
        outcome=outcome,
        label=label,
        text=text if outcome is ModelOutcome.OK else "",
        input_tokens=_tokens(told, "prompt_tokens", asked_bytes),
        output_tokens=_tokens(told, "completion_tokens", len(text.encode("utf-8", "replace"))),
    )


def object_in(text: str) -> dict[str, Any] | None:
    """Return the one JSON object in `text`, alone or between words or fences; None where there is none."""
    begin, end = text.find("{"), text.rfind("}")
    found = _json(text[begin : end + 1].encode("utf-8", "replace")) if 0 <= begin < end else None
    return dict(found) if isinstance(found, dict) else None


def _ending(choice: Mapping[str, Any], text: str) -> tuple[ModelOutcome, str]:
    message = choice.get("message")
    declined = isinstance(message, dict) and bool(message.get("refusal"))
    if declined or choice.get("finish_reason") == "content_filter":
        return ModelOutcome.REFUSED, "model_declined"
    if choice.get("finish_reason") == "length":
        return ModelOutcome.CUT_OFF, "tokens_max"
    return (ModelOutcome.OK, "") if text.strip() else (ModelOutcome.MALFORMED, "empty")


def _first_choice(found: Any) -> dict[str, Any] | None:
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _tokens(told: Mapping[str, Any], key: str, size_bytes: int) -> int:
    count = told.get(key)
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return min(count, TOKENS_BELIEVED_MAX)
    return _tokens_in(size_bytes)


def _tokens_in(size_bytes: int) -> int:
    return -(-size_bytes // _BYTES_PER_TOKEN)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
