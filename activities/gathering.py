"""What a turn is decided on: what its messages mean, what the account holds, what the articles say; read side by side.

Nothing here decides; a model is asked only in an ordinary activity, and what it says is merged, never obeyed.
"""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from activities.business import BusinessSystem
from activities.keeping import Kept
from activities.model_desk import ModelDesk
from activities.model_reading import read_with_model
from activities.remembering import memory_of
from domain.account import Evidence
from domain.errand import ConsiderTurn
from domain.fault import Unreachable
from domain.knowledge import Audience, Passage
from domain.model import ModelRole, Route
from domain.model_task import Occasion
from domain.turn import TurnRow
from domain.understanding import Intent, Understanding
from language.understanding import Understander
from policy.turn.knowledge_step import may_be_answered
from policy.turn.routing import route_for
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
        self,
        tenant_id: str,
        text: str,
        language: str,
        audience: Audience,
        at: datetime,
        product_version: str | None = None,
    ) -> tuple[Passage, ...]:
        """Return what this reader, who has that version of the product, may read at that time on `text`."""
        ...


@dataclass(frozen=True)
class Gathered:
    """What a turn is decided on."""

    understood: Understanding
    evidence: Evidence | None
    passages: tuple[Passage, ...]


@dataclass
class _Ahead:
    """What was begun before it is certain to be needed, or None."""

    account: "asyncio.Future[Evidence] | None" = None
    passages: "asyncio.Future[tuple[Passage, ...]] | None" = None

    def stop(self) -> None:
        """End what nobody waited for."""
        for work in (self.account, self.passages):
            if work is not None:
                work.cancel()


@dataclass(frozen=True)
class _Read:
    """What a turn comes to after a model was asked; None where none answered."""

    understood: Understanding | None


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
        self._read = Kept[_Read]()

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

    async def gather(
        self, turn: TurnRow, ask: ConsiderTurn, *, may_read: bool, may_ask: bool, again: bool = False
    ) -> Gathered | Route:
        """Return all that the decision rests on, or the route of the model that is to read the turn first.

        `again`: this was tried before, in vain. Raises Unreachable; and BudgetSpent where models have taken what they
        may before one was asked.
        """
        reads = may_read and turn.customer_id is not None
        ahead = _Ahead()
        if reads and (self._desk is None or ask.with_model or not may_ask):  # nobody may have to be asked first
            ahead.account = _begun(self._account(turn, ask))
        try:
            local = understood = await self.understood(turn)
            route = self._model_for(turn, local) if may_ask else None
            if route is not None and not ask.with_model:
                return route
            if reads and ahead.account is None:
                ahead.account = _begun(self._account(turn, ask))
            if route is not None:
                ahead.passages = _begun(self._passages(turn, local.language, ahead.account))
                understood = await self._beside_the_account(turn, ask, local, route, ahead.account, again=again)
            return await self._gathered(turn, understood, ahead)
        finally:
            ahead.stop()

    async def _gathered(self, turn: TurnRow, understood: Understanding, ahead: _Ahead) -> Gathered:
        """Wait for what was begun, as far as what was understood has any use for it."""
        evidence = None
        if ahead.account is not None and needs_account(understood):
            evidence = await ahead.account
            subject = f"customer:{turn.customer_id}"
            await record_evidence(self._db, turn.tenant_id, turn.conversation_id, subject, evidence)
        passages: tuple[Passage, ...] = ()
        if may_be_answered(understood):
            passages = await (ahead.passages or self._passages(turn, understood.language, ahead.account))
        return Gathered(understood, evidence, passages)

    async def _beside_the_account(
        self,
        turn: TurnRow,
        ask: ConsiderTurn,
        local: Understanding,
        route: Route,
        account: "asyncio.Future[Evidence] | None",
        *,
        again: bool,
    ) -> Understanding:
        """Have a model read the turn while the account is read; an account that cannot be is known at once.

        The second time the account comes first: no model is asked, and paid, while there is none.
        """
        needed = account if needs_account(local) else None
        if again and needed is not None:
            await needed
        asking = _begun(self._read_with_model(turn, ask, local, route))
        try:
            if needed is not None:
                both: list[asyncio.Future[Any]] = [asking, needed]
                await asyncio.wait(both, return_when=asyncio.FIRST_EXCEPTION)
                if needed.done():
                    needed.result()
            return await asking
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking})  # it books what it has asked

    async def _read_with_model(
        self, turn: TurnRow, ask: ConsiderTurn, local: Understanding, route: Route
    ) -> Understanding:
        if self._desk is None:
            return local
        step = f"{turn.conversation_id}/{ask.step_id}/{turn.answered_seq}/{turn.customer_seq}"
        kept = self._read.get(turn.tenant_id, step)
        if kept is None:
            occasion = Occasion(
                tenant_id=turn.tenant_id,
                conversation_id=turn.conversation_id,
                answered_seq=turn.answered_seq,
                step_id=ask.step_id,
                ends_at_s=time.monotonic() + MODEL_READING_S,
            )
            read = await read_with_model(self._desk, route, turn.texts, memory_of(turn), local, occasion)
            kept = _Read(read)
            self._read.keep(turn.tenant_id, step, kept)
        return kept.understood or local

    async def _account(self, turn: TurnRow, ask: ConsiderTurn) -> Evidence:
        timeout_s = PATIENT_READ_TIMEOUT_S if ask.patient else READ_TIMEOUT_S
        return await self._business.read_account(turn.tenant_id, turn.customer_id or "", str(uuid4()), timeout_s)

    async def _passages(
        self, turn: TurnRow, language: str, account: "asyncio.Future[Evidence] | None"
    ) -> tuple[Passage, ...]:
        """What this customer may read of the articles, as of their last message and for the product that they use."""
        reader = Audience.PUBLIC if turn.customer_id is None else Audience.SIGNED_IN
        asked_at = turn.asked_at or turn.updated_at
        product = await _product_version(account) if account is not None else None
        return await self._knowledge.find(turn.tenant_id, "\n".join(turn.texts), language, reader, asked_at, product)


async def _product_version(account: "asyncio.Future[Evidence]") -> str | None:
    """The customer's version of the product; None where it is not known, and pages for every version are found."""
    try:
        return (await asyncio.shield(account)).account.product_version
    except Unreachable:
        return None


def needs_account(understood: Understanding) -> bool:
    """Whether what was understood has any use for the account."""
    beside = understood.mentions or understood.entities or len(understood.intents) > 1
    return understood.intent not in _NEEDS_NO_ACCOUNT or bool(beside)


def _begun(work: Awaitable[Found]) -> "asyncio.Future[Found]":
    """Begin at once what is most likely needed; its failure counts only where it is awaited."""
    begun = asyncio.ensure_future(work)
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun
