"""The api's composition root: the gateway with its database, its keys, its words and its courier, served by uvicorn.

Everything that a request reaches is built here, once.
"""

import asyncio
import contextlib
import errno
import hashlib
import signal
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import structlog
import uvicorn
from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware
from temporalio.client import Client

from activities.acting import StaffActing
from activities.policybook import PolicyBook
from activities.searching import Searching
from connectors.shop import ShopConnector
from console.app import create_pages
from console.doors import ConsoleDoors
from gateway.app import Doors, create_app
from gateway.desk import no_secrets
from gateway.hub import Hub
from gateway.identity import TokenVerifier
from gateway.keys import FILE_PACE, KEY_SET_BYTES_MAX, URL_PACE, KeySet, Read, Unread, file_reader
from gateway.own_tokens import OwnTokens
from language.ledger_words import LedgerWords
from relay.courier import TemporalCourier
from relay.temporal import Waker, address_of, connect
from settings import LOOPBACK_HOSTS, Settings
from store.database import Database
from store.listening import listening
from store.secrets import Vault, secret_of

log = structlog.get_logger(__name__)

STOPPED, CANNOT_LISTEN = 0, 2
GRACE_S = 8
KEEP_ALIVE_S = 75  # longer than a load balancer keeps a connection, so that it is never the api that hangs up first
KEYS_TIMEOUT_S = 5.0
PROBE_TIMEOUT = timedelta(seconds=1)


class Server(uvicorn.Server):
    """Uvicorn, which ends event streams before it waits for requests to end, and leaves signals to `serve`."""

    def __init__(self, config: uvicorn.Config, hub: Hub, ready_file: Path | None) -> None:
        super().__init__(config)
        self._hub, self._ready_file = hub, ready_file

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started and self._ready_file is not None:
            await asyncio.to_thread(self._ready_file.touch)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: streams would never end by themselves."""
        self._hub.end_streams()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: uvicorn would raise them again once it has stopped, and so skip what comes after."""
        yield


def keys_of(settings: Settings) -> KeySet:
    """Return the keys that tokens are checked with: of a file, or of a URL."""
    if settings.jwks.startswith(("http://", "https://")):
        return KeySet(url_reader(settings.jwks), URL_PACE)
    return KeySet(file_reader(Path(settings.jwks)), FILE_PACE)


def url_reader(url: str) -> Read:
    """Return what reads a key set from a URL."""

    async def read() -> bytes:
        try:
            async with httpx.AsyncClient(timeout=KEYS_TIMEOUT_S) as client, client.stream("GET", url) as answer:
                answer.raise_for_status()
                raw = b""
                async for part in answer.aiter_bytes():
                    raw += part
                    if len(raw) > KEY_SET_BYTES_MAX:
                        raise Unread("too large")
                return raw
        except httpx.HTTPError as fault:
            raise Unread(type(fault).__name__) from None

    return read


def shop_of(settings: Settings) -> ShopConnector:
    """Return the connector of the business system, for reading alone: the api holds no key for writes."""
    key = settings.shop_read_key.get_secret_value() if settings.shop_read_key else ""
    return ShopConnector(settings.shop_url, key, "", settings.dispatch_timeout_s, int(settings.evidence_max_age_s))


def acting_of(settings: Settings, db: Database, shop: ShopConnector, policies: PolicyBook) -> StaffActing:
    """Return what proposes for people of the staff."""
    ttl_s = int(settings.customer_confirmation_ttl_s), int(settings.staff_approval_ttl_s)
    return StaffActing(db, shop, policies, LedgerWords(), *ttl_s)


def doors_of(settings: Settings, db: Database, client: Client, courier: TemporalCourier, shop: ShopConnector) -> Doors:
    """Return all that the gateway reaches."""
    policies = PolicyBook(db)
    own_tokens, vault = own_tokens_of(settings), vault_of(settings)

    async def temporal() -> None:
        if not await client.service_client.check_health(timeout=PROBE_TIMEOUT):
            raise ConnectionError("Temporal is not serving")

    return Doors(
        settings=settings,
        db=db,
        courier=courier,
        words=LedgerWords(),
        clock=lambda: datetime.now(UTC),
        verifier=TokenVerifier(keys_of(settings), settings.jwt_issuer, settings.jwt_audience, own_tokens),
        hub=Hub(partial(listening, db), settings.sse_streams_per_principal_max),
        policies=policies,
        acting=acting_of(settings, db, shop, policies),
        library=Searching(db),
        own_tokens=own_tokens,
        secrets=partial(secret_of, db, vault) if vault else no_secrets,
        vault=vault,
        probes={"temporal": temporal},
    )


def vault_of(settings: Settings) -> Vault | None:
    """Return what seals the tenants' secrets, or None where no key is set."""
    return Vault(settings.secrets_key.get_secret_value()) if settings.secrets_key else None


def own_tokens_of(settings: Settings) -> OwnTokens | None:
    """Return what signs the sessions of chat and console, or None where no key is set."""
    if settings.session_key is None:
        return None
    return OwnTokens(settings.session_key.get_secret_value(), settings.jwt_issuer, settings.jwt_audience)


def app_of(settings: Settings, doors: Doors) -> FastAPI:
    """Return the gateway with the pages beside its routes; without a session key there are no pages."""
    app = create_app(doors)
    if settings.dev_people_file is not None:  # no site may make a browser take its own name for this machine's
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=sorted(LOOPBACK_HOSTS))
    if settings.session_key is not None:
        form_key = hashlib.sha256(b"forms " + settings.session_key.get_secret_value().encode()).digest()
        app.router.routes.extend(
            create_pages(
                ConsoleDoors(
                    contract=app,
                    public_url=settings.api_public_url,
                    form_key=form_key,
                    session_ttl_s=int(settings.session_ttl_s),
                    temporal_ui_url=settings.temporal_ui_url,
                    temporal_namespace=settings.temporal_namespace,
                )
            )
        )
    return app


def config_of(settings: Settings, doors: Doors) -> uvicorn.Config:
    """Return how uvicorn serves the gateway."""
    return uvicorn.Config(
        app_of(settings, doors),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
    )


async def serve(settings: Settings, listener: socket.socket, ready_file: Path | None = None) -> None:
    """Serve on `listener` until SIGINT or SIGTERM; `ready_file` is created once requests are taken."""
    db = Database(settings.database_url, settings.database_pool_size)
    client = await connect(address_of(settings))
    courier = TemporalCourier(Waker(client, settings.task_queue, int(settings.conversation_idle_close_s)), db)
    shop = shop_of(settings)
    doors = doors_of(settings, db, client, courier, shop)
    server = Server(config_of(settings, doors), doors.hub, ready_file)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, server.handle_exit, number, None)
    marking = asyncio.create_task(courier.run(), name="courier")
    try:
        log.info("api.started", host=settings.api_host, port=listener.getsockname()[1])
        await server.serve(sockets=[listener])
    finally:
        marking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await marking
        await shop.close()
        await db.close()
        log.info("api.stopped")


def listener_of(settings: Settings) -> socket.socket:
    """Return a socket that listens where the settings say. Raises OSError."""
    family = socket.AF_INET6 if ":" in settings.api_host else socket.AF_INET
    return socket.create_server((settings.api_host, settings.api_port), family=family, backlog=2048)


def run(settings: Settings, ready_file: Path | None = None) -> int:
    """Serve until told to stop, and return the exit status: 0 stopped, 2 the address cannot be listened on."""
    where = f"{settings.api_host}:{settings.api_port}"
    try:
        listener = listener_of(settings)
    except OSError as fault:
        why = (
            "is in use by another process" if fault.errno == errno.EADDRINUSE else f"cannot be used ({fault.strerror})"
        )
        print(f"interlock api: {where} {why}; set INTERLOCK_API_HOST and INTERLOCK_API_PORT", file=sys.stderr)
        return CANNOT_LISTEN
    loop_factory = uvicorn.Config(app="", log_config=None).get_loop_factory()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(serve(settings, listener, ready_file))
    return STOPPED
