"""Has a model read a turn: the prompt, the customer's words as marked data, and the answer held against those words.

Where no model answers, what was understood locally stands; nothing here decides what is done.
"""

from collections.abc import Sequence

from activities.model_desk import ModelDesk
from activities.prompts import Prompt
from activities.prompts.conversation import so_far
from activities.prompts.data import cleaned, marked, nonce
from domain.model import ModelRole, Route
from domain.model_reading import ModelReading
from domain.model_task import ModelMessage, ModelTask, Occasion
from domain.summary import Memory
from domain.understanding import Understanding
from policy.turn.merging import merged

PROMPT = "understand"
TEXT_CHARS_MAX = 6_000  # of all messages of a turn; of longer ones both ends are read
MESSAGES_MAX = 20  # the latest of a turn


async def read_with_model(
    desk: ModelDesk, route: Route, texts: Sequence[str], memory: Memory, local: Understanding, occasion: Occasion
) -> Understanding | None:
    """Return what the turn comes to with a model's reading merged in, or None where no model answered.

    Raises BudgetSpent where a budget is spent before anything could be asked.
    """
    said = "\n\n".join(texts[-MESSAGES_MAX:])
    task = task_of(desk.prompt(ModelRole.UNDERSTAND, route, PROMPT), route, said, memory)
    answer = await desk.ask(task, ModelReading, occasion)
    if answer is None:
        return None
    return merged(local, answer.content, cleaned(said, TEXT_CHARS_MAX), route)


def task_of(prompt: Prompt, route: Route, said: str, memory: Memory) -> ModelTask:
    """Return what a model is asked about what was `said` in one turn."""
    mark = nonce()
    before, now = so_far(memory, mark), marked("customer_messages", said, mark, TEXT_CHARS_MAX)
    return ModelTask(
        role=ModelRole.UNDERSTAND,
        route=route,
        prompt=prompt.ref,
        instructions=prompt.text,
        messages=(ModelMessage(text=f"{before}\n{now}".strip()),),
    )
