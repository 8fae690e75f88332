"""Laws of a turn that a model reads too: asked once, beside the account, and never where nobody may be answered."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from temporalio.testing import ActivityEnvironment

from activities.considering import ATTEMPTS_BEFORE_A_PERSON, Considering
from activities.gathering import Gathering, Knowledge
from activities.library import Library
from activities.model_desk import ModelDesk
from activities.policybook import PolicyBook
from connectors.model_endpoints.book import ModelBook
from domain.account import Evidence
from domain.errand import Considered, ConsiderTurn
from domain.fault import Unreachable
from domain.handoff import HandoffReason
from domain.knowledge import Passage
from domain.model import Route
from domain.step import Answer, HandOff, Topic
from language.understanding import RulesUnderstander
from store.database import Database
from store.reading import TEXTS_PER_TURN_MAX
from tests.activities.conftest import ObedientShop, conversation
from tests.activities.desks import book_of, booked, desk_over
from tests.activities.test_considering import at_stage
from tests.connectors.raw_endpoint import completion, silence
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET

VAGUE = "I ordered a lamp for my grandmother a while ago and hmm now I wonder about it A-10482"
READING = completion(
    json.dumps(
        {
            "intents": ["order_status"],
            "names": [],
            "asks_for_person": False,
            "corrects_earlier": False,
            "seeks_information": False,
            "urgent": False,
            "risks": [],
            "instructs_machine": False,
            "certainty": "sure",
        }
    )
)
STATUS = Answer(topic=Topic.ORDER_STATUS, resource="order:A-10482")


@dataclass
class CountingShop(ObedientShop):
    """Counts how often an account is read; may wait before it answers, or goes away."""

    reads: int = 0
    first: Callable[[], Awaitable[object]] | None = field(default=None)

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        self.reads += 1
        if self.first is not None:
            await self.first()
        return await super().read_account(tenant_id, customer_id, evidence_id, timeout_s)


@dataclass
class EndlessSearch:
    """Knowledge that is never found; tells when nobody looks for it any more."""

    under_way: int = 0

    async def find(self, *_: object) -> tuple[Passage, ...]:
        self.under_way += 1
        try:
            await asyncio.Event().wait()
            return ()
        finally:
            self.under_way -= 1


@dataclass
class Turn:
    """One turn, considered as often as a law wants by one process."""

    db: Database
    shop: CountingShop
    desk: ModelDesk
    conversation_id: str
    step_id: str = field(default_factory=lambda: uuid4().hex)
    knowledge: Knowledge | None = None

    def __post_init__(self) -> None:
        knowledge = self.knowledge or Library(self.db, None)
        gathering = Gathering(self.db, self.shop, RulesUnderstander(), knowledge, self.desk)
        self.considering = Considering(self.db, gathering, PolicyBook(self.db))

    async def considered(self, attempt: int = 1, *, with_model: bool = True) -> Considered:
        environment = ActivityEnvironment()
        environment.info = environment.info.__class__(**{**environment.info.__dict__, "attempt": attempt})
        ask = ConsiderTurn(
            tenant_id=MARKET,
            conversation_id=self.conversation_id,
            step_id=self.step_id,
            patient=with_model,
            with_model=with_model,
        )
        return await environment.run(self.considering.consider_turn, ask)


def unhurried() -> ModelBook:
    book = book_of().model_dump(mode="json")
    for use in book["roles"]["understand"].values():
        use["call_timeout_s"] = 60
    return ModelBook.model_validate(book)


async def test_the_account_is_read_once_and_not_on_the_way_to_a_model(db: Database) -> None:
    async with desk_over(db, [READING]) as (desk, there):
        turn = Turn(db, CountingShop(), desk, await conversation(db, VAGUE))
        assert (await turn.considered(with_model=False)).ask_model is Route.SMALL
        assert turn.shop.reads == 0
        assert (await turn.considered()).step == STATUS
        assert (turn.shop.reads, len(there.bodies)) == (1, 1)


async def test_what_needs_no_model_reads_the_account_at_once(db: Database) -> None:
    async with desk_over(db, [READING]) as (desk, there):
        turn = Turn(db, CountingShop(), desk, await conversation(db, "Where is my order A-10482?"))
        assert (await turn.considered(with_model=False)).step == STATUS
        assert (turn.shop.reads, len(there.bodies)) == (1, 0)


async def test_an_account_that_cannot_be_read_has_no_model_asked_again(db: Database, database: Postgres) -> None:
    ident = await conversation(db, VAGUE)
    async with desk_over(db, [READING]) as (desk, there):
        turn = Turn(db, CountingShop(away=True), desk, ident)
        for attempt in range(1, ATTEMPTS_BEFORE_A_PERSON):
            with pytest.raises(Unreachable):
                await turn.considered(attempt)
        considered = await turn.considered(ATTEMPTS_BEFORE_A_PERSON)
        assert considered.step == HandOff(reason=HandoffReason.ACCOUNT_UNREADABLE)
        assert len(there.bodies) <= 1


async def test_an_account_that_cannot_be_read_is_known_before_a_slow_model_answers(
    db: Database, database: Postgres
) -> None:
    ident, asked = await conversation(db, VAGUE), asyncio.Event()

    async def hangs(writer: asyncio.StreamWriter) -> None:
        asked.set()
        await silence(writer)

    search = EndlessSearch()
    async with desk_over(db, [hangs], unhurried()) as (desk, there):
        turn = Turn(db, CountingShop(away=True, first=asked.wait), desk, ident, knowledge=search)
        with pytest.raises(Unreachable):
            await asyncio.wait_for(turn.considered(1), 5)
        await asyncio.sleep(0)
        assert search.under_way == 0
        with pytest.raises(Unreachable):
            await turn.considered(2)
        assert len(there.bodies) == 1
    assert booked(database, ident) == [("cheap", "timeout", "cancelled", 0, 0)]


async def test_what_a_model_read_is_not_asked_for_again(db: Database, database: Postgres) -> None:
    ident = await conversation(db, VAGUE)

    async def until_read() -> None:
        for _ in range(200):
            await asyncio.sleep(0.1)
            if booked(database, ident):
                break
        await asyncio.sleep(0.2)

    async with desk_over(db, [READING]) as (desk, there):
        turn = Turn(db, CountingShop(away=True, first=until_read), desk, ident)
        with pytest.raises(Unreachable):
            await turn.considered(1)
        turn.shop.away = False
        considered = await turn.considered(2)
        assert considered.step == STATUS
        assert considered.understood is not None
        assert considered.understood.route == Route.SMALL
        assert len(there.bodies) == 1


@pytest.mark.parametrize("stage", ["off", "shadow"])
async def test_where_the_bot_may_not_answer_nobodys_words_leave_the_process(
    stage: str, db: Database, database: Postgres
) -> None:
    async with desk_over(db, [READING]) as (desk, there):
        turn = Turn(db, CountingShop(), desk, await conversation(db, VAGUE))
        with at_stage(database, stage):
            for with_model in (False, True):
                considered = await turn.considered(with_model=with_model)
                assert considered.step == HandOff(reason=HandoffReason.POLICY_FORBIDS)
        assert (there.bodies, turn.shop.reads) == ([], 0)


async def test_what_is_too_much_for_a_turn_is_no_models_to_read(db: Database) -> None:
    async with desk_over(db, [READING]) as (desk, there):
        many = await conversation(db, *[VAGUE] * (TEXTS_PER_TURN_MAX + 1))
        turn = Turn(db, CountingShop(), desk, many)
        considered = await turn.considered()
        assert considered.step == HandOff(reason=HandoffReason.TOO_MANY_MESSAGES)
        assert considered.understood is not None
        assert (there.bodies, turn.shop.reads) == ([], 0)
