"""What a person of the staff proposes over HTTP: through the real actor, a shop that answers, and one rule."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from activities.acting import StaffActing
from domain.account import Account, Evidence
from domain.conversation import EventKind
from domain.fault import Unreachable
from domain.permission import ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.verdict import Judgement, PolicyQuestion
from domain.words import Words
from gateway.app import create_app
from store.database import Database
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Notebook
from tests.store.terms import order, rule
from tests.store.world import Talk

CANCELLED_MAX = 50_000  # the most that people propose to cancel; nothing of it is in their request
REFUND = {"request_id": "p-1", "kind": "refund", "resource": "order:A-1", "amount_minor": 2_000, "currency": "EUR"}


class Shop:
    """A business system that is there, or not."""

    def __init__(self) -> None:
        self.account: Account | None = order()
        self.reads = 0

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        self.reads += 1
        if self.account is None:
            raise Unreachable("shop_unreachable")
        return Evidence(
            evidence_id=evidence_id, source="shop", account=self.account, observed_at=datetime.now(UTC), max_age_s=60
        )


class OneRule:
    """A policy book in which every bundle is the one rule of the tests."""

    async def open(self, tenant_id: str, digest: str) -> None:
        pass

    def judge(self, digest: str, question: PolicyQuestion) -> Judgement:
        return rule(digest, question)

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        return question.kind != "cancel_order" or question.amount_minor <= CANCELLED_MAX


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def app(make_doors: MakeDoors, db: Database, words: Words, shop: Shop) -> FastAPI:
    return create_app(make_doors(acting=StaffActing(db, shop, OneRule(), words, 1_800, 86_400)))


@pytest.fixture
async def held(talk: Talk, agent: VerifiedPrincipal) -> Talk:
    return await talk.taken(agent)


async def propose(caller: Caller, talk: Talk, who: VerifiedPrincipal, **other: Any) -> tuple[int, dict[str, Any]]:
    answer = await caller.post(f"/conversations/{talk.id}/actions", {**REFUND, **other}, who)
    return answer.status_code, answer.json()


async def test_who_holds_the_conversation_proposes_and_the_customer_confirms(
    caller: Caller, held: Talk, agent: VerifiedPrincipal, courier: Notebook
) -> None:
    status, told = await propose(caller, held, agent)
    assert (status, told["state"], told["required_approvals"]) == (201, "awaiting_approval", ["customer"])
    assert told["rules"] == ["rule"]
    assert {wake.operation_id for wake in courier.wakes} == {told["operation_id"], None}
    page = (await caller.get(f"/conversations/{held.id}/events", held.customer)).json()
    (shown,) = [e for e in page["events"] if e["kind"] == "proposal"]
    assert (shown["actor"], shown["payload_digest"], shown["automated"]) == ("staff", told["payload_digest"], False)
    body = {"payload_digest": told["payload_digest"], "decision": "approve"}
    decided = await caller.post(f"/actions/{told['operation_id']}/approvals", body, held.customer)
    assert decided.status_code == 200


async def test_a_repeat_is_answered_from_the_first_answer_also_while_the_shop_is_away(
    caller: Caller, held: Talk, agent: VerifiedPrincipal, shop: Shop
) -> None:
    first = await propose(caller, held, agent)
    shop.account = None
    assert await propose(caller, held, agent) == first
    status, told = await propose(caller, held, agent, amount_minor=2_001)
    assert (status, told["type"].rpartition("/")[2]) == (409, "request-conflict")
    assert shop.reads == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"resource": "order:A-9"}, "a refund of 'order' cannot be proposed"),
        ({"amount_minor": None}, "an amount of at least one minor unit"),
        ({"kind": "store_credit"}, "the customer's own account"),
        ({"kind": "cancel_order"}, "needs a reason: no_longer_needed, ordered_by_mistake"),
    ],
)
async def test_what_does_not_fit_the_account_says_what_would(
    wrong: dict[str, Any], says: str, caller: Caller, held: Talk, agent: VerifiedPrincipal
) -> None:
    status, told = await propose(caller, held, agent, **wrong)
    assert (status, told["type"].rpartition("/")[2]) == (422, "not-proposable")
    assert says in told["detail"]


async def test_what_is_at_stake_is_known_from_the_account_and_barred_by_the_role(
    caller: Caller, held: Talk, agent: VerifiedPrincipal, shop: Shop
) -> None:
    cancelling = {"kind": "cancel_order", "reason": "no_longer_needed", "amount_minor": None, "currency": None}
    status, told = await propose(caller, held, agent, **cancelling)
    assert (status, told["type"].rpartition("/")[2]) == (403, "forbidden")
    assert "does not let the role agent propose that" in told["detail"]
    shop.account = order(refunded=90_000 - CANCELLED_MAX)
    assert (await propose(caller, held, agent, **cancelling, request_id="p-2"))[0] == 201


async def test_what_policy_forbids_names_its_rules_and_stands_in_the_ledger(
    caller: Caller, held: Talk, agent: VerifiedPrincipal
) -> None:
    status, told = await propose(caller, held, agent, amount_minor=50_001)
    assert (status, told["type"].rpartition("/")[2], told["rules"]) == (409, "policy-forbids", ["rule"])
    action = (await caller.get(f"/actions/{told['operation_id']}", agent)).json()
    assert [move["cause"] for move in action["history"]] == ["proposed", "denied"]
    again = (await propose(caller, held, agent, amount_minor=50_001))[1]
    assert (again["operation_id"], again["rules"]) == (told["operation_id"], told["rules"])
    assert not await held.log(EventKind.PROPOSAL)


async def test_what_is_in_flight_is_named(caller: Caller, talk: Talk, agent: VerifiedPrincipal) -> None:
    operation_id = await talk.unknown()
    await talk.take_over(agent)
    status, told = await propose(caller, talk, agent)
    assert (status, told["type"].rpartition("/")[2], told["operation_id"]) == (409, "action-in-flight", operation_id)


async def test_it_is_for_the_holder_and_hidden_from_whoever_does_not_see_the_conversation(
    caller: Caller,
    talk: Talk,
    agent: VerifiedPrincipal,
    manager: VerifiedPrincipal,
    service: VerifiedPrincipal,
    make_customer: Callable[..., VerifiedPrincipal],
) -> None:
    assert (await propose(caller, talk, agent))[1]["type"].endswith("not-owned")
    await talk.taken(agent)
    assert (await propose(caller, talk, manager))[1]["owner"] == "human"
    assert (await propose(caller, talk, talk.customer))[0] == 403
    assert (await propose(caller, talk, service))[0] == 403
    assert (await propose(caller, talk, make_customer(talk.tenant)))[0] == 404


async def test_a_shop_that_is_away_is_said_to_be_and_nothing_is_proposed(
    caller: Caller, held: Talk, agent: VerifiedPrincipal, shop: Shop
) -> None:
    shop.account = None
    status, told = await propose(caller, held, agent)
    assert (status, told["retry_after_s"]) == (503, 5)
    shop.account = order()
    assert (await propose(caller, held, agent))[0] == 201


async def test_a_visitor_has_no_account(
    caller: Caller, db: Database, words: Words, visitor: VerifiedPrincipal, agent: VerifiedPrincipal
) -> None:
    theirs = await Talk(db, words, visitor).begin()
    await theirs.take_over(agent)
    status, told = await propose(caller, theirs, agent)
    assert (status, "no account" in told["detail"]) == (422, True)


async def test_a_revoked_person_is_refused_at_once_and_what_they_asked_for_is_not_carried_out(
    caller: Caller, held: Talk, agent: VerifiedPrincipal, owner: psycopg.Connection[Any]
) -> None:
    operation_id = (await propose(caller, held, agent))[1]["operation_id"]
    await held.decide(operation_id)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", (held.tenant, agent.id))
    assert (await propose(caller, held, agent, request_id="p-2"))[0] == 401
    assert (await held.reserve(operation_id)).value == "rejected"


@pytest.mark.parametrize(
    "wrong",
    [
        {"resource": "A-1"},
        {"resource": "order:"},
        {"resource": "order:\x00"},
        {"amount_minor": 0},
        {"amount_minor": 10**30},
        {"amount_minor": "20"},
        {"currency": "eur"},
        {"kind": "give_away"},
        {"item_ids": ["x"] * 101},
        {"reason": "I say so!"},
        {"seen_version": -1},
        {"unknown": 1},
    ],
)
async def test_what_is_no_action_is_refused_before_anything_is_read(
    wrong: dict[str, Any], caller: Caller, held: Talk, agent: VerifiedPrincipal, shop: Shop
) -> None:
    assert (await propose(caller, held, agent, **wrong))[0] == 422
    assert shop.reads == 0
