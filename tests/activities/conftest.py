"""A migrated database with both tenants, and a business system that does what a law tells it to."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from connectors.shop import CONTRACT
from domain.account import Account, Evidence, Order
from domain.action import Action
from domain.connector import ConnectorContract, Lookup, LookupKind, OutcomeKind, WriteOutcome
from domain.fault import Unreachable
from domain.principal import PrincipalKind, VerifiedPrincipal
from store.conversations import accept_message, open_conversation
from store.database import Database
from tests.postgres import Postgres
from tests.workflows import servers
from tests.workflows.shop_world import MARKET


@dataclass
class ObedientShop:
    """Knows one order of everybody; counts what is written to it."""

    contract: ConnectorContract = CONTRACT
    away: bool = False
    written: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # orders whose carrier was asked anew

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        if self.away:
            raise Unreachable("shop_unreachable")
        order = Order(id="A-10482", status="shipped", currency="EUR", captured_minor=500, refunded_minor=0, version=1)
        return Evidence(
            evidence_id=evidence_id,
            source="shop",
            account=Account(orders=(order,)),
            observed_at=datetime.now(UTC),
            max_age_s=60,
        )

    async def look_up(self, tenant_id: str, operation_id: str, timeout_s: float = 5) -> Lookup:
        return Lookup(kind=LookupKind.NOT_FOUND)

    async def refresh_tracking(self, tenant_id: str, order_id: str, timeout_s: float = 5) -> datetime | None:
        self.asked.append(order_id)
        return None

    async def execute(self, action: Action) -> WriteOutcome:
        self.written.append(action.operation_id)
        return WriteOutcome(kind=OutcomeKind.SUCCESS, code="created", external_id="re_1")


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[Postgres]:
    with servers.database(postgres) as made:
        yield made


@pytest.fixture
async def db(database: Postgres) -> AsyncIterator[Database]:
    opened = Database(database.app_url)
    yield opened
    await opened.close()


async def conversation(db: Database, *texts: str, kind: PrincipalKind = PrincipalKind.CUSTOMER) -> str:
    """Have somebody new say these things; returns the conversation's id."""
    somebody = VerifiedPrincipal(tenant_id=MARKET, kind=kind, id=f"c-{uuid4().hex[:8]}")
    ident = f"conv-{uuid4().hex[:12]}"
    await open_conversation(db, somebody, ident, "chat")
    for text in texts:
        await accept_message(db, somebody, ident, uuid4().hex, text, None, 200)
    return ident
