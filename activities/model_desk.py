"""Where activities ask models: down a chain of them, within the turn's time and the budgets, every call booked.

It judges no answer beyond its shape; where there is none, the caller goes on with the local form.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic
from uuid import uuid4

import structlog

from activities.call_book import CallBook
from activities.model_fitting import Misfit, Objection, fitted, mended
from activities.prompts import Prompt, prompt
from connectors.model_endpoints.answers import Reply
from connectors.model_endpoints.book import ModelBook, RouteUse
from connectors.model_endpoints.endpoints import STRUCTURE_REFUSED, ModelEndpoints
from connectors.model_endpoints.schema import strict_schema
from domain.model import ModelCall, ModelOutcome, ModelRole, Route, Spending
from domain.model_task import BudgetSpent, ModelAnswer, ModelTask, Occasion, Shape
from store.database import Database

log = structlog.get_logger()

CALLS_PER_MODEL_MAX = 3  # refused for its structure, answered, mended
LEAST_S = 0.25  # with less time left than this nothing is asked
GIVEN_UP = Reply(outcome=ModelOutcome.TIMEOUT, label="cancelled")  # whoever asked did not wait for the answer


@dataclass
class _Asking(Generic[Shape]):
    """One task on its way down its chain."""

    shape: type[Shape]
    objection: Objection[Shape] | None
    occasion: Occasion
    use: RouteUse
    spending: Spending
    tool_steps: int  # not booked yet: they belong to the first call after them

    @property
    def within_s(self) -> float:
        """How long the next call may take, in seconds."""
        return min(self.use.call_timeout_s, self.occasion.ends_at_s - time.monotonic())


class ModelDesk:
    """Holds the book and its endpoints; built once in a process."""

    def __init__(self, db: Database, book: ModelBook, endpoints: ModelEndpoints) -> None:
        self._calls = CallBook(db)
        self._book = book
        self._endpoints = endpoints

    def routes(self, role: ModelRole) -> frozenset[Route]:
        """Return the routes on which a role may ask."""
        return self._book.routes(role)

    def prompt(self, role: ModelRole, route: Route, name: str) -> Prompt:
        """Return the version of the prompt `name` that is admitted there. Raises KeyError where none is."""
        use = self._book.use(role, route)
        if use is None:
            raise KeyError(f"{role}.{route}")
        return prompt(use.prompt_ref(name))

    async def close(self) -> None:
        """Close all connections, once what was asked is booked."""
        await self._calls.close()
        await self._endpoints.close()

    async def ask(
        self, task: ModelTask, shape: type[Shape], occasion: Occasion, objection: Objection[Shape] | None = None
    ) -> ModelAnswer[Shape] | None:
        """Return the first answer of the chain in that shape to which there is no objection, or None.

        Raises BudgetSpent where a budget is spent before anything could be asked.
        """
        use = self._book.use(task.role, task.route)
        if use is None:
            return None
        asking = _Asking(shape, objection, occasion, use, await self._calls.spent(occasion), task.tool_steps)
        over = self._book.budgets.spent_by(asking.spending)
        if over is not None:
            unasked = Reply(outcome=ModelOutcome.OVER_BUDGET, label="_".join(over))
            await self._book_it(asking, self._called(use.chain[0], task, unasked, datetime.now(UTC), 0))
            raise BudgetSpent(*over)
        for name in use.chain:
            answer = await self._of_model(name, task, asking)
            if answer is not None:
                return answer
        return None

    async def _of_model(self, name: str, task: ModelTask, asking: _Asking[Shape]) -> ModelAnswer[Shape] | None:
        """Return what one model of the chain answers, mended once where need be."""
        may_mend = True
        for _ in range(CALLS_PER_MODEL_MAX):
            if asking.within_s < LEAST_S or self._book.budgets.spent_by(asking.spending) is not None:
                return None
            call, answer, misfit = await self._call(name, task, asking)
            await self._book_it(asking, call)
            if answer is not None:
                return ModelAnswer(content=answer, call=call)
            if misfit is not None and may_mend:
                may_mend = False
                told = mended(task.instructions, misfit.told)
                task = task.model_copy(update={"instructions": told})
            elif call.label != STRUCTURE_REFUSED:
                return None
        return None

    async def _call(
        self, name: str, task: ModelTask, asking: _Asking[Shape]
    ) -> tuple[ModelCall, Shape | None, Misfit | None]:
        """Make one call; return it as it is to be booked, and the answer or what keeps the text from being one."""
        at, begun = datetime.now(UTC), time.monotonic()
        schema = strict_schema(asking.shape)
        try:
            reply = await self._endpoints.ask(name, task, schema, asking.use.answer_tokens_max, asking.within_s)
        except asyncio.CancelledError:  # it was asked all the same
            await self._book_it(asking, self._called(name, task, GIVEN_UP, at, _since_ms(begun), asking.tool_steps))
            raise
        answer, misfit = None, None
        if reply.outcome is ModelOutcome.OK:
            try:
                answer = fitted(reply.text, asking.shape, asking.objection)
            except Misfit as fault:
                misfit = fault
                reply = reply.model_copy(update={"outcome": ModelOutcome.MALFORMED, "label": fault.label})
        return self._called(name, task, reply, at, _since_ms(begun), asking.tool_steps), answer, misfit

    def _called(
        self, name: str, task: ModelTask, reply: Reply, at: datetime, took_ms: int, tool_steps: int = 0
    ) -> ModelCall:
        model = self._book.models[name]
        return ModelCall(
            call_id=str(uuid4()),
            role=task.role,
            route=task.route,
            endpoint=model.endpoint,
            model=name,
            prompt=task.prompt,
            outcome=reply.outcome,
            label=reply.label,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_micros=model.cost_micros(reply.input_tokens, reply.output_tokens),
            currency=self._book.currency,
            duration_ms=took_ms,
            tool_steps=tool_steps,
            at=at,
        )

    async def _book_it(self, asking: _Asking[Shape], call: ModelCall) -> None:
        asking.spending, asking.tool_steps = asking.spending.plus(call), 0
        told = call.model_dump(mode="json", exclude={"at", "call_id"})
        log.info("model.called", conversation_id=asking.occasion.conversation_id, **told)
        await self._calls.book(asking.occasion, call)


def _since_ms(begun: float) -> int:
    return int((time.monotonic() - begun) * 1000)
