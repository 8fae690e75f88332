"""Webhooks over HTTP: made by who manages the organisation, their secret shown once, deliveries seen by staff."""

import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from domain.principal import StaffRole, VerifiedPrincipal
from gateway.app import create_app
from store.database import Database
from store.secrets import Vault, secret_of
from store.webhooks import WEBHOOKS_MAX, secret_name
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.store.world import Talk

VAULT = Vault("a key of the tests' own, long enough")
GOOD = {"url": "https://desk.example.com/hooks", "types": ["reply", "handoff"]}


@pytest.fixture
async def caller(
    make_doors: MakeDoors, calling: Callable[[FastAPI], AbstractAsyncContextManager[Caller]]
) -> AsyncIterator[Caller]:
    async with calling(create_app(dataclasses.replace(make_doors(), vault=VAULT))) as one:
        yield one


@pytest.fixture
def admin(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.ADMIN)


async def test_the_secret_is_in_the_first_answer_and_in_no_other(
    caller: Caller, db: Database, admin: VerifiedPrincipal, owner: psycopg.Connection[Any]
) -> None:
    key = {"Idempotency-Key": "once"}
    made = await caller.post("/webhooks", GOOD, admin, headers=key)
    assert made.status_code == 201
    secret, ident = made.json()["secret"], made.json()["id"]
    assert secret == await secret_of(db, VAULT, admin.tenant_id, secret_name(ident))
    again = await caller.post("/webhooks", GOOD, admin, headers=key)
    assert (again.status_code, again.json()) == (201, {**made.json(), "secret": None})
    listed = await caller.get("/webhooks", admin)
    assert [one["id"] for one in listed.json()["items"]] == [ident]
    assert secret not in listed.text
    for table in ("webhooks", "tenant_secrets", "idempotency_keys"):
        rows = owner.execute(f"SELECT to_jsonb(x)::text FROM {table} x WHERE tenant_id = %s", (admin.tenant_id,))
        assert all(secret not in row for (row,) in rows)


async def test_only_who_manages_the_organisation_makes_removes_and_replays(
    caller: Caller, agent: VerifiedPrincipal, manager: VerifiedPrincipal, customer: VerifiedPrincipal
) -> None:
    for who in (agent, manager, customer):
        for answer in (
            await caller.post("/webhooks", GOOD, who),
            await caller.get("/webhooks", who),
            await caller.ask("DELETE", "/webhooks/wh-1", who),
            await caller.post("/webhooks/deliveries/1/replays", None, who),
        ):
            assert answer.status_code == 403
    assert (await caller.get("/webhooks/deliveries", customer)).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "http://desk.example.com/"},
        {"url": "https://169.254.169.254/"},
        {"url": "https://u:p@desk.example.com/"},
        {"url": "x"},
        {"url": "https://desk.example.com/\x00"},
        {"types": []},
        {"types": ["reply", "reply"]},
        {"types": ["money"]},
        {"active": "yes"},
        {"more": 1},
    ],
)
async def test_a_webhook_that_cannot_be_told_is_refused(
    caller: Caller, admin: VerifiedPrincipal, changed: dict[str, Any]
) -> None:
    answer = await caller.post("/webhooks", {**GOOD, **changed}, admin)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith("body")


async def test_an_organisation_has_only_so_many(caller: Caller, admin: VerifiedPrincipal) -> None:
    for _ in range(WEBHOOKS_MAX):
        assert (await caller.post("/webhooks", GOOD, admin)).status_code == 201
    assert (await caller.post("/webhooks", GOOD, admin)).status_code == 409
    ident = (await caller.get("/webhooks", admin)).json()["items"][0]["id"]
    assert (await caller.ask("DELETE", f"/webhooks/{ident}", admin)).json() == {"id": ident}
    assert (await caller.ask("DELETE", f"/webhooks/{ident}", admin)).status_code == 404
    assert (await caller.post("/webhooks", GOOD, admin)).status_code == 201


async def test_staff_see_whether_the_customer_was_told_and_nobody_of_another_organisation(
    caller: Caller,
    admin: VerifiedPrincipal,
    agent: VerifiedPrincipal,
    talk: Talk,
    make_tenant: MakeTenant,
    make_staff: MakeStaff,
) -> None:
    await caller.post("/webhooks", GOOD, admin)
    await talk.say()
    await talk.publish()
    await talk.take_over(agent)
    where = f"/webhooks/deliveries?conversation_id={talk.id}"
    found = (await caller.get(where, agent)).json()["items"]
    assert [(d["type"], d["state"]) for d in found] == [
        ("reply", "waiting"),
        ("handoff", "waiting"),
        ("reply", "waiting"),
    ]
    page = (await caller.get(f"{where}&limit=2", agent)).json()
    rest = (await caller.get(f"{where}&limit=2&cursor={page['next_cursor']}", agent)).json()
    assert (page["items"] + rest["items"], rest["next_cursor"]) == (found, None)
    stranger = make_staff(make_tenant(), StaffRole.ADMIN)
    assert (await caller.get(where, stranger)).json()["items"] == []
    replay = f"/webhooks/deliveries/{found[0]['id']}/replays"
    assert (await caller.post(replay, None, stranger)).status_code == 404
    assert (await caller.post(replay, None, admin)).json()["state"] == "waiting"
    for nothing in ("0", "x", "9" * 30, "-1", "1.5", "²"):
        assert (await caller.post(f"/webhooks/deliveries/{nothing}/replays", None, admin)).status_code == 404


async def test_what_its_webhook_takes_no_more_is_not_replayed(
    caller: Caller, admin: VerifiedPrincipal, talk: Talk
) -> None:
    ident = (await caller.post("/webhooks", GOOD, admin)).json()["id"]
    await talk.say()
    await talk.publish()
    await caller.ask("DELETE", f"/webhooks/{ident}", admin)
    (dead,) = (await caller.get("/webhooks/deliveries?state=dead", admin)).json()["items"]
    assert dead["last_fault"] == "removed"
    assert (await caller.post(f"/webhooks/deliveries/{dead['id']}/replays", None, admin)).status_code == 409


async def test_without_a_key_for_secrets_no_webhook_is_made(
    make_doors: MakeDoors,
    calling: Callable[[FastAPI], AbstractAsyncContextManager[Caller]],
    admin: VerifiedPrincipal,
) -> None:
    async with calling(create_app(make_doors())) as caller:
        assert (await caller.post("/webhooks", GOOD, admin)).status_code == 503
