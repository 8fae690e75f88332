"""Who is believed to be who: tokens, keys, and standing that is looked up."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import gateway
from domain.principal import PrincipalKind, VerifiedPrincipal
from gateway.app import create_app
from gateway.keys import FILE_PACE, KeySet, Pace, Unread, parse
from tests.conftest import MakeCustomer, MakeStaff
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.gateway.issuer import Issuer, encoded, hs256, new_key, public_jwk, unsigned
from tests.store.world import Talk

EAGER = Pace(refresh_s=0.0, retry_s=0.0, trusted_s=0.0)


async def status(caller: Caller, token: str | None, talk: Talk) -> int:
    return (await caller.get(f"/conversations/{talk.id}", token)).status_code


async def test_a_valid_token_is_believed(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    assert await status(caller, issuer.token(talk.customer), talk) == 200


async def test_no_token_is_nobody(caller: Caller, talk: Talk) -> None:
    assert await status(caller, None, talk) == 401
    for header in ("", "Bearer", "Bearer ", "Basic YTpi", "Bearer  \t", "bearer a b"):
        answer = await caller.get(f"/conversations/{talk.id}", headers={"Authorization": header})
        assert answer.status_code == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": 1},
        {"exp": None},
        {"exp": "soon"},
        {"exp": 10**400},
        {"exp": [1]},
        {"iat": None},
        {"iat": 4_000_000_000},
        {"nbf": 4_000_000_000},
        {"aud": "somebody-else"},
        {"aud": None},
        {"aud": []},
        {"iss": "somebody-else"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "a\x00b"},
        {"sub": "x" * 201},
        {"sub": 7},
        {"tenant": None},
        {"tenant": "UPPER"},
        {"tenant": "a b"},
        {"tenant": "no-such-tenant"},
        {"kind": None},
        {"kind": "root"},
        {"kind": ["staff"]},
    ],
    ids=str,
)
async def test_a_token_that_is_wrong_in_one_claim_is_refused(
    caller: Caller, issuer: Issuer, talk: Talk, changed: dict[str, Any]
) -> None:
    assert await status(caller, issuer.token(talk.customer, **changed), talk) == 401


async def test_a_clock_that_is_a_little_off_is_forgiven(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    now = int(time.time())
    for skewed in ({"exp": now - 20}, {"iat": now + 20, "nbf": now + 20}):
        assert await status(caller, issuer.token(talk.customer, **skewed), talk) == 200
    for skewed in ({"exp": now - 40}, {"iat": now + 50}, {"nbf": now + 50}):
        assert await status(caller, issuer.token(talk.customer, **skewed), talk) == 401


async def test_alg_none_is_refused(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    assert await status(caller, unsigned(issuer.claims(talk.customer), issuer.kid), talk) == 401


async def test_a_public_key_is_no_hmac_secret(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    public = issuer.keys[issuer.kid][0].public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for secret in (json.dumps(public_jwk(issuer.keys[issuer.kid][0], issuer.kid, "ES256")), pem, ""):
        forged = hs256(issuer.claims(talk.customer), issuer.kid, secret)
        assert await status(caller, forged, talk) == 401


async def test_another_signature_is_refused(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    claims, headers = issuer.claims(talk.customer), {"kid": issuer.kid}
    for algorithm in ("ES256", "RS256", "EdDSA"):
        forged = jwt.encode(claims, new_key(algorithm), algorithm=algorithm, headers=headers)
        assert await status(caller, forged, talk) == 401
    right = issuer.token(talk.customer)
    body = encoded(json.dumps({**claims, "kind": "staff"}))
    assert await status(caller, ".".join([right.split(".")[0], body, right.split(".")[2]]), talk) == 401


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "abc.def.ghi",
        "..",
        "a" * 9_000,
        encoded("[" * 5_000) + ".e30.x",
        encoded('{"kid":7,"alg":"ES256"}') + ".e30.x",
    ],
    ids=["x", "letters", "dots", "long", "deep", "kid"],
)
async def test_garbage_is_nobody(caller: Caller, talk: Talk, token: str) -> None:
    assert await status(caller, token, talk) == 401


async def test_every_kind_of_key_signs(make_doors: MakeDoors, calling: Any, issuer: Issuer, talk: Talk) -> None:
    async with calling(create_app(make_doors(pace=EAGER))) as caller:
        for algorithm in ("RS256", "EdDSA", "ES256"):
            issuer.rotate(algorithm)
            assert await status(caller, issuer.token(talk.customer), talk) == 200


async def test_rotation_needs_no_restart(caller: Caller, issuer: Issuer, talk: Talk) -> None:
    old = issuer.token(talk.customer)
    assert await status(caller, old, talk) == 200
    issuer.rotate()
    new = issuer.token(talk.customer)
    await asyncio.sleep(0.3)
    assert [await status(caller, token, talk) for token in (new, old)] == [200, 200]
    issuer.rotate(keep=False)
    await asyncio.sleep(1.1)
    assert await status(caller, old, talk) == 401
    assert await status(caller, issuer.token(talk.customer), talk) == 200


async def test_keys_outlive_a_key_set_that_is_gone_for_a_while(
    make_doors: MakeDoors, calling: Any, issuer: Issuer, talk: Talk
) -> None:
    async with calling(create_app(make_doors(pace=EAGER))) as caller:
        token = issuer.token(talk.customer)
        assert await status(caller, token, talk) == 200
        for broken in ("", "{}", '{"keys": []}', '{"keys": [7]}', "[" * 100_000):
            issuer.path.write_text(broken)
            assert await status(caller, token, talk) == 200
        issuer.path.unlink()
        assert await status(caller, token, talk) == 200


async def test_without_any_key_nobody_is_turned_away_for_good(
    make_doors: MakeDoors, calling: Any, issuer: Issuer, talk: Talk
) -> None:
    issuer.path.unlink()
    async with calling(create_app(make_doors(pace=EAGER))) as caller:
        answer = await caller.get(f"/conversations/{talk.id}", talk.customer)
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (503, "unavailable")
        issuer.publish()
        assert await status(caller, issuer.token(talk.customer), talk) == 200


async def test_unknown_keys_do_not_make_the_key_set_be_read_at_every_request(issuer: Issuer) -> None:
    reads = 0

    async def read() -> bytes:
        nonlocal reads
        reads += 1
        return issuer.path.read_bytes()

    keys = KeySet(read, FILE_PACE)
    for _ in range(200):
        assert await keys.find(uuid4().hex) is None
    assert reads <= 3


async def test_weak_foreign_and_encryption_keys_are_left_out() -> None:
    good = public_jwk(new_key(), "good", "ES256")
    small = public_jwk(rsa.generate_private_key(65_537, 1_024), "small", "RS256")
    others = [
        {**good, "kid": "enc", "use": "enc"},
        {**good, "kid": "other-alg", "alg": "ES512"},
        {"kty": "oct", "k": encoded("secret" * 8), "kid": "secret"},
        {**good, "kid": "broken", "x": "!"},
        small,
    ]
    assert set(parse(json.dumps({"keys": [*others, good]}).encode())) == {"good"}
    with pytest.raises(Unread):
        parse(json.dumps({"keys": others}).encode())


async def test_revoked_staff_are_out_at_once(
    caller: Caller, agent: VerifiedPrincipal, talk: Talk, owner: psycopg.Connection[Any]
) -> None:
    token = caller.issuer.token(agent)
    assert await status(caller, token, talk) == 200
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = %s", (agent.tenant_id, agent.id))
    assert await status(caller, token, talk) == 401


async def test_staff_that_nobody_hired_are_nobody(caller: Caller, tenant: str, talk: Talk) -> None:
    stranger = VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.STAFF, id="stranger")
    assert await status(caller, caller.issuer.token(stranger), talk) == 401


async def test_a_role_is_looked_up_and_not_read(
    caller: Caller, agent: VerifiedPrincipal, talk: Talk, owner: psycopg.Connection[Any]
) -> None:
    operation_id = await talk.proposed(20_000)
    body = {"payload_digest": (await talk.action(operation_id)).payload_digest, "decision": "approve"}
    boastful = caller.issuer.token(agent, role="manager", roles=["manager", "admin"], scope="admin")
    path = f"/actions/{operation_id}/approvals"
    assert (await caller.post(path, body, boastful)).json()["type"].endswith("approval-not-allowed")
    owner.execute("UPDATE staff SET role = 'manager' WHERE tenant_id = %s AND id = %s", (agent.tenant_id, agent.id))
    assert (await caller.post(path, body, boastful)).status_code == 200


async def test_a_blocked_customer_is_told_so(caller: Caller, talk: Talk, owner: psycopg.Connection[Any]) -> None:
    assert await status(caller, caller.issuer.token(talk.customer), talk) == 200
    owner.execute("UPDATE customers SET status = 'blocked' WHERE id = %s", (talk.customer.id,))
    answer = await caller.get(f"/conversations/{talk.id}", talk.customer)
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (403, "customer-blocked")


async def test_identity_comes_from_nowhere_but_the_token(
    caller: Caller, talk: Talk, make_customer: MakeCustomer, make_staff: MakeStaff
) -> None:
    stranger = make_customer(talk.tenant)
    headers = {"X-Tenant": talk.tenant, "X-User": talk.customer.id, "X-Principal": talk.customer.key, "X-Role": "admin"}
    query = f"?tenant={talk.tenant}&sub={talk.customer.id}&kind=staff&token={caller.issuer.token(talk.customer)}"
    answer = await caller.get(f"/conversations/{talk.id}{query}", stranger, headers=headers)
    assert answer.status_code == 404
    assert (await caller.get(f"/conversations/{talk.id}{query}", headers=headers)).status_code == 401
    for name in ("tenant", "sub", "customer_id", "principal", "kind", "role"):
        body = {"client_message_id": "m", "text": "x", name: talk.customer.id}
        assert (await caller.post(f"/conversations/{talk.id}/messages", body, stranger)).status_code == 422


def test_a_principal_is_minted_in_one_function_only() -> None:
    sources = list(Path(next(iter(gateway.__path__))).rglob("*.py"))
    made = re.compile(r"(?<!class )\b(?:Caller|VerifiedPrincipal)\(")
    minted = [path.name for path in sources for _ in made.findall(path.read_text())]
    assert minted == ["identity.py"]
