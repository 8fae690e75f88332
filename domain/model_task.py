"""What a model is asked, for which turn, and what it answers in: these hold text, and never leave the activity.

What is known of a call afterwards, without any text, is in `domain.model`.
"""

from typing import Generic, TypeVar

from domain.base import Noun
from domain.model import ModelCall, ModelRole, Route

Shape = TypeVar("Shape", bound=Noun)


class Occasion(Noun):
    """The turn that a model is asked for. `answered_seq` tells its turns apart, over all their steps and repeats.

    `ends_at_s` is on `time.monotonic()`: by then every call for it has ended.
    """

    tenant_id: str
    conversation_id: str
    answered_seq: int
    step_id: str
    ends_at_s: float


class ModelMessage(Noun):
    """One message after the instructions: ours to the model (`user`), or the model's own earlier one."""

    by_model: bool = False
    text: str


class ModelTask(Noun):
    """One thing to ask. `instructions` are our prompt; whatever others wrote stands in `messages`, marked as data."""

    role: ModelRole
    route: Route
    prompt: str  # `name@version`, as the configuration admitted it
    instructions: str
    messages: tuple[ModelMessage, ...]
    tool_steps: int = 0  # how much was read at the model's own wish since it was last asked

    @property
    def size_bytes(self) -> int:
        """The UTF-8 size of all that is sent as text."""
        return len(self.instructions.encode()) + sum(len(m.text.encode()) for m in self.messages)

    def followed_by(self, *more: ModelMessage) -> "ModelTask":
        """The same task with further messages."""
        return self.model_copy(update={"messages": (*self.messages, *more)})


class ModelAnswer(Noun, Generic[Shape]):
    """What a model answered, in the shape asked for, and the booked call that it came from."""

    content: Shape
    call: ModelCall


class BudgetSpent(Exception):
    """Nothing may be asked any more: `limit` of a `whole` (turn or conversation) was reached before the first call."""

    def __init__(self, whole: str, limit: str) -> None:
        super().__init__(f"{whole}_{limit}")
        self.whole, self.limit = whole, limit
