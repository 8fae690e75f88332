"""Signing in at the api itself: whom a tenant vouches for, visitors, a demo's people, and how far a cookie goes."""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from fastapi import FastAPI

from domain.principal import PrincipalKind, VerifiedPrincipal
from gateway.admission import SESSION_COOKIE
from gateway.app import create_app
from gateway.identity import TokenVerifier
from gateway.keys import FILE_PACE, KeySet, file_reader
from gateway.own_tokens import KID, OwnTokens
from tests.conftest import MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.gateway.issuer import AUDIENCE, ISSUER, Issuer, hs256
from tests.store.world import Talk

SECRET = "s" * 64
OWN = OwnTokens(SECRET, ISSUER, AUDIENCE)
WIDGET = "w" * 64
Calling = Callable[[FastAPI], AbstractAsyncContextManager[Caller]]


@pytest.fixture
async def signing(
    make_doors: MakeDoors, calling: Calling, issuer: Issuer, tenant: str, agent: VerifiedPrincipal, tmp_path: Path
) -> AsyncIterator[Caller]:
    """A gateway that signs sessions, for a demo whose people are one agent and one customer."""
    people = {"id": tenant, "name": "A", "kind": "saas", "customers": [{"id": "c-1", "name": "C"}]}
    people["staff"] = [{"id": agent.id, "name": "S", "role": "agent"}]
    file = tmp_path / "people.json"
    file.write_text(json.dumps({"tenants": [people]}))

    async def secrets(of: str, name: str) -> str | None:
        return WIDGET if (of, name) == (tenant, "widget") else None

    here = "http://127.0.0.1:8080"  # a demo is on this machine
    doors = make_doors(dev_people_file=file, sessions_per_minute_max=20, api_public_url=here)
    verifier = TokenVerifier(KeySet(file_reader(issuer.path), FILE_PACE), ISSUER, AUDIENCE, OWN)
    async with calling(create_app(replace(doors, own_tokens=OWN, verifier=verifier, secrets=secrets))) as caller:
        yield caller


def vouched(secret: str = WIDGET, algorithm: str = "HS256", **changed: Any) -> str:
    claims = {"sub": "c-7", "exp": int(time.time()) + 600, **changed}
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, secret, algorithm=algorithm)


async def test_whom_the_tenant_vouches_for_gets_a_session_of_their_own(signing: Caller, tenant: str) -> None:
    begun = (await signing.post("/sessions", {"tenant": tenant, "identity": vouched()})).json()
    assert (begun["kind"], begun["id"]) == ("customer", "c-7")
    opened = await signing.post("/conversations", {}, begun["token"])
    assert opened.status_code == 201
    me = (await signing.get("/me", begun["token"])).json()
    assert (me["id"], me["tenant"], me["role"]) == ("c-7", tenant, None)
    assert "confirm_own" in me["tools"]
    assert "take_over" not in me["tools"]


@pytest.mark.parametrize(
    "identity",
    [
        vouched("x" * 64),
        vouched(exp=1),
        vouched(exp=None),
        vouched(exp=int(time.time()) + 200_000),
        vouched(exp="soon"),
        vouched(sub=None),
        vouched(sub=""),
        vouched(sub=7),
        vouched(sub="c\x007"),
        vouched(sub="c" * 201),
        vouched(algorithm="HS512"),
        "a.b.c",
        "",
        "é" * 50,
    ],
)
async def test_nobody_is_vouched_for_by_anything_else(signing: Caller, tenant: str, identity: str) -> None:
    answer = await signing.post("/sessions", {"tenant": tenant, "identity": identity})
    assert answer.status_code == 401


async def test_without_a_secret_nobody_is_vouched_for(signing: Caller, make_tenant: MakeTenant) -> None:
    for secret in (WIDGET, "x" * 64):
        told = {"tenant": make_tenant(), "identity": vouched(secret)}
        assert (await signing.post("/sessions", told)).status_code == 401


async def test_every_visitor_is_another(signing: Caller, tenant: str) -> None:
    first, second = [(await signing.post("/sessions", {"tenant": tenant})).json() for _ in range(2)]
    assert first["kind"] == second["kind"] == "anonymous"
    opened = (await signing.post("/conversations", {}, first["token"])).json()
    assert (await signing.get(f"/conversations/{opened['id']}", second["token"])).status_code == 404


async def test_there_are_no_sessions_with_organisations_that_are_none(signing: Caller) -> None:
    for name in ("no-such-tenant", "../x", "a b", "\u0130"):
        assert (await signing.post("/sessions", {"tenant": name})).status_code == 404


async def test_a_demo_lets_in_its_own_people_and_nobody_else(
    signing: Caller, tenant: str, agent: VerifiedPrincipal, make_tenant: MakeTenant
) -> None:
    begun = await signing.post("/sessions/dev", {"tenant": tenant, "kind": "staff", "id": agent.id})
    assert (await signing.get("/queue", begun.json()["token"])).status_code == 200
    for who in (
        {"tenant": tenant, "kind": "staff", "id": "c-1"},
        {"tenant": tenant, "kind": "customer", "id": agent.id},
        {"tenant": make_tenant(), "kind": "staff", "id": agent.id},
    ):
        assert (await signing.post("/sessions/dev", who)).status_code == 404


async def test_where_there_is_no_demo_nobody_signs_in_without_a_password(caller: Caller, tenant: str) -> None:
    assert (await caller.get("/sessions/people")).status_code == 404
    assert (await caller.post("/sessions/dev", {"tenant": tenant, "kind": "staff", "id": "x"})).status_code == 404
    assert (await caller.post("/sessions", {"tenant": tenant})).status_code == 503  # no key to sign with


async def test_sessions_have_a_rate_of_their_own(signing: Caller, tenant: str, customer: VerifiedPrincipal) -> None:
    answers = [await signing.post("/sessions", {"tenant": tenant}) for _ in range(21)]
    assert [a.status_code for a in answers[-2:]] == [201, 429]
    assert (await signing.post("/conversations", {}, customer)).status_code == 201


async def test_a_crowd_of_visitors_shuts_out_nobody_whom_the_tenant_vouches_for(signing: Caller, tenant: str) -> None:
    for identity in (None, vouched("x" * 64)):
        crowd = [await signing.post("/sessions", {"tenant": tenant, "identity": identity}) for _ in range(21)]
        assert crowd[-1].status_code == 429
    assert (await signing.post("/sessions", {"tenant": tenant, "identity": vouched()})).status_code == 201
    again = [await signing.post("/sessions", {"tenant": tenant, "identity": vouched()}) for _ in range(20)]
    assert again[-1].status_code == 429
    assert (await signing.post("/sessions", {"tenant": tenant, "identity": vouched(sub="c-8")})).status_code == 201


async def test_who_is_blocked_gets_no_session_whoever_vouches_for_them(
    signing: Caller, tenant: str, owner: Any
) -> None:
    owner.execute("INSERT INTO customers (tenant_id, id, status) VALUES (%s, 'c-7', 'blocked')", (tenant,))
    answer = await signing.post("/sessions", {"tenant": tenant, "identity": vouched()})
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (403, "customer-blocked")


async def test_a_cookie_reads_and_changes_nothing(
    signing: Caller, tenant: str, agent: VerifiedPrincipal, talk: Talk
) -> None:
    token = OWN.mint(tenant, PrincipalKind.STAFF, agent.id, time.time(), 60).token
    cookie = {"Cookie": f"{SESSION_COOKIE}={token}"}
    assert (await signing.get(f"/conversations/{talk.id}", headers=cookie)).status_code == 200
    taken = await signing.post(f"/conversations/{talk.id}/takeover", {"request_id": "t"}, headers=cookie)
    assert taken.status_code == 401
    assert (await signing.ask("DELETE", "/actions/x/claim", headers=cookie)).status_code == 401
    wrong = {**cookie, "Authorization": "Bearer a.b.c"}
    assert (await signing.get(f"/conversations/{talk.id}", headers=wrong)).status_code == 401


async def test_a_session_is_signed_with_its_own_secret_and_algorithm(
    signing: Caller, caller: Caller, issuer: Issuer, agent: VerifiedPrincipal
) -> None:
    claims = issuer.claims(agent)
    assert (await signing.get("/me", hs256(claims, KID, SECRET))).status_code == 200
    for token in (
        hs256(claims, KID, "t" * 64),
        hs256(claims, issuer.kid, SECRET),
        hs256({**claims, "exp": 1}, KID, SECRET),
        hs256({**claims, "aud": "other"}, KID, SECRET),
        issuer.signed(claims, kid=KID),
        jwt.encode(claims, SECRET, algorithm="HS512", headers={"kid": KID}),
    ):
        assert (await signing.get("/me", token)).status_code == 401
    assert (await caller.get("/me", hs256(claims, KID, SECRET))).status_code == 401  # it signs no sessions


async def test_a_session_ends_with_the_standing_of_its_bearer(
    signing: Caller, tenant: str, agent: VerifiedPrincipal, owner: Any
) -> None:
    token = OWN.mint(tenant, PrincipalKind.STAFF, agent.id, time.time(), 60).token
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = %s", (tenant, agent.id))
    assert (await signing.get("/me", token)).status_code == 401
