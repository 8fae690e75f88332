"""Laws of a reply that a model drafts: paid for once, and not at all where it could not be said any more."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError
from temporalio.testing import ActivityEnvironment

from activities.drafting import Drafting
from activities.library import Library
from activities.model_desk import ModelDesk
from activities.speaking import Speaking
from domain.conversation import Owner
from domain.errand import Considered, TurnEffect
from domain.knowledge import Article, PassageRef
from domain.model import Route
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.step import Answer, Topic
from domain.turn import Effect, TurnFence, TurnRow
from domain.understanding import Intent, Understanding
from knowledge.indexing import indexed
from language.drafting import TemplateDrafter
from language.ledger_words import LedgerWords
from policy.reply.readers import Readers
from store.articles import add_article
from store.conversations import accept_message
from store.database import Database
from store.ownership import take_over
from store.reading import read_turn
from tests.activities.conftest import conversation
from tests.activities.desks import booked, desk_over
from tests.activities.test_model_drafting import book, says
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET

ASKED = "For how long may I borrow a zebra?"
SAID = "You may borrow a zebra for 30 days."
GOOD = {"kind": "text", "text": SAID, "cites": ["k1"]}
BAD = {"kind": "text", "text": "You may borrow a zebra for 90 days.", "cites": ["k1"]}
ZEBRAS = Article(slug="zebra", version=1, language="en", title="Borrowing zebras", body=SAID, reviewed_by="x")
PASSAGE = PassageRef(slug="zebra", version=1, language="en", position=0, certain=True)
ANN = VerifiedPrincipal(tenant_id=MARKET, kind=PrincipalKind.STAFF, id="ann", role=StaffRole.AGENT)


def speaking(db: Database, desk: ModelDesk) -> Speaking:
    readers = Readers(claims=lambda text, language: "refunded" in text)
    return Speaking(db, Drafting(db, TemplateDrafter(), Library(db, None), readers, desk), LedgerWords())


async def keep(database: Postgres, article: Article) -> None:
    owner = Database(database.owner_url)
    async with owner.transaction(MARKET) as tx:
        await add_article(tx, MARKET, indexed(article, None))
    await owner.close()


@pytest.fixture(scope="module", autouse=True)
def zebras(database: Postgres) -> None:
    asyncio.run(keep(database, ZEBRAS))


async def asked(db: Database, *, last_round: bool = False) -> TurnEffect:
    """Somebody's question, considered: to be answered from the article, in a model's words."""
    turn: TurnRow = await read_turn(db, MARKET, await conversation(db, ASKED))
    at = {"owner_epoch": turn.owner_epoch, "answered_seq": turn.answered_seq, "through_seq": turn.customer_seq}
    considered = Considered(
        owner=Owner.BOT,
        version=turn.version,
        language="en",
        step=Answer(topic=Topic.KNOWLEDGE, passages=(PASSAGE,)),
        understood=Understanding(intent=Intent.OUT_OF_SCOPE, language="en"),
        updated_at=turn.updated_at,
        draft_by=Route.SMALL,
        **at,
    )
    where = {"tenant_id": MARKET, "conversation_id": turn.conversation_id, "step_id": uuid4().hex}
    return TurnEffect(fence=TurnFence(**where, **at, last_round=last_round), considered=considered)


async def publish(speaks: Speaking, ask: TurnEffect) -> Effect:
    return await ActivityEnvironment().run(speaks.publish_reply, ask)


def kept(database: Postgres, ask: TurnEffect, kind: str) -> list[str]:
    query = "SELECT body::text FROM events WHERE conversation_id = %s AND kind = %s ORDER BY seq, part"
    with psycopg.connect(database.owner_url) as owner:
        return [row[0] for row in owner.execute(query, (ask.fence.conversation_id, kind))]


@contextmanager
def going_away(database: Postgres) -> Iterator[None]:
    """A database that goes away just as the bot lets something out into the world."""
    body = "BEGIN RAISE EXCEPTION 'going away' USING ERRCODE = '57P01'; END"
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(f"CREATE FUNCTION go_away() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$".encode())
        owner.execute(
            "CREATE TRIGGER a_go_away BEFORE INSERT ON events FOR EACH ROW"
            " WHEN (NEW.kind IN ('bot_reply', 'owner_changed')) EXECUTE FUNCTION go_away()"
        )
        try:
            yield
        finally:
            owner.execute("DROP FUNCTION go_away CASCADE")


async def test_a_reply_that_could_not_be_published_is_not_paid_for_again(db: Database, database: Postgres) -> None:
    ask = await asked(db)
    async with desk_over(db, [says(GOOD), says(BAD)], book(calls_max=2)) as (desk, there):
        speaks = speaking(db, desk)
        with going_away(database):
            for _ in range(3):
                with pytest.raises(DBAPIError):
                    await publish(speaks, ask)
        assert await publish(speaks, ask) is Effect.DONE
        assert len(there.bodies) == 1
    (said,) = kept(database, ask, "bot_reply")
    assert SAID in said


async def test_drafts_that_failed_are_neither_paid_for_again_nor_lost(db: Database, database: Postgres) -> None:
    ask = await asked(db)
    async with desk_over(db, [says(BAD), says(BAD), says(GOOD)], book()) as (desk, there):
        speaks = speaking(db, desk)
        with going_away(database), pytest.raises(DBAPIError):
            await publish(speaks, ask)
        assert await publish(speaks, ask) is Effect.HANDED_OFF
        assert await publish(speaks, ask) is Effect.HANDED_OFF
        assert len(there.bodies) == 2
    assert len(kept(database, ask, "draft")) == 2


async def test_what_was_said_is_not_drafted_again_by_whoever_comes_after(db: Database, database: Postgres) -> None:
    ask = await asked(db)
    async with desk_over(db, [says(GOOD), says(BAD)], book()) as (desk, there):
        assert await publish(speaking(db, desk), ask) is Effect.DONE
        assert await publish(speaking(db, desk), ask) is Effect.DONE
        assert len(there.bodies) == 1
    assert len(kept(database, ask, "bot_reply")) == 1


async def test_nobody_is_asked_for_a_reply_that_may_not_be_said(db: Database, database: Postgres) -> None:
    taken, newer, answered, last = [await asked(db, last_round=n == 3) for n in range(4)]
    await take_over(db, ANN, taken.fence.conversation_id, "r-1", LedgerWords(), datetime.now(UTC))
    for talk in (newer, last):
        row = await read_turn(db, MARKET, talk.fence.conversation_id)
        customer = VerifiedPrincipal(tenant_id=MARKET, kind=PrincipalKind.CUSTOMER, id=str(row.customer_id))
        await accept_message(db, customer, row.conversation_id, uuid4().hex, "And a lion?", None, 200)
    overtaken = answered.model_copy(update={"fence": answered.fence.model_copy(update={"answered_seq": 9})})
    async with desk_over(db, [says(GOOD)], book()) as (desk, there):
        speaks = speaking(db, desk)
        effects = [await publish(speaks, ask) for ask in (taken, newer, overtaken)]
        assert effects == [Effect.FENCED, Effect.NEWER_MESSAGE, Effect.OVERTAKEN]
        assert there.bodies == []
        assert await publish(speaks, last) is Effect.DONE
    assert booked(database, newer.fence.conversation_id) == []
