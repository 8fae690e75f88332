"""What a scripted model does about a request: say something, fail, break off, or say nothing for a long time.

Plain values; `wire` makes HTTP of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Says:
    """An answer. `tokens` are input and output as they are charged; None: about as many as there are."""

    text: str
    finish: str = "stop"
    tokens: tuple[int, int] | None = None
    after_s: float = 0.0


@dataclass(frozen=True)
class Fails:
    """A refusal or a failure of the endpoint, as OpenAI words them."""

    status: int
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BreaksOff:
    """Half of an answer, and then the line is dead."""

    text: str


@dataclass(frozen=True)
class Hangs:
    """Nothing, for so long that nobody waits for it."""

    for_s: float = 300.0


@dataclass(frozen=True)
class Drips:
    """A whole answer that comes byte by byte, so that no single read takes long and all of it takes for ever."""

    text: str
    pause_s: float = 0.1


@dataclass(frozen=True)
class Sends:
    """A body that is no completion at all."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Reply = Says | Fails | BreaksOff | Hangs | Drips | Sends
