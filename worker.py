"""The worker's composition root: workflows, activities, the outbox relay and the sweep in one process.

Everything that an activity holds is built here, once.
"""

import asyncio
import signal
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from activities.approving import Approving
from activities.comparing import Comparing
from activities.considering import Considering
from activities.drafting import Drafting
from activities.executing import Executing
from activities.free_text import readers, warmed
from activities.gathering import Gathering
from activities.library import Library
from activities.model_desk import ModelDesk
from activities.policybook import PolicyBook
from activities.prompts import digests
from activities.proposing import Proposing
from activities.reconciling import Reconciling
from activities.refreshing import Refreshing
from activities.sorting import SortFailures
from activities.speaking import Speaking
from connectors.model_endpoints.client import ModelsNotInstalled
from connectors.model_endpoints.opening import open_models, warn_of_unevaluated
from connectors.model_endpoints.reading import ModelsInvalid
from connectors.shop import ShopConnector
from connectors.webhooks import WebhookSender
from domain.model import ModelRole
from domain.webhook import networks_of
from language.drafting import TemplateDrafter
from language.embedding import embedder
from language.ledger_words import LedgerWords
from language.routing import LocalUnderstander
from relay.deliveries import Deliveries, Pace
from relay.relay import Relay
from relay.temporal import TemporalAddress, Waker, address_of, connect
from settings import Settings, SettingsFault, inherited_environment
from store.database import Database
from store.secrets import Vault
from workflows.action import ActionWorkflow
from workflows.conversation import ConversationWorkflow
from workflows.refresh import RefreshWorkflow
from workflows.runner import workflow_runner as workflow_runner  # told on to the replayer

log = structlog.get_logger()

LEASE_MARGIN_S = 30.0  # what a try may take beside the wire: two looks at the database
SENDS_MAX = 3  # of one operation, all under its one key
# What histories say they were made by. Without one, the SDK digests every loaded module: 1.6 s at each start.
BUILD_ID = f"interlock-{version('interlock')}"
WORKFLOWS = [ConversationWorkflow, ActionWorkflow, RefreshWorkflow]


def shop_of(settings: Settings) -> ShopConnector:
    """Return the connector of the business system, from the settings."""
    read, write = settings.shop_read_key, settings.shop_write_key
    return ShopConnector(
        settings.shop_url,
        read.get_secret_value() if read else "",
        write.get_secret_value() if write else "",
        settings.dispatch_timeout_s,
        int(settings.evidence_max_age_s),
    )


def desk_of(settings: Settings, db: Database) -> ModelDesk | None:
    """Return where models are asked, or None in the local setting. Raises SettingsFault where none can be."""
    if settings.model == "local":
        return None
    environment = inherited_environment()
    try:
        book, endpoints = open_models(
            settings.models_file, digests(), settings.model_base_url, settings.model_api_key, environment
        )
    except (ModelsInvalid, ModelsNotInstalled) as fault:
        raise SettingsFault(str(fault)) from None
    warn_of_unevaluated(book)
    return ModelDesk(db, book, endpoints)


def activities_of(
    db: Database, settings: Settings, shop: ShopConnector, desk: ModelDesk | None = None
) -> Sequence[Callable[..., Any]]:
    """Return every activity, bound to its collaborators. Without a desk no model is asked."""
    words, policies, library = LedgerWords(), PolicyBook(db), Library(db, embedder())
    gathering = Gathering(db, shop, LocalUnderstander(), library, desk)
    drafts_with = desk.routes(ModelRole.DRAFT) if desk else frozenset()
    considering = Considering(db, gathering, policies, drafts_with)
    approving = Approving(db, policies)
    speaking = Speaking(db, Drafting(db, TemplateDrafter(), library, warmed() if desk else readers(), desk), words)
    proposing = Proposing(
        db, policies, words, int(settings.customer_confirmation_ttl_s), int(settings.staff_approval_ttl_s)
    )
    executing = Executing(
        db,
        shop,
        policies,
        words,
        int(settings.reservation_claim_ttl_s),
        SENDS_MAX,
        int(settings.staff_approval_ttl_s),
    )
    reconciling = Reconciling(db, shop, words, int(settings.reconcile_deadline_s), SENDS_MAX)
    return [
        considering.consider_turn,
        speaking.publish_reply,
        speaking.keep_draft,
        speaking.withdraw_proposals,
        speaking.tell_waiting,
        speaking.hand_off,
        speaking.hand_off_unread,
        speaking.close_idle,
        proposing.propose_action,
        executing.load_action,
        executing.reserve_action,
        executing.dispatch_action,
        executing.resend_action,
        executing.after_dispatch,
        executing.expire_action,
        executing.withdraw_action,
        approving.remind_approvers,
        approving.confirm_in_words,
        reconciling.look_up_action,
        reconciling.open_case,
        Refreshing(shop).refresh_tracking,
    ]


def worker_of(client: Client, settings: Settings, activities: Sequence[Callable[..., Any]]) -> Worker:
    """Return the Temporal worker."""
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=activities,
        workflow_runner=workflow_runner(),
        build_id=BUILD_ID,
        interceptors=[SortFailures()],
        max_cached_workflows=2_000,
        max_concurrent_activities=50,
        max_concurrent_local_activities=50,
        max_concurrent_workflow_tasks=50,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=3),
        graceful_shutdown_timeout=timedelta(seconds=12),
    )


def sender_of(settings: Settings) -> WebhookSender:
    """Return what posts to tenants' webhooks."""
    return WebhookSender(settings.webhook_timeout_s, networks_of(settings.webhook_networks))


def deliveries_of(settings: Settings, relay_db: Database, db: Database, sender: WebhookSender) -> Sequence[Deliveries]:
    """Return what delivers to webhooks: nothing where no key opens their secrets."""
    if settings.secrets_key is None:
        return []
    pace = Pace(
        interval_s=settings.relay_sweep_interval_s,
        attempts_max=settings.webhook_attempts_max,
        unseen_after_s=settings.webhook_unseen_after_s,
        lease_s=settings.webhook_timeout_s + LEASE_MARGIN_S,
    )
    return [Deliveries(relay_db, db, Vault(settings.secrets_key.get_secret_value()), sender.send, pace)]


async def connected(where: TemporalAddress) -> Client:
    """Return a connected client, waiting for Temporal for as long as it takes and saying so."""
    pause_s = 0.5
    while True:
        try:
            return await connect(where, lazy=False)
        except RuntimeError:
            log.warning("temporal.awaited", address=where.address, pause_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, 15)


async def serve(settings: Settings, ready_file: Path | None = None) -> None:
    """Run until SIGINT or SIGTERM; `ready_file` is created once the worker polls. Raises SettingsFault."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    db = Database(settings.database_url, settings.database_pool_size)
    desk = desk_of(settings, db)  # first, so that settings which make none are told before anything runs
    relay_db = Database(settings.relay_url, pool_size=5)
    shop = shop_of(settings)
    client = await connected(address_of(settings))
    waker = Waker(client, settings.task_queue, int(settings.conversation_idle_close_s))
    sender = sender_of(settings)
    loops = [
        asyncio.create_task(Relay(relay_db, waker, settings.relay_sweep_interval_s).run()),
        asyncio.create_task(Comparing(db, relay_db, shop).run()),
        *(asyncio.create_task(one.run()) for one in deliveries_of(settings, relay_db, db, sender)),
    ]
    try:
        async with worker_of(client, settings, activities_of(db, settings, shop, desk)):
            if ready_file is not None:
                await asyncio.to_thread(ready_file.touch)
            log.info("worker.started", task_queue=settings.task_queue, temporal=settings.temporal_address)
            await _until_stopped(stop, *loops)
    finally:
        for task in loops:
            task.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await sender.close()
        await shop.close()
        if desk is not None:
            await desk.close()
        await db.close()
        await relay_db.close()
        log.info("worker.stopped")


async def _until_stopped(stop: asyncio.Event, *loops: asyncio.Task[None]) -> None:
    """Wait for the signal; a loop that ends by a defect ends the worker, loudly."""
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({stopped, *loops}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    for loop in loops:
        if loop.done():
            loop.result()


def run(settings: Settings, ready_file: Path | None = None) -> None:
    """Run the worker in this process until it is told to stop. Raises SettingsFault where it cannot begin."""
    asyncio.run(serve(settings, ready_file))
