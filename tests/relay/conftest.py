"""A database of the relay's own, so that no other outbox is in its way, and a waker that keeps what it is given."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from uuid import uuid4

import psycopg
import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.wake import Wake
from relay.temporal import Waker
from store.conversations import Accepted, accept_message, open_conversation
from store.database import Database
from tests.postgres import Postgres
from tests.workflows import servers
from tests.workflows.shop_world import MARKET

NOBODY = "127.0.0.1:1"


class KeepingWaker(Waker):
    """Keeps wake-ups in the order in which they came; refuses those of some conversations, as if Temporal were down."""

    def __init__(self) -> None:
        self.woken: list[Wake] = []
        self.ensured: list[Wake] = []
        self.refused: set[str] = set()

    async def wake(self, wake: Wake) -> None:
        if wake.conversation_id in self.refused:
            raise RPCError("away", RPCStatusCode.UNAVAILABLE, b"")
        self.woken.append(wake)

    async def ensure(self, wake: Wake) -> None:
        self.ensured.append(wake)


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[Postgres]:
    with servers.database(postgres) as made:
        yield made


@pytest.fixture
async def db(database: Postgres) -> AsyncIterator[Database]:
    opened = Database(database.app_url)
    yield opened
    await opened.close()


@pytest.fixture
async def relay_db(database: Postgres) -> AsyncIterator[Database]:
    opened = Database(database.relay_url)
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def nothing_waits(database: Postgres) -> None:
    """What an earlier law has left is delivered and dealt with."""
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("UPDATE outbox SET delivered_at = now() WHERE delivered_at IS NULL")
        owner.execute("UPDATE conversations SET consumed_seq = version, answered_seq = customer_seq")


@pytest.fixture
def due(database: Postgres) -> Callable[[], None]:
    """Make everything that waits due at once."""

    def make() -> None:
        with psycopg.connect(database.owner_url) as owner:
            owner.execute("UPDATE outbox SET next_attempt_at = now() WHERE delivered_at IS NULL")

    return make


@pytest.fixture
def row(database: Postgres) -> Callable[[int], tuple[int, datetime | None]]:
    """Return how often a wake-up was tried, and when it was delivered."""

    def read(outbox_id: int) -> tuple[int, datetime | None]:
        with psycopg.connect(database.owner_url) as owner:
            found = owner.execute("SELECT attempts, delivered_at FROM outbox WHERE id = %s", (outbox_id,)).fetchone()
        assert found is not None
        return found[0], found[1]

    return read


async def talk(db: Database, messages: int = 1) -> list[Wake]:
    """Have a new customer say so much; returns the wake-ups that were left."""
    customer = VerifiedPrincipal(tenant_id=MARKET, kind=PrincipalKind.CUSTOMER, id=f"c-{uuid4().hex[:8]}")
    ident = f"conv-{uuid4().hex[:12]}"
    await open_conversation(db, customer, ident, "chat")
    said: list[Accepted] = [
        await accept_message(db, customer, ident, uuid4().hex, "Hello", None, 200) for _ in range(messages)
    ]
    return [took.wake for took in said if took.wake is not None]


async def lazy_waker(address: str) -> Waker:
    return Waker(await Client.connect(address, lazy=True), "nobody", 600)
