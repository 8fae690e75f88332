"""A request that is repeated under its Idempotency-Key is done once, and answered with the first answer."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import sqlalchemy as sa

from domain.principal import VerifiedPrincipal
from gateway.app import create_app
from gateway.idempotency import LEASE_S
from store import admission
from store.database import Database
from tests.conftest import MakeCustomer
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.store.world import Talk


async def begin(caller: Caller, who: VerifiedPrincipal, key: str, body: Any = None) -> httpx.Response:
    return await caller.post("/conversations", body or {}, who, headers={"Idempotency-Key": key})


def slug(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).rpartition("/")[2]


async def test_a_repeat_gets_the_first_answer_and_is_marked(caller: Caller, customer: VerifiedPrincipal) -> None:
    first, again = await begin(caller, customer, "k"), await begin(caller, customer, "k")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["request-id"] != first.headers["request-id"]


async def test_another_request_under_the_same_key_is_a_conflict(caller: Caller, talk: Talk) -> None:
    headers = {"Idempotency-Key": "k"}
    path, body = f"/conversations/{talk.id}/messages", {"client_message_id": "m", "text": "x"}
    assert (await caller.post(path, body, talk.customer, headers=headers)).status_code == 202
    for other_path, other_body in ((path, {**body, "text": "y"}), ("/conversations", body), (f"{path}?a=1", body)):
        answer = await caller.post(other_path, other_body, talk.customer, headers=headers)
        assert (answer.status_code, slug(answer)) == (409, "idempotency-conflict")
    assert len(await talk.log()) == 1


async def test_keys_belong_to_their_principal(
    caller: Caller, customer: VerifiedPrincipal, visitor: VerifiedPrincipal, make_customer: MakeCustomer
) -> None:
    people = (customer, visitor, make_customer(customer.tenant_id))
    assert len({(await begin(caller, who, "k")).json()["id"] for who in people}) == 3


async def test_ten_at_once_are_one(caller: Caller, customer: VerifiedPrincipal) -> None:
    answers = await asyncio.gather(*(begin(caller, customer, "k") for _ in range(10)))
    done = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.json()["id"] for answer in done}) == 1
    for answer in answers:
        if answer not in done:
            assert (answer.status_code, slug(answer)) == (409, "idempotency-in-progress")
            assert answer.headers["retry-after"] == "1"
    found = await caller.post("/conversations/search", {}, customer)
    assert len(found.json()["items"]) == 1


async def test_a_refusal_is_an_answer_and_is_kept(caller: Caller, talk: Talk, agent: VerifiedPrincipal) -> None:
    headers, body = {"Idempotency-Key": "k"}, {"client_message_id": "m", "text": "x"}
    path = f"/conversations/{talk.id}/replies"
    first = await caller.post(path, body, agent, headers=headers)
    await talk.take_over(agent)
    again = await caller.post(path, body, agent, headers=headers)
    assert (first.status_code, slug(first)) == (409, "not-owned")
    assert first.json() == again.json()
    assert again.headers["content-type"] == "application/problem+json"
    for n, bad in enumerate((b"{", b"{}", b'{"x": "half \\ud800"}')):
        headers = {"Idempotency-Key": f"bad-{n}", "Content-Type": "application/json"}
        answers = [await caller.post(path, who=agent, content=bad, headers=headers) for _ in "12"]
        assert {answer.status_code for answer in answers} <= {400, 422}
        assert answers[1].headers["idempotent-replayed"] == "true"


async def test_what_may_pass_by_itself_is_not_kept(make_doors: MakeDoors, calling: Any, talk: Talk) -> None:
    async with calling(create_app(make_doors(unanswered_messages_max=1))) as caller:
        path, body = f"/conversations/{talk.id}/messages", {"client_message_id": "m2", "text": "x"}
        await talk.say()
        full = await caller.post(path, body, talk.customer, headers={"Idempotency-Key": "k"})
        assert (full.status_code, slug(full)) == (429, "queue-full")
        await talk.publish()
        taken = await caller.post(path, body, talk.customer, headers={"Idempotency-Key": "k"})
        assert (taken.status_code, taken.headers.get("idempotent-replayed")) == (202, None)


async def test_a_key_that_is_none_is_refused(caller: Caller, customer: VerifiedPrincipal) -> None:
    for key in ("", "a b", "x" * 256, "é"):
        answer = await begin(caller, customer, key)
        assert (answer.status_code, slug(answer)) == (400, "bad-idempotency-key")


async def test_a_request_that_died_is_made_again_and_begins_the_same_conversation(
    caller: Caller, customer: VerifiedPrincipal, db: Database, talk: Talk
) -> None:
    key = uuid4().hex
    first = (await begin(caller, customer, key)).json()["id"]
    values = {"k": key, "then": datetime.now(UTC) - timedelta(seconds=LEASE_S + 1)}
    async with db.transaction(customer.tenant_id) as tx:
        await tx.execute(
            sa.text("UPDATE idempotency_keys SET status = NULL, created_at = :then WHERE key = :k"), values
        )
    again = await begin(caller, customer, key)
    assert (again.status_code, again.json()["id"], again.headers.get("idempotent-replayed")) == (201, first, None)


async def test_keys_are_kept_for_a_day_and_not_for_ever(
    caller: Caller, customer: VerifiedPrincipal, db: Database
) -> None:
    now = datetime.now(UTC)
    for key, age in (("young", timedelta(hours=25)), ("old", timedelta(hours=49))):
        args = (db, customer.tenant_id, customer.key, key)
        await admission.begin_request(*args, "digest", now - age, LEASE_S)
        await admission.finish_request(*args, 201, {"body": {}, "media_type": "application/json", "location": None})
    await begin(caller, customer, "new")
    for key, known in (("young", True), ("old", False)):
        found = await admission.begin_request(db, customer.tenant_id, customer.key, key, "digest", now, LEASE_S)
        assert (found is not None) is known
