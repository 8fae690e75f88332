"""The doors that the gateway is given, and the desk that stands behind them for the life of one app.

Doors are made by a composition root or by a test; the desk is made of them and of what the gateway keeps in memory.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from starlette.requests import Request

from domain.courier import Courier
from domain.knowledge import Passage
from domain.permission import ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.retrieval import KnowledgeQuery
from domain.wake import Wake
from domain.words import Words
from gateway.boards import Boards
from gateway.hub import Hub
from gateway.idempotency import Once
from gateway.identity import Caller, Identity, Session, Verifier
from gateway.metrics import Metrics
from gateway.own_tokens import OwnTokens
from gateway.rates import Rates
from gateway.recent import Recent
from publishing.apart import Examiner
from settings import Settings
from store.database import Database
from store.queue import look
from store.secrets import Vault
from store.staff_proposals import StaffProposed, StaffRequest

Probe = Callable[[], Awaitable[object]]
"""Returns where a dependency answers, and raises where it does not."""


class Acting(Protocol):
    """Proposes for people of the staff, over the business system as it is now."""

    async def propose(self, staff: VerifiedPrincipal, conversation_id: str, request: StaffRequest) -> StaffProposed:
        """Return what was proposed. Raises refusals, and OperationalFault where the account cannot be read."""
        ...


class Policies(Protocol):
    """The bundles in force: each is opened by its digest, and answers from then on."""

    async def open(self, tenant_id: str, digest: str) -> None:
        """Make sure that the bundle can answer. Raises OperationalFault where it cannot be had."""
        ...

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        """Return whether a tool may be used under that bundle, which is open."""
        ...


class Searching(Protocol):
    """Searches the knowledge of a tenant."""

    def languages(self, text: str, known: Iterable[str]) -> tuple[str, ...]:
        """Return the languages `known` in the order in which to search for `text`."""
        ...

    async def search(self, tenant_id: str, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return what fits the query, likeliest first, each with why."""
        ...


Secrets = Callable[[str, str], Awaitable[str | None]]
"""Returns a tenant's secret by its name, or None."""


async def no_secrets(_tenant_id: str, _name: str) -> None:
    """Return None: where nothing opens secrets, there are none."""


@dataclass(frozen=True)
class Doors:
    """Everything outside that the gateway reaches: nothing else of the world is known to it."""

    settings: Settings
    db: Database
    courier: Courier
    words: Words
    clock: Callable[[], datetime]
    verifier: Verifier
    hub: Hub
    policies: Policies
    acting: Acting
    library: Searching | None = None  # without it, nobody searches the knowledge here
    own_tokens: OwnTokens | None = None
    secrets: Secrets = no_secrets
    vault: Vault | None = None  # what seals the secrets that are made here; without it none are
    probes: Mapping[str, Probe] = field(default_factory=dict)  # beside Postgres and the keys: Temporal


class Desk:
    """The doors, with identity, rates, keys and metrics of one app."""

    def __init__(self, doors: Doors) -> None:
        self.settings, self.db, self.words, self.clock = doors.settings, doors.db, doors.words, doors.clock
        self.hub, self.probes, self.verifier = doors.hub, doors.probes, doors.verifier
        self.boards = Boards(partial(look, doors.db), doors.hub, doors.clock)
        self.policies = doors.policies
        self.acting = doors.acting
        self.library = doors.library
        self.own_tokens, self.secrets, self.vault = doors.own_tokens, doors.secrets, doors.vault
        self.public_url = doors.settings.api_public_url
        self.metrics = Metrics()
        self.identity = Identity(doors.db, doors.verifier, now=lambda: doors.clock().timestamp())
        self.rates = Rates.of(doors.settings)
        self.once = Once(doors.db, doors.clock)
        self.examiner = Examiner()
        self.counted: Recent[Any] = Recent()
        self._courier = doors.courier

    def send(self, *wakes: Wake | None) -> None:
        """Hand on what a committed transaction has woken."""
        if due := [wake for wake in wakes if wake is not None]:
            self._courier.send(due)


def desk_of(request: Request) -> Desk:
    """Return the desk of the app that serves `request`."""
    desk: Desk = request.app.state.desk
    return desk


def session_of(request: Request) -> Session:
    """Return who makes this request, as admission has verified it."""
    session: Session = request.state.session
    return session


def caller_of(request: Request) -> Caller:
    """Return the principal of this request."""
    return session_of(request).principal
