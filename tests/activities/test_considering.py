"""Laws of considering: what is recorded holds nobody's words, and an account that cannot be read is a fault."""

from uuid import uuid4

import pytest
from temporalio.testing import ActivityEnvironment

from activities.considering import ATTEMPTS_BEFORE_A_PERSON, Considering
from domain.errand import Considered, ConsiderTurn
from domain.fault import Unreachable
from domain.handoff import HandoffReason
from domain.principal import PrincipalKind
from domain.refusal import NotFound
from domain.step import Answer, HandOff, Topic
from language.understanding import RulesUnderstander
from store.database import Database
from tests.activities.conftest import ObedientShop, conversation
from tests.workflows.shop_world import MARKET

WORDS = "Where is my order A-10482? I am Zoe, zoe@quxley.example"


async def consider(
    db: Database, shop: ObedientShop, ident: str, *, patient: bool = False, attempt: int = 1
) -> Considered:
    environment = ActivityEnvironment()
    environment.info = environment.info.__class__(**{**environment.info.__dict__, "attempt": attempt})
    ask = ConsiderTurn(tenant_id=MARKET, conversation_id=ident, step_id=uuid4().hex, patient=patient)
    return await environment.run(Considering(db, shop, RulesUnderstander()).consider_turn, ask)


async def test_what_is_recorded_of_a_decision_holds_no_words_of_the_customer(db: Database) -> None:
    considered = await consider(db, ObedientShop(), await conversation(db, WORDS))
    assert considered.step == Answer(topic=Topic.ORDER_STATUS, resource="order:A-10482")
    assert considered.through_seq == 1
    recorded = considered.model_dump_json().casefold()
    assert not [word for word in ("zoe", "quxley", "where") if word in recorded]


async def test_nothing_unanswered_is_nothing_to_do(db: Database) -> None:
    considered = await consider(db, ObedientShop(away=True), await conversation(db))
    assert considered.step is None


async def test_a_visitor_without_an_account_is_not_looked_up(db: Database) -> None:
    ident = await conversation(db, WORDS, kind=PrincipalKind.ANONYMOUS)
    considered = await consider(db, ObedientShop(away=True), ident)
    assert considered.step == Answer(topic=Topic.SIGN_IN)


async def test_an_account_that_cannot_be_read_is_tried_again_and_then_goes_to_a_person(db: Database) -> None:
    ident, shop = await conversation(db, WORDS), ObedientShop(away=True)
    for patient, attempt in ((False, 9), (True, ATTEMPTS_BEFORE_A_PERSON - 1)):
        with pytest.raises(Unreachable):
            await consider(db, shop, ident, patient=patient, attempt=attempt)
    considered = await consider(db, shop, ident, patient=True, attempt=ATTEMPTS_BEFORE_A_PERSON)
    assert considered.step == HandOff(reason=HandoffReason.ACCOUNT_UNREADABLE)


async def test_a_conversation_that_does_not_exist_is_not_found(db: Database) -> None:
    with pytest.raises(NotFound):
        await consider(db, ObedientShop(), "conv-ghost")
