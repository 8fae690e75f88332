"""Laws of permissions at the door: the bundle in force and the role of now decide at every request, and mid-stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from fastapi import FastAPI

from activities.policybook import PolicyBook
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from gateway.app import create_app
from policy.bundle import Bundle
from store.database import Database
from tests.conftest import MakeCustomer, MakeStaff
from tests.gateway.caller import Caller
from tests.gateway.conftest import BaseRules, MakeDoors, Publish, Serve
from tests.gateway.issuer import Issuer
from tests.gateway.test_streams import following
from tests.store.world import Talk

Owner = psycopg.Connection[Any]
BASE = Bundle.load()
FORBID = '@id("no-{n}") forbid (principal == Role::"{role}", action == Action::"use_tool", resource == Tool::"{tool}");'


def layer(tenant: str, *taken: tuple[str, Tool]) -> Bundle:
    """The base, without these tools for these roles."""
    told = {"id": "layer", "version": "1", "author": "t", "changed": "x", "effective_from": "2025-01-01T00:00:00Z"}
    manifest = json.dumps(told | {"tenant": tenant, "base": "base"})
    rules = [FORBID.format(n=n, role=role, tool=tool.value) for n, (role, tool) in enumerate(taken)]
    return Bundle.layered(BASE, {"manifest.json": manifest, "own.cedar": "\n".join(rules)})


@pytest.fixture
def real(make_doors: MakeDoors, db: Database) -> FastAPI:
    """An app that asks the bundles that are published."""
    return create_app(make_doors(policies=PolicyBook(db)))


@pytest.fixture
async def door(
    real: FastAPI, calling: Callable[[FastAPI], AbstractAsyncContextManager[Caller]], tenant: str, publish: Publish
) -> AsyncIterator[Caller]:
    publish(tenant, BASE)
    async with calling(real) as one:
        yield one


def slug(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("type", "").rpartition("/")[2]


PATHS = {
    Tool.READ_CONVERSATIONS: ("POST", "/conversations/search", {}),
    Tool.READ_QUEUE: ("GET", "/queue", None),
    Tool.TAKE_OVER: ("POST", "/conversations/{id}/takeover", {"request_id": "t"}),
    Tool.RELEASE: ("POST", "/conversations/{id}/release", {"request_id": "r"}),
    Tool.REPLY: ("POST", "/conversations/{id}/replies", {"client_message_id": "m", "text": "Hello."}),
    Tool.ASK_FOR_PERSON: ("POST", "/conversations/{id}/handoff", {"request_id": "h", "reason": "x"}),
}


async def use(door: Caller, talk: Talk, tool: Tool, who: VerifiedPrincipal) -> tuple[int, str]:
    method, path, body = PATHS[tool]
    more = {"json": body} if body is not None else {}
    return slug(await door.ask(method, path.format(id=talk.id), who, **more))


@pytest.mark.parametrize("tool", PATHS)
async def test_a_tool_that_a_layer_takes_is_refused_from_the_next_request_on_and_given_back_as_fast(
    door: Caller, talk: Talk, tool: Tool, agent: VerifiedPrincipal, manager: VerifiedPrincipal, publish: Publish
) -> None:
    assert (await use(door, talk, tool, agent))[1] != "forbidden"
    publish(talk.tenant, layer(talk.tenant, ("agent", tool)))
    assert await use(door, talk, tool, agent) == (403, "forbidden")
    assert (await use(door, talk, tool, manager))[1] != "forbidden"
    publish(talk.tenant, BASE)
    assert (await use(door, talk, tool, agent))[1] != "forbidden"


async def test_a_role_is_the_one_of_now(
    door: Caller, talk: Talk, agent: VerifiedPrincipal, publish: Publish, owner: Owner
) -> None:
    publish(talk.tenant, layer(talk.tenant, ("agent", Tool.TAKE_OVER)))
    promoted = "UPDATE staff SET role = %s WHERE id = %s"
    for role, told in (("manager", 200), ("agent", 403), ("finance", 200)):
        owner.execute(promoted, (role, agent.id))
        body = {"request_id": uuid4().hex}
        assert (await door.post(f"/conversations/{talk.id}/takeover", body, agent)).status_code == told
    owner.execute("UPDATE staff SET revoked_at = now() WHERE id = %s", (agent.id,))
    assert await use(door, talk, Tool.TAKE_OVER, agent) == (401, "unauthenticated")


async def test_who_may_not_look_finds_nothing(
    door: Caller, talk: Talk, agent: VerifiedPrincipal, publish: Publish
) -> None:
    operation_id = await talk.proposed()
    paths = [f"/conversations/{talk.id}", f"/conversations/{talk.id}/events", f"/actions/{operation_id}"]
    assert [(await door.get(path, agent)).status_code for path in paths] == [200, 200, 200]
    publish(talk.tenant, layer(talk.tenant, ("agent", Tool.READ_CONVERSATIONS), ("customer", Tool.READ_OWN)))
    for who in (agent, talk.customer):
        assert [slug(await door.get(path, who)) for path in paths] == [(404, "not-found")] * 3
    publish(talk.tenant, layer(talk.tenant, ("agent", Tool.READ_CONVERSATIONS), ("agent", Tool.TAKE_OVER)))
    assert await use(door, talk, Tool.TAKE_OVER, agent) == (404, "not-found")


async def test_what_is_not_ones_own_is_not_there_whatever_one_may_use(
    door: Caller, talk: Talk, make_customer: MakeCustomer, publish: Publish
) -> None:
    stranger = make_customer(talk.tenant)
    message = {"client_message_id": "m", "text": "Hello."}
    for bundle, own in ((BASE, (202, "")), (layer(talk.tenant, ("customer", Tool.WRITE_MESSAGE)), (403, "forbidden"))):
        publish(talk.tenant, bundle)
        assert slug(await door.post(f"/conversations/{talk.id}/messages", message, talk.customer)) == own
        assert slug(await door.post(f"/conversations/{talk.id}/messages", message, stranger)) == (404, "not-found")
    assert slug(await door.post("/conversations", {}, stranger)) == (403, "forbidden")


async def test_a_layer_cannot_make_staff_of_a_customer(
    door: Caller, talk: Talk, make_customer: MakeCustomer, publish: Publish
) -> None:
    everything = '@id("all") permit (principal, action == Action::"use_tool", resource);'
    generous = Bundle.layered(BASE, {**layer(talk.tenant).files, "own.cedar": everything})
    publish(talk.tenant, generous)
    for tool in (Tool.TAKE_OVER, Tool.RELEASE, Tool.REPLY, Tool.READ_QUEUE):
        assert await use(door, talk, tool, talk.customer) == (403, "forbidden")
    stranger = make_customer(talk.tenant)
    assert slug(await door.get(f"/conversations/{talk.id}", stranger)) == (404, "not-found")


@pytest.mark.parametrize("role", list(StaffRole))
async def test_every_role_of_the_staff_comes_as_far_as_the_base_lets_it(
    caller: Caller, talk: Talk, role: StaffRole, make_staff: MakeStaff
) -> None:
    asked = {"tenant_id": talk.tenant, "tenant_kind": "marketplace", "stage": "automatic", "role": ToolRole(role.value)}
    person = make_staff(talk.tenant, role)
    for tool in PATHS:
        let = (await use(caller, talk, tool, person))[1] != "forbidden"
        assert let is BaseRules.permissions.allows(ToolQuestion(**asked, tool=tool))


async def test_visitors_and_services_keep_to_their_own(
    door: Caller, talk: Talk, visitor: VerifiedPrincipal, service: VerifiedPrincipal
) -> None:
    assert (await door.post("/conversations", {}, visitor)).status_code == 201
    assert slug(await door.post("/conversations", {}, service)) == (403, "forbidden")
    assert (await door.get(f"/conversations/{talk.id}", service)).status_code == 200
    assert await use(door, talk, Tool.ASK_FOR_PERSON, service) == (403, "forbidden")
    assert await use(door, talk, Tool.READ_QUEUE, service) == (403, "forbidden")
    assert slug(await door.get(f"/conversations/{talk.id}", visitor)) == (404, "not-found")


async def test_where_no_policy_is_in_force_nobody_may_do_anything(
    door: Caller, make_customer: MakeCustomer, make_staff: MakeStaff, owner: Owner
) -> None:
    bare = f"t-{uuid4().hex[:12]}"
    owner.execute("INSERT INTO tenants (id, name, kind) VALUES (%s, %s, 'saas')", (bare, bare))
    assert slug(await door.post("/conversations", {}, make_customer(bare))) == (403, "forbidden")
    assert slug(await door.get("/queue", make_staff(bare))) == (403, "forbidden")
    visitor = VerifiedPrincipal(tenant_id=bare, kind=PrincipalKind.ANONYMOUS, id="v")
    assert slug(await door.post("/conversations", {}, visitor)) == (403, "forbidden")


@pytest.mark.parametrize("broken", [{}, {**BASE.files, "more.cedar": "permit"}, {**BASE.files, "more.cedar": "// x"}])
async def test_a_bundle_that_cannot_be_had_lets_nobody_through_and_is_no_fault_of_the_caller(
    door: Caller, talk: Talk, owner: Owner, make_tenant: Any, broken: dict[str, str]
) -> None:
    digest = f"broken-{uuid4().hex}"
    tenant = make_tenant(policy_digest=digest)
    files = json.dumps(broken)
    owner.execute("UPDATE policy_bundles SET files = %s WHERE digest = %s", (files, digest))
    customer = VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.CUSTOMER, id="c")
    answer = await door.post("/conversations", {}, customer)
    assert slug(answer) == (503, "unavailable")
    assert (await door.get(f"/conversations/{talk.id}", talk.customer)).status_code == 200


async def test_a_revoked_person_sees_nothing_of_what_comes_after(
    real: FastAPI, serve: Serve, talk: Talk, issuer: Issuer, agent: VerifiedPrincipal, owner: Owner, publish: Publish
) -> None:
    publish(talk.tenant, BASE)
    async with serve(real) as url, following(url, talk, issuer.token(agent)) as reader:
        await talk.say("before")
        await reader.frames_are(1)
        owner.execute("UPDATE staff SET revoked_at = now() WHERE id = %s", (agent.id,))
        await talk.say("after")
        async with asyncio.timeout(5):
            await reader.over.wait()
        assert [json.loads(frame["data"])["text"] for frame in reader.frames] == ["before"]


async def test_a_stream_ends_when_its_reader_may_look_no_more_and_not_when_the_role_changes(
    real: FastAPI, serve: Serve, talk: Talk, issuer: Issuer, agent: VerifiedPrincipal, owner: Owner, publish: Publish
) -> None:
    publish(talk.tenant, layer(talk.tenant, ("manager", Tool.READ_CONVERSATIONS)))
    async with serve(real) as url, following(url, talk, issuer.token(agent)) as reader:
        for n, role in enumerate(("finance", "trust_and_safety"), start=1):
            owner.execute("UPDATE staff SET role = %s WHERE id = %s", (role, agent.id))
            await talk.say(role)
            await reader.frames_are(n)
        owner.execute("UPDATE staff SET role = 'manager' WHERE id = %s", (agent.id,))
        await talk.say("after")
        async with asyncio.timeout(5):
            await reader.over.wait()
        assert len(reader.frames) == 2
