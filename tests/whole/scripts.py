"""Scripts of whole conversations: what people say and press, turn by turn, and what has to come of it.

Plain data from `conversations/*.toml`; `{1}` to `{4}` stand for the customer's orders, `{other}` for somebody else's.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

SCRIPTS = sorted((Path(__file__).parent / "conversations").glob("*.toml"))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Comes(_Part):
    """What an act comes to. Texts are looked for in what the customer is told, without regard to case."""

    kind: str | None = None  # of the last thing that the customer sees: bot_reply, proposal, notice
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    proposes: str | None = None  # an order
    amount_minor: int | None = None
    language: str | None = None
    waits: tuple[str, ...] | None = None  # the intents that are kept for later
    owner: str = "bot"
    reason: str | None = None  # of the handoff
    answers: int = 1  # how many answers, at most


class Act(_Part):
    """One thing that happens: messages in a row, a button, a person of the staff, another tab of the customer's."""

    says: tuple[str, ...] = ()
    at_once: bool = False  # without waiting between the messages
    from_an_old_tab: bool = False  # names the version that the tab had seen first
    presses: str | None = None  # approve or reject, on the last proposal
    staff: str | None = None  # take_over, release or reply
    comes: Comes = Comes()


class Summed(_Part):
    """What the last summary holds."""

    goals: tuple[str, ...] = ()  # `intent of {1}`
    corrections: tuple[str, ...] = ()  # `{1} to {2}`
    named: tuple[str, ...] = ()


class Script(_Part):
    """A whole conversation. `effects` are all that the shop has done in the end: an order and an amount each."""

    about: str
    acts: tuple[Act, ...]
    effects: tuple[tuple[str, int], ...] = ()
    summary: Summed | None = None
    asked: tuple[str, ...] = ()  # in the open questions of the handoff's bundle


def load(path: Path, names: dict[str, str]) -> Script:
    """Return the script with its orders named. Raises ValueError for a part that does not exist."""
    return Script.model_validate(_filled(tomllib.loads(path.read_text(encoding="utf-8")), names))


def _filled(part: Any, names: dict[str, str]) -> Any:
    match part:
        case str():
            for name, order in names.items():
                part = part.replace(f"{{{name}}}", order)
            return part
        case list():
            return [_filled(p, names) for p in part]
        case dict():
            return {key: _filled(p, names) for key, p in part.items()}
        case _:
            return part
