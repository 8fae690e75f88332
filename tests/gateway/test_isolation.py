"""Nothing of one customer or tenant is there for another, on any route; each kind of person keeps to what is theirs."""

from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from fastapi.routing import APIRoute

from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from gateway.admission import GuardedRoute
from gateway.app import routes
from tests.conftest import BUNDLE, MakeCustomer, MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.store.world import Talk

APPROVAL = {"payload_digest": "0" * 64, "decision": "approve"}
# The body that each POST on something takes, so that it is not refused before it is looked at.
BODIES: dict[str, Any] = {
    "/conversations": {},
    "/conversations/search": {},
    "/conversations/{conversation_id}/messages": {"client_message_id": "x", "text": "x"},
    "/conversations/{conversation_id}/replies": {"client_message_id": "x", "text": "x"},
    "/conversations/{conversation_id}/handoff": {"request_id": "x", "reason": "x"},
    "/conversations/{conversation_id}/takeover": {"request_id": "x"},
    "/conversations/{conversation_id}/release": {"request_id": "x"},
    "/conversations/{conversation_id}/actions": {"request_id": "x", "kind": "refund", "resource": "order:A-1"},
    "/switches": {"kind": None, "on": True, "reason": "x"},
    "/actions/{operation_id}/approvals": APPROVAL,
    "/actions/{operation_id}/claim": {},
    "/actions/{operation_id}/withdrawals": {},
    "/approvals/batch": {"decision": "approve", "items": [{"operation_id": "x", "payload_digest": "0" * 64}]},
    "/policy/publications": {"files": {"manifest.json": "{}"}},
    "/policy/rollbacks": {},
}
STAFF_ONLY = {"takeover", "release", "replies", "actions", "claim", "withdrawals"}
STAFF_THINGS = {"{handoff_id}", "{digest}"}


@dataclass
class Things:
    """One of each thing that has an id."""

    conversation_id: str
    operation_id: str
    handoff_id: str
    digest: str  # of a layer of the tenant

    def path(self, route: APIRoute) -> str:
        return route.path_format.format_map(vars(self))


@pytest.fixture
async def things(talk: Talk, owner: psycopg.Connection[Any]) -> Things:
    operation_id = await talk.proposed()
    handed = await talk.ask_for_person()
    assert handed.handoff_id is not None
    owner.execute(
        "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
        " VALUES (%s, 'mine', '1', '{}', '{}', %s, %s)",
        (talk.id, talk.tenant, BUNDLE),
    )
    return Things(talk.id, operation_id, handed.handoff_id, digest=talk.id)


@pytest.fixture
def strangers(
    tenant: str,
    make_tenant: MakeTenant,
    make_customer: MakeCustomer,
    make_staff: MakeStaff,
    customer: VerifiedPrincipal,
) -> dict[str, VerifiedPrincipal]:
    other = make_tenant()
    return {
        "another customer": make_customer(tenant),
        "a visitor": VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.ANONYMOUS, id="v"),
        "a visitor of the same name": VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.ANONYMOUS, id=customer.id),
        "a customer elsewhere": make_customer(other),
        "the same name elsewhere": make_customer(other, customer.id),
        "staff elsewhere": make_staff(other, StaffRole.ADMIN),
        "a service elsewhere": VerifiedPrincipal(tenant_id=other, kind=PrincipalKind.SERVICE, id="s"),
    }


def guarded() -> list[APIRoute]:
    return [route for route in routes() if isinstance(route, GuardedRoute)]


def on_a_thing() -> list[APIRoute]:
    return [route for route in guarded() if "{" in route.path_format]


async def ask(caller: Caller, route: APIRoute, path: str, who: VerifiedPrincipal | str | None) -> Any:
    method = next(iter(route.methods or ()))
    body = {"json": BODIES[route.path_format]} if method == "POST" else {}
    return await caller.ask(method, path, who, **body)


async def test_what_is_not_yours_is_not_there(
    caller: Caller, things: Things, strangers: dict[str, VerifiedPrincipal], talk: Talk
) -> None:
    before = len(await talk.log())
    for name, who in strangers.items():
        for route in on_a_thing():
            answer = await ask(caller, route, things.path(route), who)
            staff_thing = route.path_format.rpartition("/")[2] in STAFF_THINGS and not who.is_staff
            assert answer.status_code == (403 if staff_thing else 404), f"{route.path_format} as {name}"
            again = await ask(caller, route, things.path(route).replace(things.conversation_id, "no-such"), who)
            assert again.status_code == answer.status_code
    assert len(await talk.log()) == before


async def test_nothing_that_is_not_yours_is_listed(
    caller: Caller, things: Things, strangers: dict[str, VerifiedPrincipal]
) -> None:
    for name, who in strangers.items():
        found = await caller.post("/conversations/search", {}, who)
        assert found.json()["items"] == [], name
        for path in ("/queue", "/approvals"):
            answer = await caller.get(path, who)
            assert (answer.status_code == 403) or (who.is_staff and answer.json()["items"] == []), name


async def test_every_guarded_route_needs_a_token(caller: Caller, things: Things) -> None:
    for route in guarded():
        for token in (None, "abc.def.ghi"):
            assert (await ask(caller, route, things.path(route), token)).status_code == 401


async def test_what_is_for_staff_is_forbidden_to_the_customer_whose_it_is(
    caller: Caller, things: Things, customer: VerifiedPrincipal
) -> None:
    for route in on_a_thing():
        if route.path_format.rpartition("/")[2] in STAFF_ONLY | STAFF_THINGS:
            answer = await ask(caller, route, things.path(route), customer)
            assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (403, "forbidden")


async def test_staff_do_not_write_as_the_customer_nor_begin_conversations(
    caller: Caller, things: Things, agent: VerifiedPrincipal, service: VerifiedPrincipal
) -> None:
    for who in (agent, service):
        said = await caller.post(
            f"/conversations/{things.conversation_id}/messages", {"client_message_id": "x", "text": "x"}, who
        )
        assert said.status_code == 403
        assert (await caller.post("/conversations", {}, who)).status_code == 403


async def test_staff_see_what_is_of_their_tenant(caller: Caller, things: Things, agent: VerifiedPrincipal) -> None:
    for route in on_a_thing():
        if "GET" in (route.methods or ()):
            assert (await ask(caller, route, things.path(route), agent)).status_code == 200
    found = (await caller.post("/conversations/search", {}, agent)).json()["items"]
    assert [item["id"] for item in found] == [things.conversation_id]


async def test_a_service_reads_and_changes_nothing(
    caller: Caller, things: Things, service: VerifiedPrincipal, talk: Talk
) -> None:
    before = len(await talk.log())
    for route in on_a_thing():
        if "POST" in (route.methods or ()):
            answer = await ask(caller, route, things.path(route), service)
            assert answer.status_code == 403, route.path_format
    assert len(await talk.log()) == before


async def test_a_visitor_has_conversations_of_their_own(
    caller: Caller, visitor: VerifiedPrincipal, customer: VerifiedPrincipal
) -> None:
    begun = (await caller.post("/conversations", {}, visitor)).json()
    path = f"/conversations/{begun['id']}"
    said = await caller.post(f"{path}/messages", {"client_message_id": "m", "text": "Hello"}, visitor)
    assert said.status_code == 202
    assert (await caller.get(f"{path}/events", visitor)).json()["events"][0]["actor"] == "anonymous:visitor-1"
    assert (await caller.get(path, customer)).status_code == 404


@pytest.mark.parametrize("given", ["%00", "a%00b", "%FF", "a b", "..%2Fx", "%F0%9F%98%80", "x" * 300, "'--", "-"])
async def test_a_malformed_id_is_of_nothing(caller: Caller, agent: VerifiedPrincipal, given: str) -> None:
    for route in on_a_thing():
        path = Things(given, given, given, given).path(route)
        assert (await ask(caller, route, path, agent)).status_code == 404


async def test_customers_do_not_learn_who_of_the_staff_it_was(
    caller: Caller, talk: Talk, customer: VerifiedPrincipal, agent: VerifiedPrincipal
) -> None:
    operation_id = await talk.proposed()
    await talk.take_over(agent)
    await talk.reply(agent)
    for who, seen in ((customer, "staff"), (agent, agent.key)):
        events = (await caller.get(f"/conversations/{talk.id}/events", who)).json()["events"]
        assert {e["actor"] for e in events if e["kind"] in ("staff_reply", "handoff")} == {seen}
        moves = (await caller.get(f"/actions/{operation_id}", who)).json()["history"]
        assert moves[-1]["actor"] == seen
        whole = (await caller.get(f"/conversations/{talk.id}/events", who)).text
        assert (agent.id in whole) == (who is agent)
