"""Policy over HTTP: shown to staff, changed by whom policy lets, whole or not at all, and in nobody's way."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from domain.principal import StaffRole, VerifiedPrincipal
from gateway.app import create_app
from store.database import Database
from store.policies import in_force, publications
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Publish
from tests.publishing.books import BOOK, STRICTER, layer, now

PUBLISHERS = (StaffRole.MANAGER, StaffRole.ADMIN)


@pytest.fixture
def tenant(make_tenant: MakeTenant, publish: Publish) -> str:
    """A tenant under the small base."""
    made = make_tenant()
    publish(made, BOOK)
    return made


def slug(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).rpartition("/")[2]


def body(tenant: str, rules: str = STRICTER, **manifest: Any) -> dict[str, Any]:
    return {"files": layer(tenant, rules, **manifest), "note": "less risk"}


async def test_whoever_publishes_is_told_of_permits_that_ask_nobody(
    caller: Caller, tenant: str, manager: VerifiedPrincipal
) -> None:
    generous = (
        '@id("gifts") permit (principal, action == Action::"refund", resource) when { context.amount_minor < 9 };'
    )
    done = await caller.post("/policy/publications", body(tenant, generous), manager)
    (told,) = done.json()["unasked"]
    assert told.startswith("refund: gifts lets through, approved by nobody: ")


async def test_a_layer_is_published_shown_and_taken_back(
    caller: Caller, tenant: str, manager: VerifiedPrincipal, agent: VerifiedPrincipal
) -> None:
    done = await caller.post("/policy/publications", body(tenant), manager)
    assert (done.status_code, done.json()["publication"]["published_by"]) == (201, manager.key)
    assert any("small-refunds-only-up-to-ten forbids" in told for told in done.json()["conflicts"])
    assert done.json()["unasked"] == []
    digest = done.json()["publication"]["digest"]
    stands = (await caller.get("/policy", agent)).json()
    assert (stands["in_force"], stands["publications"][0]["note"]) == (digest, "less risk")
    shown = (await caller.get(f"/policy/bundles/{digest}", agent)).json()
    assert (shown["files"]["limits.cedar"], shown["base_files"]) == (STRICTER, dict(BOOK.files))
    back = await caller.post("/policy/rollbacks", {"note": "too strict"}, manager)
    assert (back.status_code, back.json()["cause"]) == (201, "rolled_back")
    assert (await caller.get("/policy", agent)).json()["in_force"] == BOOK.digest


@pytest.mark.parametrize("role", StaffRole)
async def test_all_staff_look_and_few_change(
    role: StaffRole, caller: Caller, db: Database, tenant: str, make_staff: MakeStaff
) -> None:
    who, before = make_staff(tenant, role), await publications(db, tenant)
    for path in ("/policy", f"/policy/bundles/{BOOK.digest}"):
        assert (await caller.get(path, who)).status_code == 200
    found = [
        await caller.post("/policy/publications", body(tenant), who),
        await caller.post("/policy/rollbacks", {}, who),
    ]
    assert [answer.status_code for answer in found] == ([201, 201] if role in PUBLISHERS else [403, 403])
    assert (await publications(db, tenant) == before) is (role not in PUBLISHERS)


async def test_it_is_not_for_customers_visitors_or_machines(
    caller: Caller, tenant: str, customer: VerifiedPrincipal, visitor: VerifiedPrincipal, service: VerifiedPrincipal
) -> None:
    for who, status in ((customer, 403), (visitor, 403), (service, 403), (None, 401)):
        for path in ("/policy", f"/policy/bundles/{BOOK.digest}"):
            assert (await caller.get(path, who)).status_code == status
        for path, told in (("/policy/publications", body(tenant)), ("/policy/rollbacks", {})):
            assert (await caller.post(path, told, who)).status_code == status


async def test_another_tenants_layer_is_not_there(
    caller: Caller,
    tenant: str,
    manager: VerifiedPrincipal,
    make_tenant: MakeTenant,
    make_staff: MakeStaff,
    publish: Publish,
) -> None:
    digest = (await caller.post("/policy/publications", body(tenant), manager)).json()["publication"]["digest"]
    other = make_tenant()
    publish(other, BOOK)
    stranger = make_staff(other, StaffRole.ADMIN)
    for unknown in (digest, "0" * 64, "%00", "%ed%a0%80", "a" * 300, digest[:12]):
        answer = await caller.get(f"/policy/bundles/{unknown}", stranger)
        assert (answer.status_code, slug(answer)) == (404, "not-found")
    assert digest not in (await caller.get("/policy", stranger)).text
    assert (await caller.post("/policy/rollbacks", {"to": digest}, stranger)).status_code == 409
    foreign = await caller.post("/policy/publications", body(tenant), stranger)
    assert (foreign.status_code, foreign.json()["wrong"]) == (422, f"tenant is {tenant!r}")


DEEP = f'@id("a") forbid (principal, action, resource) when {{ {"(" * 9_000} }};'
GIVEN = json.dumps({"given": "r", "request": {"principal": {}, "action": {}, "resource": {}, "context": {}}})
CASE = json.dumps({"case": "c", "of": "r", "verdict": "permit", "rules": ["x"]})


@pytest.mark.parametrize(
    ("files", "place", "wrong"),
    [
        ({"limits.cedar": STRICTER.replace("_minor", "_major")}, ["limits.cedar", 4], "amount_major"),
        ({"limits.cedar": "forbid (principal, action, resource);"}, ["limits.cedar", 1], "no @id"),
        ({"cases.jsonl": "{"}, ["cases.jsonl", 1], "not JSON"),
        ({"manifest.json": "7"}, ["manifest.json", 1], "not a JSON object"),
        ({"manifest.json": "[" * 20_000}, ["manifest.json", 1], "nests too deep"),
        ({"cases.jsonl": "[" * 20_000}, ["cases.jsonl", 1], "nests too deep"),
        ({"limits.cedar": DEEP}, ["limits.cedar", 1], ""),
        ({"schema.cedarschema": "entity A;"}, ["schema.cedarschema", 1], "no such file"),
        ({"../up.cedar": STRICTER}, ["'../up.cedar'", 1], "no file of a bundle is named so"),
        ({"\u202egnp.cedar": STRICTER}, ["'\\u202egnp.cedar'", 1], "no file of a bundle is named so"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
async def test_a_broken_bundle_is_unfit_with_its_file_and_line(
    files: dict[str, str],
    place: list[Any],
    wrong: str,
    caller: Caller,
    db: Database,
    tenant: str,
    manager: VerifiedPrincipal,
) -> None:
    before = await publications(db, tenant)
    answer = await caller.post("/policy/publications", {"files": {**layer(tenant), **files}}, manager)
    told = answer.json()
    assert (answer.status_code, slug(answer)) == (422, "bundle-unfit")
    assert [told["file"], told["line"]] == place
    assert wrong in told["wrong"]
    assert told["right"]
    assert await publications(db, tenant) == before


@pytest.mark.parametrize(
    "manifest",
    [
        {"id": "a\x00b"},
        {"id": "x" * 5_000},
        {"version": "x" * 5_000},
        {"author": "\x1b[2J"},
        {"effective_from": "0001-01-01T00:00:00+14:00"},
        {"effective_until": "9999-12-31T23:59:59-14:00"},
        {"effective_until": "2026-01-02T00:00:00Z"},
        {"effective_from": 10**400},
        {"base": "a\x00b"},
        {"withdraws": ["\ud800"]},
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_manifest_that_cannot_be_kept_is_unfit(
    manifest: dict[str, Any], caller: Caller, tenant: str, manager: VerifiedPrincipal
) -> None:
    answer = await caller.post("/policy/publications", body(tenant, **manifest), manager)
    assert (answer.status_code, slug(answer), answer.json()["file"]) == (422, "bundle-unfit", "manifest.json")


async def test_cases_that_come_out_otherwise_are_named(caller: Caller, tenant: str, manager: VerifiedPrincipal) -> None:
    files = {**layer(tenant), "cases.jsonl": f"{GIVEN}\n{CASE}"}
    answer = await caller.post("/policy/publications", {"files": files}, manager)
    assert (answer.status_code, slug(answer)) == (422, "bundle-unfit")
    assert answer.json()["cases"][0].startswith("cases.jsonl:2: c: the verdict is forbid by ")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"files": {}},
        {"files": []},
        {"files": {"manifest.json": 7}},
        {"files": {"manifest.json": "half \ud83d pair"}},
        {"files": {"manifest.json": "nul \x00"}},
        {"files": {"half \ud83d.cedar": "x"}},
        {"files": {"": "x"}},
        {"files": {f"{n}.cedar": "x" for n in range(51)}},
        {"files": {"x" * 129: "x"}},
        {"note": "x" * 2_001},
        {"tenant": "another"},
    ],
    ids=lambda value: json.dumps(value)[:30],
)
async def test_no_body_gives_a_500(
    wrong: dict[str, Any], caller: Caller, tenant: str, manager: VerifiedPrincipal
) -> None:
    told = {**body(tenant), **wrong} if wrong else wrong
    raw = json.dumps(told).encode()
    headers = {"Content-Type": "application/json"}
    answer = await caller.post("/policy/publications", who=manager, content=raw, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize("wrong", [{"to": ""}, {"to": 7}, {"to": "\ud83d"}, {"to": "x" * 129}, {"note": ["x"]}, [], 7])
async def test_no_wish_to_go_back_gives_a_500(wrong: Any, caller: Caller, manager: VerifiedPrincipal) -> None:
    raw, headers = json.dumps(wrong).encode(), {"Content-Type": "application/json"}
    assert (await caller.post("/policy/rollbacks", who=manager, content=raw, headers=headers)).status_code == 422


@pytest.mark.parametrize("to", ["0" * 64, "a", "../..", "'; --", "\u202e"])
async def test_there_is_no_going_back_to_what_is_not_there(to: str, caller: Caller, manager: VerifiedPrincipal) -> None:
    answer = await caller.post("/policy/rollbacks", {"to": to}, manager)
    assert (answer.status_code, slug(answer)) == (409, "refused")


async def test_a_repeat_publishes_and_goes_back_once(
    caller: Caller, db: Database, tenant: str, manager: VerifiedPrincipal
) -> None:
    for path, told in (("/policy/publications", body(tenant)), ("/policy/rollbacks", {})):
        before = len(await publications(db, tenant))
        key = {"Idempotency-Key": path}
        first, again = [await caller.post(path, told, manager, headers=key) for _ in range(2)]
        assert (again.status_code, again.json()) == (201, first.json())
        assert again.headers["idempotent-replayed"] == "true"
        assert len(await publications(db, tenant)) == before + 1


async def test_others_are_answered_while_a_bundle_is_examined(
    caller: Caller, db: Database, tenant: str, manager: VerifiedPrincipal, customer: VerifiedPrincipal
) -> None:
    publishing = asyncio.create_task(caller.post("/policy/publications", body(tenant), manager))
    await asyncio.sleep(0.05)
    opened = await caller.post("/conversations", {}, customer)
    assert (opened.status_code, publishing.done()) == (201, False)
    assert (await publishing).json()["publication"]["digest"] == await in_force(db, tenant, now())


async def test_a_bundle_of_more_bytes_than_are_read_is_refused_and_the_limit_is_a_setting(
    caller: Caller, make_doors: MakeDoors, calling: Any, tenant: str, manager: VerifiedPrincipal
) -> None:
    large = body(tenant, STRICTER + "// a long story\n" * 6_500)  # 100 kB
    refused = await caller.post("/policy/publications", large, manager)
    assert (refused.status_code, slug(refused), refused.json()["limit_bytes"]) == (413, "body-too-large", 65_536)
    async with calling(create_app(make_doors(body_bytes_max=200_000))) as roomy:
        assert (await roomy.post("/policy/publications", large, manager)).status_code == 201
