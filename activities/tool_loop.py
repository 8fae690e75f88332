"""The bounded loop in which a model reads before it writes: ask, read what may be read, ask again, then it must write.

What is read are the customer's own order and published articles, by readers handed in; both come back as marked data.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from activities.model_desk import ModelDesk
from activities.prompts.data import marked
from domain.knowledge import Passage
from domain.model_draft import ModelDraft, Read, Wish
from domain.model_task import ModelMessage, ModelTask, Occasion
from policy.reply.citing import Citable, objection
from policy.reply.tool_use import Ruling, ToolUse

READ_CHARS_MAX = 4_000  # of what one read may bring

OrderReader = Callable[[str], str | None]
"""The facts of the customer's own order of that id, as data; None where there is none."""
ArticleSearch = Callable[[str], Awaitable[tuple[Passage, ...]]]
"""What this reader may read of the articles on some words."""


@dataclass(frozen=True)
class Readable:
    """What can be read in a turn; None: not at all."""

    order: OrderReader | None = None
    articles: ArticleSearch | None = None

    @property
    def allowed(self) -> frozenset[Read]:
        """The reads that there are readers for."""
        readers = {Read.READ_ORDER: self.order, Read.SEARCH_ARTICLES: self.articles}
        return frozenset(read for read, reader in readers.items() if reader is not None)


@dataclass(frozen=True)
class Written:
    """A model's answer, and all that it could cite in the end."""

    answer: ModelDraft
    citable: Citable


async def write(
    desk: ModelDesk, task: ModelTask, citable: Citable, readable: Readable, occasion: Occasion, mark: str
) -> Written | None:
    """Return what the model writes, after at most the reads that policy lets it have; None where it writes nothing.

    Reads take of the occasion's time too; once that is over, nothing more is asked. Raises BudgetSpent where a budget
    is spent before anything could be asked.
    """
    use = ToolUse(allowed=readable.allowed)
    while True:
        state = use
        answered = await desk.ask(task, ModelDraft, occasion, partial(objection, citable=citable, use=use))
        if answered is None:
            return None
        answer = answered.content
        if not answer.reads:
            return Written(answer, citable)
        brought = []
        for wish in answer.reads:
            ruling, use = use.ruling(wish), use.after(wish)
            if ruling is Ruling.READ:
                try:
                    async with asyncio.timeout(occasion.ends_at_s - time.monotonic()):
                        block, citable = await _read(wish, readable, citable, mark)
                except TimeoutError:
                    return None
                brought.append(block)
        if use.over:
            brought.append("Nothing more can be read. Write the segments now.")
        own = ModelMessage(by_model=True, text=answer.model_dump_json())
        task = task.followed_by(own, ModelMessage(text="\n".join(brought))).model_copy(
            update={"tool_steps": use.steps - state.steps}
        )


async def _read(wish: Wish, readable: Readable, citable: Citable, mark: str) -> tuple[str, Citable]:
    """Return the block that a read brings, and what may be cited after it."""
    if wish.read is Read.READ_ORDER:
        found = readable.order(wish.about) if readable.order else None
        return marked("order of account e1", found or "The customer has no such order.", mark, READ_CHARS_MAX), citable
    passages = await readable.articles(wish.about) if readable.articles else ()
    citable = citable.with_articles([p.article for p in passages])
    return passage_blocks(passages, citable, mark) or "No article says anything on that.", citable


def passage_blocks(passages: tuple[Passage, ...], citable: Citable, mark: str) -> str:
    """Return what was found of the articles as blocks named by their aliases; empty where nothing was."""
    named = [(alias, p) for p in passages if (alias := citable.alias_of(p.article))]
    return "\n".join(
        marked(f"article {alias}", f"{p.article.title}\n{p.text}", mark, READ_CHARS_MAX) for alias, p in named
    )
