"""What a turn is decided on: what its messages mean, what the account holds, what the articles say; read side by side.

Nothing here decides; a model is asked only in an ordinary activity, and what it says is merged, never obeyed.
"""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar
from uuid import uuid4

from activities.business import BusinessSystem
from activities.model_desk import ModelDesk
from activities.model_reading import read_with_model
from activities.remembering import memory_of
from domain.account import Evidence
from domain.errand import ConsiderTurn
from domain.knowledge import Audience, Passage
from domain.model import ModelRole, Route
from domain.model_task import Occasion
from domain.turn import TurnRow
from domain.understanding import Intent, Understanding
from language.understanding import Understander
from policy.knowledge_step import may_be_answered
from policy.routing import route_for
from store.database import Database
from store.reading import record_evidence

READ_TIMEOUT_S = 1.5
PATIENT_READ_TIMEOUT_S = 5.0
MODEL_READING_S = 6.0  # of all models that are asked what one turn means

_NEEDS_NO_ACCOUNT = frozenset({Intent.THANKS_GREETING, Intent.ASKS_FOR_PERSON})
Found = TypeVar("Found")


class Knowledge(Protocol):
    """Whoever finds passages of a tenant's articles."""

    async def find(
        self, tenant_id: str, text: str, language: str, audience: Audience, at: datetime
    ) -> tuple[Passage, ...]:
        """Return what this reader may read at that time on `text`, likeliest first."""
        ...


@dataclass(frozen=True)
class Gathered:
    """What a turn is decided on."""

    understood: Understanding
    evidence: Evidence | None
    passages: tuple[Passage, ...]


class Gathering:
    """Holds whoever is asked. Without a desk no model is."""

    def __init__(
        self,
        db: Database,
        business: BusinessSystem,
        understander: Understander,
        knowledge: Knowledge,
        desk: ModelDesk | None,
    ) -> None:
        self._db = db
        self._business = business
        self._understander = understander
        self._knowledge = knowledge
        self._desk = desk

    async def understood(self, turn: TurnRow) -> Understanding:
        """Return what the turn means by what is in this process: rules, then the classifier."""
        return await asyncio.to_thread(self._understander.understand, turn.texts, turn.context)

    def _model_for(self, turn: TurnRow, understood: Understanding) -> Route | None:
        """Return which model is to read the turn besides, or None where none is."""
        if self._desk is None:
            return None
        return route_for(
            understood,
            models=self._desk.routes(ModelRole.UNDERSTAND),
            chars=sum(map(len, turn.texts)),
            open_actions=sum(not a.state.terminal for a in turn.actions),
        )

    async def gather(self, turn: TurnRow, ask: ConsiderTurn, *, may_read: bool) -> Gathered | Route:
        """Return all that the decision rests on, or the route of the model that is to read the turn first.

        Raises Unreachable; and BudgetSpent where models have taken what they may before one was asked.
        """
        reading = _ahead(self._account(turn, ask)) if may_read and turn.customer_id is not None else None
        try:
            local = await self.understood(turn)
            route = self._model_for(turn, local)
            if route is not None and not ask.with_model:
                return route
            if route is None:
                return await self._gathered(turn, local, reading, None)
            searching = _ahead(self._passages(turn, local.language))
            understood = await self._read_with_model(turn, ask, local, route)
            return await self._gathered(turn, understood, reading, searching)
        finally:
            if reading is not None:
                reading.cancel()

    async def _gathered(
        self,
        turn: TurnRow,
        understood: Understanding,
        reading: "asyncio.Future[Evidence] | None",
        searching: "asyncio.Future[tuple[Passage, ...]] | None",
    ) -> Gathered:
        """Wait for what was begun, as far as what was understood has any use for it."""
        evidence = None
        if reading is not None and needs_account(understood):
            evidence = await reading
            subject = f"customer:{turn.customer_id}"
            await record_evidence(self._db, turn.tenant_id, turn.conversation_id, subject, evidence)
        passages: tuple[Passage, ...] = ()
        if may_be_answered(understood):
            passages = await (searching or self._passages(turn, understood.language))
        return Gathered(understood, evidence, passages)

    async def _read_with_model(
        self, turn: TurnRow, ask: ConsiderTurn, local: Understanding, route: Route
    ) -> Understanding:
        if self._desk is None:
            return local
        occasion = Occasion(
            tenant_id=turn.tenant_id,
            conversation_id=turn.conversation_id,
            answered_seq=turn.answered_seq,
            step_id=ask.step_id,
            ends_at_s=time.monotonic() + MODEL_READING_S,
        )
        read = await read_with_model(self._desk, route, turn.texts, memory_of(turn), local, occasion)
        return read or local

    async def _account(self, turn: TurnRow, ask: ConsiderTurn) -> Evidence:
        timeout_s = PATIENT_READ_TIMEOUT_S if ask.patient else READ_TIMEOUT_S
        return await self._business.read_account(turn.tenant_id, turn.customer_id or "", str(uuid4()), timeout_s)

    async def _passages(self, turn: TurnRow, language: str) -> tuple[Passage, ...]:
        """What this customer may read of the articles, as of their last message."""
        reader = Audience.PUBLIC if turn.customer_id is None else Audience.SIGNED_IN
        asked_at = turn.asked_at or turn.updated_at
        return await self._knowledge.find(turn.tenant_id, "\n".join(turn.texts), language, reader, asked_at)


def needs_account(understood: Understanding) -> bool:
    """Whether what was understood has any use for the account."""
    beside = understood.mentions or understood.entities or len(understood.intents) > 1
    return understood.intent not in _NEEDS_NO_ACCOUNT or bool(beside)


def _ahead(work: Awaitable[Found]) -> "asyncio.Future[Found]":
    """Begin at once what is most likely needed; its failure counts only where it is awaited."""
    begun = asyncio.ensure_future(work)
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun
