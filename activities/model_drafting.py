"""Has a model write a reply: the prompt of its case, what it may cite as marked data, the checks, and one more attempt.

Nothing here publishes: what comes out is a decision on a checked draft, with every draft that was tried.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from activities.model_desk import ModelDesk
from activities.prompts.conversation import so_far
from activities.prompts.data import marked, nonce
from activities.tool_loop import Readable, passage_blocks, write
from domain.base import Noun
from domain.knowledge import Article
from domain.model import ModelRole, Route
from domain.model_task import BudgetSpent, ModelMessage, ModelTask, Occasion
from domain.reply import Attempt, Draft
from domain.step import Answer
from domain.summary import Memory
from language.drafting import Drafter, DraftRequest, beside
from language.evidence_data import account_data, order_data
from language.words import spoken
from policy.reply.citing import Citable, draft_of
from policy.reply.gate import Decision, DoNotPublish, Withheld
from policy.reply.status_words import READ_IN

TEXT_CHARS_MAX = 4_000  # of the turn's messages
ACCOUNT_CHARS_MAX = 8_000
ACTIONS_MAX = 5
ATTEMPTS_MAX = 2  # drafts by a model for one reply

ANONYMOUS, READ_ONLY, WITH_ACTION = "draft_anonymous", "draft_read_only", "draft_action"

Judge = Callable[[Draft, tuple[Article, ...]], Decision]
"""Whether a draft may be published, given the articles that it may rest on. It reads every sentence: not for a loop."""
Written = tuple[Draft, tuple[Article, ...]]
"""A model's draft and the articles that it may rest on."""


@dataclass(frozen=True)
class Writing:
    """One reply to be written. `request.passages` are what a search has found for it."""

    request: DraftRequest
    texts: tuple[str, ...]  # the customer's unanswered messages
    signed_in: bool
    route: Route
    occasion: Occasion
    memory: Memory = field(default_factory=Memory)
    readable: Readable = field(default_factory=Readable)


@dataclass
class Tried:
    """What models wrote for one reply, in order, None where none did: a later run of the same step pays for no more.

    What was refused once stays refused; what passed is judged again, since time has passed too.
    """

    written: list[Written | None] = field(default_factory=list)
    refused: dict[int, DoNotPublish] = field(default_factory=dict)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)  # a run that was given up may still be at it


class DraftedReply(Noun):
    """What became of a reply: the decision on its last draft, and the drafts that failed on the way."""

    decision: Decision
    attempts: tuple[Attempt, ...] = ()


async def checked_draft(
    desk: ModelDesk, writing: Writing, judge: Judge, local: Drafter, tried: Tried | None = None
) -> DraftedReply:
    """Return the decision on a model's draft, written again once where checks failed; the local one where none answers.

    What `tried` holds is not asked for again. Raises BudgetSpent where a budget is spent before the
    first draft could be asked for.
    """
    tried = tried or Tried()
    attempts: tuple[Attempt, ...] = ()
    while True:
        nth = len(attempts)
        async with tried.asking:
            if len(tried.written) == nth:
                tried.written.append(await _written(desk, writing, attempts))
        written = tried.written[nth]
        if written is None:
            return DraftedReply(decision=_locally(writing, judge, local), attempts=attempts)
        draft, articles = written
        decision: Decision | None = tried.refused.get(nth)
        if decision is None:
            decision = await asyncio.to_thread(judge, draft, articles)
        if not (isinstance(decision, DoNotPublish) and decision.reason is Withheld.CHECKS_FAILED):
            return DraftedReply(decision=decision, attempts=attempts)
        tried.refused[nth] = decision
        attempts = (*attempts, Attempt(draft=draft, failed=decision.failed))
        if len(attempts) == ATTEMPTS_MAX:
            return DraftedReply(decision=decision, attempts=attempts)


async def _written(desk: ModelDesk, writing: Writing, attempts: tuple[Attempt, ...]) -> Written | None:
    """A draft by a model; after a first one, no budget and no time are as good as a model that does not answer."""
    if attempts and time.monotonic() >= writing.occasion.ends_at_s:
        return None
    try:
        return await draft_by_model(desk, writing, attempts[-1].failed if attempts else ())
    except BudgetSpent:
        if attempts:
            return None
        raise


def _locally(writing: Writing, judge: Judge, local: Drafter) -> Decision:
    request = writing.request
    return judge(local.draft(request), (*request.articles, *(p.article for p in request.passages)))


async def draft_by_model(desk: ModelDesk, writing: Writing, failed: tuple[str, ...] = ()) -> Written | None:
    """Return a model's draft and the articles that it may rest on, or None where no model wrote one.

    `failed` are the checks that the last attempt did not pass. In a language whose words for a status are not known
    here nothing is asked, nor in one that we cannot say ourselves what else was asked for. Raises BudgetSpent.
    """
    request = writing.request
    language = request.language.partition("-")[0]
    if language not in READ_IN or (request.step.next_intents and spoken(language) != language):
        return None
    citable = Citable(
        evidence=request.evidence if writing.signed_in else None,
        actions=tuple(sorted(request.actions, key=lambda a: a.created_at)[-ACTIONS_MAX:]) if writing.signed_in else (),
    ).with_articles([p.article for p in request.passages])
    mark = nonce()
    task = _task(desk, writing, citable, failed, mark)
    written = await write(desk, task, citable, _readable(writing), writing.occasion, mark)
    if written is None:
        return None
    draft = draft_of(written.answer, written.citable, request.language, task.prompt)
    if draft.segments:
        draft = draft.model_copy(update={"segments": (*draft.segments, *beside(request))})
    return draft, written.citable.articles


def case_of(writing: Writing) -> str:
    """Return the name of the prompt: for a visitor, for a reply that only reads, or beside what is under way."""
    if not writing.signed_in:
        return ANONYMOUS
    return WITH_ACTION if writing.request.actions else READ_ONLY


def _readable(writing: Writing) -> Readable:
    """What can be read: orders only out of the evidence that the checks will hold the draft against."""
    request = writing.request
    if not writing.signed_in or request.evidence is None:
        return Readable(articles=writing.readable.articles)
    account = request.evidence.account
    return Readable(
        order=lambda ident: order_data(account, ident, request.language, request.now),
        articles=writing.readable.articles,
    )


def _task(desk: ModelDesk, writing: Writing, citable: Citable, failed: tuple[str, ...], mark: str) -> ModelTask:
    prompt = desk.prompt(ModelRole.DRAFT, writing.route, case_of(writing))
    return ModelTask(
        role=ModelRole.DRAFT,
        route=writing.route,
        prompt=prompt.ref,
        instructions=f"{prompt.text}\n\n{_order(writing, failed)}",
        messages=(ModelMessage(text=_data(writing, citable, mark)),),
    )


def _order(writing: Writing, failed: tuple[str, ...]) -> str:
    """What this reply is to be: labels of ours, and none of anybody's words."""
    request, step = writing.request, writing.request.step
    topic = step.topic.value if isinstance(step, Answer) else step.question.value
    told: dict[str, Any] = {"language": request.language, "reply_about": topic, "today": request.now.date().isoformat()}
    if writing.readable.articles or request.evidence:
        told["reads"] = ", ".join(sorted(read.value for read in _readable(writing).allowed)) or "none"
    if failed:
        told["your_last_draft_failed_these_checks"] = ", ".join(failed)
    return "\n".join(f"{key}: {value}" for key, value in told.items())


def _data(writing: Writing, citable: Citable, mark: str) -> str:
    request = writing.request
    blocks = [so_far(writing.memory, mark)]
    if citable.evidence is not None:
        resource = request.step.resource
        account = account_data(citable.evidence.account, resource, request.language, request.now)
        blocks.append(marked("account e1", account, mark, ACCOUNT_CHARS_MAX))
    blocks.append(passage_blocks(request.passages, citable, mark))
    for number, action in enumerate(citable.actions, 1):
        blocks.append(
            marked(f"operation a{number}", f"{action.kind.value}: {action.state.value}", mark, TEXT_CHARS_MAX)
        )
    blocks.append(marked("customer_messages", "\n\n".join(writing.texts), mark, TEXT_CHARS_MAX))
    return "\n".join(block for block in blocks if block)
