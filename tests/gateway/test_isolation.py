"""Nothing of one customer or tenant is there for another, on any route; each kind of person keeps to what is theirs."""

from dataclasses import dataclass, fields
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
# The body that each POST or PUT on something takes, so that it is not refused before it is looked at.
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
    "/conversations/{conversation_id}/tags/{tag}": {},
    "/conversations/{conversation_id}/notes": {"note_id": "x", "text": "x"},
    "/conversations/{conversation_id}/assignee": {"staff_id": None},
    "/conversations/{conversation_id}/snooze": {"until": None},
    "/conversations/{conversation_id}/presence": {"state": "looking"},
    "/conversations/{conversation_id}/seen": {"seq": 1},
    "/conversations/{conversation_id}/ratings": {"seq": 1, "score": 1},
    "/handoffs/{handoff_id}/rating": {"score": 1, "right_to_escalate": True},
    "/handoffs/{handoff_id}/claim": {},
    "/views": {"name": "x", "filters": {}},
    "/knowledge/search": {"text": "x"},
    "/drafts/{draft_id}/decisions": {"request_id": "x", "decision": "accept"},
    "/drafts/{draft_id}/renewals": {},
    "/desk": {"document": {}, "expected_version": 0},
    "/staff/{staff_id}/skills": {"skills": [], "languages": []},
    "/webhooks": {"url": "https://a.example", "types": ["reply"]},
    "/webhooks/deliveries/{delivery_id}/replays": {},
}
STAFF_ONLY = {"takeover", "release", "replies", "actions", "claim", "withdrawals"}
STAFF_ONLY |= {"{tag}", "notes", "{note_id}", "assignee", "snooze", "presence"}
OF_CUSTOMERS = ("/conversations/", "/actions/")
HIDDEN = "/drafts/"  # on a conversation, and there for nobody but its staff
STREAMS = {"/events/staff"}


@dataclass
class Things:
    """One of each thing that has an id."""

    conversation_id: str
    operation_id: str
    handoff_id: str
    digest: str  # of a layer of the tenant
    tag: str = "vip"
    note_id: str = "n"
    view_id: str = "v"
    slug: str = "page"
    backtest_id: str = ""
    draft_id: str = ""
    staff_id: str = "ann"
    webhook_id: str = "wh-1"
    delivery_id: str = "1"

    def path(self, route: APIRoute) -> str:
        return route.path_format.format_map(vars(self))

    @classmethod
    def all_named(cls, name: str) -> "Things":
        return cls(*[name] * len(fields(cls)))


def is_for_staff(route: APIRoute) -> bool:
    """Whether it is on something that no customer has."""
    return not route.path_format.startswith((*OF_CUSTOMERS, HIDDEN))


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
    for statement in (
        "INSERT INTO articles (tenant_id, slug, version, language, title, body)"
        " VALUES (%(t)s, 'page', 1, 'en', 'T', 'B')",
        "INSERT INTO policy_backtests (id, tenant_id, report) VALUES (%(id)s, %(t)s, '{}')",
        "INSERT INTO drafts (draft_id, tenant_id, conversation_id, owner_epoch, answered_seq, through_seq, step_id,"
        " language, author, text, segments, draft_digest, behind, made_at)"
        " VALUES (%(id)s, %(t)s, %(id)s, 1, 0, 1, 's', 'en', 'local', 'B', '[]', 'd', '[]', now())",
        "INSERT INTO tickets (tenant_id, ticket_id, conversation_id, requester_id, principal_kind, principal_id,"
        " subject) SELECT tenant_id, 'T-1', id, 'r', principal_kind, principal_id, '' FROM conversations"
        " WHERE id = %(id)s",
    ):
        owner.execute(statement, {"t": talk.tenant, "id": talk.id})
    return Things(talk.id, operation_id, handed.handoff_id, digest=talk.id, backtest_id=talk.id, draft_id=talk.id)


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
    body = {"json": BODIES[route.path_format]} if method in ("POST", "PUT") else {}
    return await caller.ask(method, path, who, **body)


async def test_what_is_not_yours_is_not_there(
    caller: Caller, things: Things, strangers: dict[str, VerifiedPrincipal], talk: Talk
) -> None:
    before = len(await talk.log())
    for name, who in strangers.items():
        for route in on_a_thing():
            answer = await ask(caller, route, things.path(route), who)
            told = 403 if is_for_staff(route) and not who.is_staff else 404
            assert answer.status_code == told, f"{route.path_format} as {name}"
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


async def test_no_list_has_anything_that_is_not_yours(
    caller: Caller, things: Things, strangers: dict[str, VerifiedPrincipal], customer: VerifiedPrincipal, talk: Talk
) -> None:
    ids = {things.conversation_id, things.operation_id, things.handoff_id, customer.id, talk.tenant} - {""}
    lists = [r for r in guarded() if "GET" in (r.methods or ()) and "{" not in r.path_format and r.path not in STREAMS]
    assert {"/drafts", "/webhooks", "/webhooks/deliveries", "/numbers", "/staff", "/desk"} <= {r.path for r in lists}
    for name, who in strangers.items():
        for route in lists:
            answer = await ask(caller, route, route.path, who)
            assert answer.status_code in {200, 403, 404}, f"{route.path} as {name}"
            theirs = {who.id, who.tenant_id}
            assert not [one for one in ids - theirs if one in answer.text], f"{route.path} as {name}"


async def test_every_guarded_route_needs_a_token(caller: Caller, things: Things) -> None:
    for route in guarded():
        for token in (None, "abc.def.ghi"):
            assert (await ask(caller, route, things.path(route), token)).status_code == 401


async def test_what_is_for_staff_is_forbidden_to_the_customer_whose_it_is(
    caller: Caller, things: Things, customer: VerifiedPrincipal
) -> None:
    for route in on_a_thing():
        if route.path_format.rpartition("/")[2] in STAFF_ONLY or is_for_staff(route):
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
            hidden = route.path_format.startswith(HIDDEN)
            assert answer.status_code == (404 if hidden else 403), route.path_format
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
        path = Things.all_named(given).path(route)
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
