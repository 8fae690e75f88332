"""The conversation so far as every prompt tells it: the latest words and labels of all before them, all of it as data.

Pure.
"""

from collections.abc import Sequence

from activities.prompts.data import marked
from domain.conversation import EventKind
from domain.summary import Memory, Said

RECENT_CHARS_MAX = 3_000  # of all that is told of earlier turns
SUMMARY_CHARS_MAX = 3_000
LINE_CHARS_MAX = 800  # of one thing that was said
_SPEAKERS = {EventKind.CUSTOMER_MESSAGE: "customer", EventKind.STAFF_REPLY: "staff"}


def so_far(memory: Memory, mark: str) -> str:
    """Return blocks with the summary and the latest words; empty where nothing was said before."""
    blocks = []
    if memory.summary.through_seq:
        labels = memory.summary.model_dump_json(exclude_defaults=True)
        blocks.append(marked("summary_of_the_conversation", labels, mark, SUMMARY_CHARS_MAX))
    if memory.recent:
        blocks.append(marked("said_before", _lines(memory.recent), mark, RECENT_CHARS_MAX))
    return "\n".join(blocks)


def _lines(recent: Sequence[Said]) -> str:
    """The latest things said, oldest first, each on one line: nobody can speak for another by breaking a line."""
    kept: list[str] = []
    room = RECENT_CHARS_MAX
    for said in reversed(recent):
        speaker = _SPEAKERS.get(said.kind, "assistant")
        line = f"{speaker}: {' '.join(said.text[:LINE_CHARS_MAX].split())}"
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))
