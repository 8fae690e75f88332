"""What is known of a call to a model: who was asked for what, how it ended, what it took and what it cost.

Labels, numbers and times: no prompt, no answer and no text of anybody is ever in these.
"""

from datetime import datetime
from enum import StrEnum

from domain.base import Noun


class ModelRole(StrEnum):
    """What a model is asked to do."""

    UNDERSTAND = "understand"
    DRAFT = "draft"


class Route(StrEnum):
    """By what a turn was understood or a reply drafted, cheapest first."""

    RULES = "rules"
    CLASSIFIER = "classifier"
    SMALL = "small"
    LARGE = "large"

    @property
    def is_model(self) -> bool:
        """Whether a model outside this process is asked."""
        return self in (Route.SMALL, Route.LARGE)


class ModelOutcome(StrEnum):
    """How one call to an endpoint ended."""

    OK = "ok"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"  # 429
    SERVER_ERROR = "server_error"  # 5xx
    REFUSED = "refused"  # any other 4xx: a wrong key, an unknown model
    CUT_OFF = "cut_off"  # the answer ends before its end
    MALFORMED = "malformed"  # not the structure asked for
    CIRCUIT_OPEN = "circuit_open"  # not asked at all: it has failed too often just now
    OVER_BUDGET = "over_budget"  # not asked at all


class ModelCall(Noun):
    """One call, as it is booked. `cost_micros` are millionths of the price book's currency."""

    call_id: str
    role: ModelRole
    route: Route
    endpoint: str  # its name in the configuration, never its address
    model: str
    prompt: str  # `name@version`
    outcome: ModelOutcome
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    duration_ms: int = 0
    tool_steps: int = 0
    at: datetime


class Spent(Noun):
    """What calls have taken together."""

    calls: int = 0
    tokens: int = 0
    cost_micros: int = 0
    seconds: float = 0.0
    tool_steps: int = 0

    def plus(self, call: ModelCall) -> "Spent":
        """What is spent after `call` too."""
        return Spent(
            calls=self.calls + 1,
            tokens=self.tokens + call.input_tokens + call.output_tokens,
            cost_micros=self.cost_micros + call.cost_micros,
            seconds=self.seconds + call.duration_ms / 1000,
            tool_steps=self.tool_steps + call.tool_steps,
        )


class Budget(Noun):
    """The most that a turn, or a conversation, may take. A budget that is spent ends in a person."""

    calls_max: int
    tokens_max: int
    cost_micros_max: int
    seconds_max: float
    tool_steps_max: int

    def spent_by(self, spent: Spent) -> str | None:
        """The name of the first limit that `spent` has reached, or None while another call may be made."""
        reached = {
            "calls": spent.calls >= self.calls_max,
            "tokens": spent.tokens >= self.tokens_max,
            "cost": spent.cost_micros >= self.cost_micros_max,
            "seconds": spent.seconds >= self.seconds_max,
            "tool_steps": spent.tool_steps > self.tool_steps_max,
        }
        return next((name for name, over in reached.items() if over), None)
