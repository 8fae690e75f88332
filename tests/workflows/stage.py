"""Everything that runs under a scene: the real worker over real parts, and what the gateway would hold.

One stage serves many scenes at once; nothing of one scene touches another's customer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

import worker
from activities.considering import Considering
from activities.gathering import Gathering
from activities.library import Library
from activities.model_desk import ModelDesk
from activities.policybook import PolicyBook
from activities.sorting import SortFailures
from connectors.shop import ShopConnector
from domain.connector import Lookup
from domain.model import ModelRole, Route
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.understanding import Intent, TurnContext, Understanding
from domain.wake import Wake
from domain.words import Words
from knowledge.importing import import_articles
from knowledge.markdown import read_article
from language.embedding import embedder
from language.ledger_words import LedgerWords
from language.routing import LocalUnderstander
from relay.relay import Relay
from relay.temporal import Waker
from settings import Settings
from store.database import Database
from store.outbox import mark_delivered
from tests.demo.conftest import READ, WRITE, ShopProcess
from tests.postgres import Postgres
from tests.scripted_model.process import ScriptedModel
from tests.whole.models_file import write_models_file
from tests.workflows.gates import Gates
from tests.workflows.shop_world import MARKET

IDLE_CLOSE_S = 600
RELAY_INTERVAL_S = 0.1
CACHED = 50
BREAKS = "frobnicate"  # a word that the understanding cannot stand
VAGUE = "thingamajig"  # a word that only a model makes something of, however good the classifier has become

ARTICLE = """---
slug: refund-times
language: en
title: How long a refund takes
effective_from: 2026-01-01
reviewed_by: Mia
---
A refund reaches the account that you paid from within five working days.
"""


class TouchyUnderstander(LocalUnderstander):
    """The real one, with one defect and one doubt."""

    def understand(self, texts: Sequence[str], context: TurnContext) -> Understanding:
        if any(BREAKS in text for text in texts):
            raise KeyError(texts[0])
        if VAGUE in texts[-1]:
            return Understanding(language="en", intent=Intent.OUT_OF_SCOPE, confidence=0.2, route=Route.RULES)
        return super().understand(texts, context)


class MovedShop(ShopConnector):
    """The shop's connector; for some operations the look-up answers what nobody has written code for."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.shop_url, READ, WRITE, settings.dispatch_timeout_s)
        self.moved: set[str] = set()

    async def look_up(self, tenant_id: str, operation_id: str, timeout_s: float = 5) -> Lookup:
        if operation_id in self.moved:
            raise KeyError("effect")
        return await super().look_up(tenant_id, operation_id, timeout_s)


def settings_of(postgres: Postgres, address: str, shop_url: str, **other: Any) -> Settings:
    """Settings as the worker would read them, with times that suit a test."""
    given: dict[str, Any] = {
        "database_url": postgres.app_url,
        "database_owner_url": postgres.owner_url,
        "database_relay_url": postgres.relay_url,
        "temporal_address": address,
        "task_queue": f"q-{uuid4().hex[:8]}",
        "shop_url": shop_url,
        "shop_read_key": READ,
        "shop_write_key": WRITE,
        "dispatch_timeout_s": 2,
        "reconcile_deadline_s": 60,
        "conversation_idle_close_s": IDLE_CLOSE_S,
    }
    return Settings(**{**given, **other})


def asking(model: ScriptedModel, folder: Path, call_timeout_s: float) -> dict[str, Any]:
    """What to add to `settings_of` for a worker that asks this model; `folder` gets its models.toml."""
    return {
        "model": "openai",
        "model_base_url": model.base_url,
        "model_api_key": "sk-test-5d1f",
        "models_file": write_models_file(folder / "models.toml", call_timeout_s=call_timeout_s),
    }


@dataclass
class Stage:
    """One worker and all that scenes on it need."""

    settings: Settings
    shop: ShopProcess
    client: Client
    db: Database
    relay_db: Database
    waker: Waker
    connector: MovedShop
    desk: ModelDesk | None = None
    gates: Gates = field(default_factory=Gates)
    words: Words = field(default_factory=LedgerWords)
    scenes: list[Any] = field(default_factory=list)  # of this stage, to look at their histories

    def staff(self, tenant_id: str, ident: str) -> VerifiedPrincipal:
        role = StaffRole.MANAGER if ident == "mia" else StaffRole.AGENT
        return VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.STAFF, id=ident, role=role)

    async def deliver(self, *wakes: Wake | None) -> None:
        """Bring wake-ups to Temporal as the gateway does after its commit."""
        for wake in wakes:
            if wake is not None:
                await self.waker.wake(wake)
                await mark_delivered(self.db, [wake.outbox_id], datetime.now(UTC), wake.tenant_id)

    def activities(self) -> Sequence[Callable[..., Any]]:
        """The worker's own activities, but for an understanding with a defect."""
        gathering = Gathering(self.db, self.connector, TouchyUnderstander(), Library(self.db, embedder()), self.desk)
        drafts_with = self.desk.routes(ModelRole.DRAFT) if self.desk else frozenset()
        touchy = Considering(self.db, gathering, PolicyBook(self.db), drafts_with).consider_turn
        own = worker.activities_of(self.db, self.settings, self.connector, self.desk)
        return [touchy, *(a for a in own if a.__name__ != touchy.__name__)]

    def worker(self) -> Worker:
        """The worker of `worker.py`, gated.

        With no cache at all, the SDK cancels the local activities of one workflow for the task of another; so there is
        one, and every history is replayed from its start when the stage is left.
        """
        return Worker(
            self.client,
            task_queue=self.settings.task_queue,
            workflows=worker.WORKFLOWS,
            activities=self.activities(),
            workflow_runner=worker.workflow_runner(),
            build_id=worker.BUILD_ID,
            interceptors=[self.gates, SortFailures()],
            max_cached_workflows=CACHED,
        )


@asynccontextmanager
async def furnished(settings: Settings, shop: ShopProcess) -> AsyncIterator[Stage]:
    """Give a stage on which nothing runs yet."""
    client = await Client.connect(settings.temporal_address, data_converter=pydantic_data_converter, identity="worker")
    db, relay_db = Database(settings.database_url, 20), Database(settings.relay_url, 3)
    waker = Waker(client, settings.task_queue, int(settings.conversation_idle_close_s))
    connector, desk = MovedShop(settings), worker.desk_of(settings, db)
    await _shelved(settings)
    try:
        yield Stage(settings, shop, client, db, relay_db, waker, connector, desk)
    finally:
        await connector.close()
        if desk is not None:
            await desk.close()
        await db.close()
        await relay_db.close()


async def _shelved(settings: Settings) -> None:
    """Put the one article of these laws on the tenant's shelf, as the operator's import does."""
    owner = Database(settings.owner_url, 1)
    try:
        await import_articles(owner, MARKET, [read_article(ARTICLE, "refunds.md")], embedder(), datetime.now(UTC))
    finally:
        await owner.close()


@asynccontextmanager
async def playing(settings: Settings, shop: ShopProcess) -> AsyncIterator[Stage]:
    """Give a stage with its worker and relay running."""
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(furnished(settings, shop))
        await stack.enter_async_context(stage.worker())
        await stack.enter_async_context(relaying(stage))
        yield stage


@asynccontextmanager
async def relaying(stage: Stage) -> AsyncIterator[None]:
    """Run the relay beside a scene."""
    relay = asyncio.create_task(Relay(stage.relay_db, stage.waker, RELAY_INTERVAL_S).run())
    try:
        yield
    finally:
        relay.cancel()
        with suppress(asyncio.CancelledError):
            await relay
