"""What a model is told of the conversation before this turn: the latest words and the summary of all else.

It never leaves the activity: words of people stay out of histories, logs and traces.
"""

from domain.summary import Memory
from domain.turn import TurnRow
from policy.turn.summarising import summarise


def memory_of(turn: TurnRow) -> Memory:
    """Return the latest things that were said, oldest first, and what the conversation comes to so far."""
    return Memory(recent=turn.recent, summary=summarise(turn.summary, turn.notes))
