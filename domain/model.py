"""What is known of a call to a model: who was asked for what, how it ended, what it took and what it cost.

Labels, numbers and times: no prompt, no answer and no text of anybody is ever in these.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

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
    TOO_LONG = "too_long"  # not asked at all: more than the model's context takes
    CIRCUIT_OPEN = "circuit_open"  # not asked at all: it has failed too often just now
    OVER_BUDGET = "over_budget"  # not asked at all

    @property
    def was_asked(self) -> bool:
        """Whether anything was sent: only that counts as a call, and only that can have cost anything."""
        return self not in (ModelOutcome.TOO_LONG, ModelOutcome.CIRCUIT_OPEN, ModelOutcome.OVER_BUDGET)


class ModelCall(Noun):
    """One call, as it is booked. `cost_micros` are millionths of the price book's currency."""

    call_id: str
    role: ModelRole
    route: Route
    endpoint: str  # its name in the configuration, never its address
    model: str
    prompt: str  # `name@version`
    outcome: ModelOutcome
    label: str = ""  # what more is known of a failure: `http_401`, `not_json`; never free text
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    currency: str
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
        """What is spent after `call` too; what was never asked has taken nothing."""
        if not call.outcome.was_asked:
            return self
        return Spent(
            calls=self.calls + 1,
            tokens=self.tokens + call.input_tokens + call.output_tokens,
            cost_micros=self.cost_micros + call.cost_micros,
            seconds=self.seconds + call.duration_ms / 1000,
            tool_steps=self.tool_steps + call.tool_steps,
        )


class Budget(Noun):
    """The most that a turn, or a conversation, may take. A budget that is spent ends in a person."""

    calls_max: Annotated[int, Field(ge=1)]
    tokens_max: Annotated[int, Field(ge=1)]
    cost_micros_max: Annotated[int, Field(ge=1)]
    seconds_max: Annotated[float, Field(gt=0)]
    tool_steps_max: Annotated[int, Field(ge=0)]

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


class Spending(Noun):
    """What has been spent on one turn, and on its whole conversation, the turn included."""

    turn: Spent
    conversation: Spent

    def plus(self, call: ModelCall) -> "Spending":
        """What is spent after `call` too."""
        return Spending(turn=self.turn.plus(call), conversation=self.conversation.plus(call))


class Budgets(Noun):
    """The most that models may take of one turn, and of one whole conversation."""

    turn: Budget
    conversation: Budget

    def spent_by(self, spending: Spending) -> tuple[str, str] | None:
        """The first limit that is reached, as (`turn` or `conversation`, its name); None while one may ask again."""
        of_turn, of_conversation = (
            self.turn.spent_by(spending.turn),
            self.conversation.spent_by(spending.conversation),
        )
        if of_turn is not None:
            return "turn", of_turn
        return None if of_conversation is None else ("conversation", of_conversation)
