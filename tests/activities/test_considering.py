"""Laws of considering: what is recorded holds nobody's words, and an account that cannot be read is a fault."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from activities.considering import ATTEMPTS_BEFORE_A_PERSON, Considering
from activities.gathering import Gathering
from activities.library import Library
from activities.policybook import PolicyBook
from domain.account import Account, Evidence
from domain.errand import Considered, ConsiderTurn
from domain.fault import OperationalFault, Unreachable
from domain.handoff import HandoffReason
from domain.permission import Tool
from domain.principal import PrincipalKind
from domain.refusal import NotFound
from domain.step import Answer, HandOff, Propose, Step, Topic
from language.embedding import embedder
from language.understanding import RulesUnderstander
from policy.bundle import Bundle
from store.database import Database
from tests.activities.conftest import ObedientShop, conversation
from tests.activities.test_policybook import keep
from tests.conftest import put_in_force
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET

WORDS = "Where is my order A-10482? I am Zoe, zoe@quxley.example"


async def consider(
    db: Database, shop: ObedientShop, ident: str, *, patient: bool = False, attempt: int = 1
) -> Considered:
    environment = ActivityEnvironment()
    environment.info = environment.info.__class__(**{**environment.info.__dict__, "attempt": attempt})
    ask = ConsiderTurn(tenant_id=MARKET, conversation_id=ident, step_id=uuid4().hex, patient=patient)
    gathering = Gathering(db, shop, RulesUnderstander(), Library(db, embedder()), None)
    return await environment.run(Considering(db, gathering, PolicyBook(db)).consider_turn, ask)


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


async def test_a_bundle_that_does_not_open_is_tried_again_and_then_a_person_answers(
    db: Database, database: Postgres
) -> None:
    ident, shop = await conversation(db, WORDS), ObedientShop()
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files)"
            " VALUES ('broken', 'base', '9', '{}', '{}')"
        )
        put_in_force(owner, MARKET, "broken")
        try:
            for patient, attempt in ((False, 9), (True, ATTEMPTS_BEFORE_A_PERSON - 1)):
                with pytest.raises(OperationalFault):
                    await consider(db, shop, ident, patient=patient, attempt=attempt)
            considered = await consider(db, shop, ident, patient=True, attempt=ATTEMPTS_BEFORE_A_PERSON)
        finally:
            put_in_force(owner, MARKET, Bundle.load().digest)
    assert considered.step == HandOff(reason=HandoffReason.POLICY_UNREADABLE)


async def test_a_conversation_that_does_not_exist_is_not_found(db: Database) -> None:
    with pytest.raises(NotFound):
        await consider(db, ObedientShop(), "conv-ghost")


@contextmanager
def at_stage(database: Postgres, stage: str) -> Iterator[None]:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("UPDATE tenants SET stage = %s WHERE id = %s", (stage, MARKET))
        try:
            yield
        finally:
            owner.execute("UPDATE tenants SET stage = 'approval_required' WHERE id = %s", (MARKET,))


@pytest.mark.parametrize("stage", ["off", "shadow"])
async def test_where_the_bot_may_not_answer_a_person_does_and_the_account_is_left_alone(
    db: Database, database: Postgres, stage: str
) -> None:
    asks, person = await conversation(db, WORDS), await conversation(db, "I want to talk to a human, please.")
    with at_stage(database, stage):
        considered = await consider(db, ObedientShop(away=True), asks)
        assert considered.step == HandOff(reason=HandoffReason.POLICY_FORBIDS)
        assert considered.understood is not None
        wanted = await consider(db, ObedientShop(away=True), person)
        assert wanted.step == HandOff(reason=HandoffReason.HANDOFF_REQUESTED)
    assert (await consider(db, ObedientShop(), asks)).step == Answer(topic=Topic.ORDER_STATUS, resource="order:A-10482")


async def test_where_the_bot_may_draft_and_not_answer_a_reply_is_for_review_and_what_would_do_more_is_a_persons(
    db: Database, database: Postgres
) -> None:
    asks, wants = await conversation(db, WORDS), await conversation(db, "I want a refund for my order A-10482.")
    with at_stage(database, "draft_only"):
        considered = await consider(db, ObedientShop(), asks)
        assert (considered.step, considered.for_review) == (
            Answer(topic=Topic.ORDER_STATUS, resource="order:A-10482"),
            True,
        )
        refund = await consider(db, Delivered(), wants)
        assert (refund.step, refund.for_review) == (HandOff(reason=HandoffReason.POLICY_FORBIDS), False)
    assert not (await consider(db, ObedientShop(), asks)).for_review


class Delivered(ObedientShop):
    """A shop whose order has arrived."""

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        found = await super().read_account(tenant_id, customer_id, evidence_id, timeout_s)
        (order,) = found.account.orders
        delivered = order.model_copy(update={"status": "delivered"})
        return found.model_copy(update={"account": Account(orders=(delivered,))})


@contextmanager
def without(database: Postgres, tool: Tool, when: str = "true") -> Iterator[None]:
    """The market under a layer that takes a tool from the bot, and under the base again afterwards."""
    told = {"id": "layer", "version": uuid4().hex, "author": "t", "changed": "x", "tenant": MARKET, "base": "base"}
    manifest = json.dumps({**told, "effective_from": "2025-01-01T00:00:00Z"})
    scope = f'principal == Role::"bot", action == Action::"use_tool", resource == Tool::"{tool.value}"'
    rule = f"forbid ({scope}) when {{ {when} }};"
    base = Bundle.load()
    layer = Bundle.layered(base, {"manifest.json": manifest, "own.cedar": f'@id("own") {rule}'})
    keep(database, layer.digest, layer, MARKET)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        put_in_force(owner, MARKET, layer.digest)
        try:
            yield
        finally:
            put_in_force(owner, MARKET, base.digest)


@pytest.mark.parametrize(
    ("tool", "shop", "unbarred"),
    [(Tool.READ_ACCOUNT, ObedientShop(away=True), Answer), (Tool.PROPOSE, Delivered(), Propose)],
)  # fmt: skip
async def test_what_a_layer_takes_from_the_bot_a_person_does(
    db: Database, database: Postgres, tool: Tool, shop: ObedientShop, unbarred: type[Step]
) -> None:
    said = "Order A-10482 arrived damaged, please refund it." if tool is Tool.PROPOSE else WORDS
    ident = await conversation(db, said)
    with without(database, tool):
        assert (await consider(db, shop, ident)).step == HandOff(reason=HandoffReason.POLICY_FORBIDS)
    shop.away = False
    assert isinstance((await consider(db, shop, ident)).step, unbarred)


async def test_a_layer_that_takes_the_answering_leaves_the_drafting_until_that_is_taken_too(
    db: Database, database: Postgres
) -> None:
    ident = await conversation(db, WORDS)
    with without(database, Tool.ANSWER):
        assert (await consider(db, ObedientShop(), ident)).for_review
    with at_stage(database, "draft_only"), without(database, Tool.DRAFT):
        considered = await consider(db, ObedientShop(away=True), ident)
        assert (considered.step, considered.for_review) == (HandOff(reason=HandoffReason.POLICY_FORBIDS), False)


class Placed(ObedientShop):
    """A shop whose order has not left."""

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        found = await super().read_account(tenant_id, customer_id, evidence_id, timeout_s)
        (order,) = found.account.orders
        return found.model_copy(update={"account": Account(orders=(order.model_copy(update={"status": "placed"}),))})


@pytest.mark.parametrize(("above_minor", "step"), [(499, HandOff), (500, Propose)])
async def test_what_the_bot_may_propose_goes_by_what_is_at_stake_and_not_by_what_was_asked_for(
    db: Database, database: Postgres, above_minor: int, step: type[Step]
) -> None:
    ident = await conversation(db, "Please cancel my order A-10482.")
    at_stake = f'context.kind == "cancel_order" && context.currency == "EUR" && context.amount_minor > {above_minor}'
    with without(database, Tool.PROPOSE, at_stake):
        assert isinstance((await consider(db, Placed(), ident)).step, step)
