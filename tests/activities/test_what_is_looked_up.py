"""Laws of what a reply is made from: pages for the customer's version, and a model only where its words could pass."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from activities.drafting import Drafting
from activities.gathering import Gathered, Gathering
from activities.library import Library
from activities.speaking import Speaking
from domain.account import Evidence
from domain.errand import ConsiderTurn
from domain.knowledge import Article
from domain.turn import Effect
from knowledge.indexing import indexed
from language.drafting import TemplateDrafter
from language.ledger_words import LedgerWords
from language.routing import LocalUnderstander
from policy.reply.readers import Readers
from store.articles import add_article
from store.database import Database
from store.reading import read_turn
from tests.activities.conftest import ObedientShop, conversation
from tests.activities.desks import desk_over
from tests.activities.test_model_drafting import book, says
from tests.activities.test_speaking_with_model import GOOD, ZEBRAS, asked
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET

ASKED = "How do I borrow a giraffe from you?"
GIRAFFES = tuple(
    Article(
        slug=f"giraffe-{version}",
        version=1,
        language="en",
        title="How to borrow a giraffe",
        body=f"To borrow a giraffe, use button number {version} of the stable.",
        product_versions=(version,),
        reviewed_by="x",
    )
    for version in ("1", "2")
)


class VersionedShop(ObedientShop):
    """Knows which version of the product everybody uses."""

    def __init__(self, version: str | None) -> None:
        super().__init__()
        self.version = version

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        found = await super().read_account(tenant_id, customer_id, evidence_id, timeout_s)
        return found.model_copy(update={"account": found.account.model_copy(update={"product_version": self.version})})


async def keep(database: Postgres, *articles: Article) -> None:
    owner = Database(database.owner_url)
    async with owner.transaction(MARKET) as tx:
        for article in articles:
            await add_article(tx, MARKET, indexed(article, None))
    await owner.close()


@pytest.fixture(scope="module", autouse=True)
def shelf(database: Postgres) -> Iterator[None]:
    asyncio.run(keep(database, ZEBRAS, *GIRAFFES))
    yield
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("DELETE FROM passages WHERE slug LIKE 'giraffe-%'")
        owner.execute("DELETE FROM articles WHERE slug LIKE 'giraffe-%'")


@pytest.mark.parametrize(("version", "slugs"), [("1", ["giraffe-1"]), ("2.4", ["giraffe-2"]), (None, []), ("3", [])])
async def test_a_customer_is_answered_for_the_version_that_they_use(
    version: str | None, slugs: list[str], db: Database
) -> None:
    turn = await read_turn(db, MARKET, await conversation(db, ASKED))
    gathering = Gathering(db, VersionedShop(version), LocalUnderstander(), Library(db, None), None)
    ask = ConsiderTurn(tenant_id=MARKET, conversation_id=turn.conversation_id, step_id=uuid4().hex)
    found = await gathering.gather(turn, ask, may_read=True, may_ask=False)
    assert isinstance(found, Gathered)
    assert [p.article.slug for p in found.passages if p.article.slug.startswith("giraffe")] == slugs


@pytest.mark.parametrize(("language", "asks"), [("pl", 0), ("en", 1)])
async def test_no_model_is_paid_for_words_that_nobody_here_can_check(language: str, asks: int, db: Database) -> None:
    ask = await asked(db)
    ask = ask.model_copy(update={"considered": ask.considered.model_copy(update={"language": language})})
    async with desk_over(db, [says(GOOD)], book()) as (desk, there):
        drafting = Drafting(db, TemplateDrafter(), Library(db, None), Readers(claims=None), desk)
        told: Effect = await ActivityEnvironment().run(Speaking(db, drafting, LedgerWords()).publish_reply, ask)
        assert told is not None
        assert len(there.bodies) == asks


async def test_a_model_may_look_up_what_is_not_written_in_the_customers_language(db: Database) -> None:
    ask = await asked(db)
    ask = ask.model_copy(update={"considered": ask.considered.model_copy(update={"language": "de"})})
    wish = {"read": "search_articles", "about": "borrow a zebra"}
    async with desk_over(db, [says(reads=(wish,)), says(GOOD)], book()) as (desk, there):
        drafting = Drafting(
            db, TemplateDrafter(), Library(db, None), Readers(claims=lambda text, language: False), desk
        )
        await ActivityEnvironment().run(Speaking(db, drafting, LedgerWords()).publish_reply, ask)
        assert "You may borrow a zebra for 30 days." in there.bodies[1]["messages"][-1]["content"]
