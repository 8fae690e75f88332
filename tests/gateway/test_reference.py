"""What is told about the gateway is complete and true: problems, OpenAPI, health, counters."""

import asyncio
import dataclasses
from typing import Any

import pytest
from fastapi import FastAPI

from domain.principal import StaffRole, VerifiedPrincipal
from gateway import refusals
from gateway.admission import GuardedRoute
from gateway.app import create_app, routes
from gateway.explanations import EXPLANATIONS, known_refusals
from gateway.problems import MEDIA_TYPE
from tests.conftest import MakeStaff
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors
from tests.store.world import Talk

CONTRACT = {
    ("POST", "/conversations"),
    ("GET", "/conversations/{conversation_id}"),
    ("POST", "/conversations/search"),
    ("POST", "/conversations/{conversation_id}/messages"),
    ("GET", "/conversations/{conversation_id}/events"),
    ("POST", "/conversations/{conversation_id}/handoff"),
    ("POST", "/conversations/{conversation_id}/takeover"),
    ("POST", "/conversations/{conversation_id}/release"),
    ("POST", "/conversations/{conversation_id}/replies"),
    ("GET", "/actions/{operation_id}"),
    ("POST", "/actions/{operation_id}/approvals"),
    ("POST", "/actions/{operation_id}/claim"),
    ("DELETE", "/actions/{operation_id}/claim"),
    ("POST", "/actions/{operation_id}/withdrawals"),
    ("POST", "/approvals/batch"),
    ("POST", "/conversations/{conversation_id}/actions"),
    ("GET", "/switches"),
    ("POST", "/switches"),
    ("GET", "/audit"),
    ("GET", "/policy"),
    ("GET", "/policy/bundles/{digest}"),
    ("POST", "/policy/publications"),
    ("POST", "/policy/rollbacks"),
    ("GET", "/handoffs/{handoff_id}"),
    ("GET", "/desk"),
    ("PUT", "/desk"),
    ("GET", "/staff"),
    ("PUT", "/staff/{staff_id}/skills"),
    ("POST", "/handoffs/{handoff_id}/claim"),
    ("DELETE", "/handoffs/{handoff_id}/claim"),
    ("GET", "/conversations/{conversation_id}/waiting"),
    ("GET", "/queue"),
    ("GET", "/approvals"),
    ("GET", "/approvals/{operation_id}"),
    ("POST", "/conversations/{conversation_id}/tags/{tag}"),
    ("DELETE", "/conversations/{conversation_id}/tags/{tag}"),
    ("GET", "/tags"),
    ("POST", "/conversations/{conversation_id}/notes"),
    ("GET", "/conversations/{conversation_id}/notes"),
    ("DELETE", "/conversations/{conversation_id}/notes/{note_id}"),
    ("PUT", "/conversations/{conversation_id}/assignee"),
    ("PUT", "/conversations/{conversation_id}/snooze"),
    ("PUT", "/conversations/{conversation_id}/presence"),
    ("GET", "/conversations/{conversation_id}/presence"),
    ("PUT", "/conversations/{conversation_id}/seen"),
    ("GET", "/views"),
    ("POST", "/views"),
    ("DELETE", "/views/{view_id}"),
    ("POST", "/conversations/{conversation_id}/ratings"),
    ("GET", "/conversations/{conversation_id}/ratings"),
    ("POST", "/handoffs/{handoff_id}/rating"),
    ("GET", "/events/staff"),
    ("GET", "/knowledge"),
    ("GET", "/knowledge/{slug}"),
    ("POST", "/knowledge/search"),
    ("GET", "/macros"),
    ("GET", "/policy/backtests"),
    ("GET", "/policy/backtests/{backtest_id}"),
    ("POST", "/sessions"),
    ("POST", "/sessions/dev"),
    ("GET", "/sessions/people"),
    ("GET", "/me"),
    ("GET", "/conversations/{conversation_id}/evidence"),
    ("GET", "/widget"),
    ("GET", "/numbers"),
    ("POST", "/tickets"),
    ("GET", "/conversations/{conversation_id}/ticket"),
    ("GET", "/webhooks"),
    ("POST", "/webhooks"),
    ("DELETE", "/webhooks/{webhook_id}"),
    ("GET", "/webhooks/deliveries"),
    ("POST", "/webhooks/deliveries/{delivery_id}/replays"),
    ("GET", "/drafts"),
    ("GET", "/drafts/{draft_id}"),
    ("POST", "/drafts/{draft_id}/decisions"),
    ("POST", "/drafts/{draft_id}/renewals"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/problems/{slug}"),
}


def walked(found: Any) -> set[tuple[str, str]]:
    """Every method and path of an app, however its routers are nested."""
    seen: set[tuple[str, str]] = set()
    for route in found:
        if hasattr(route, "original_router"):
            seen |= walked(route.original_router.routes)
        else:
            seen |= {(method, route.path) for method in route.methods}
    return seen


def test_every_route_is_documented_and_every_documented_route_is_there(app: FastAPI) -> None:
    documented = {(m.upper(), path) for path, methods in app.openapi()["paths"].items() for m in methods}
    there = {(method, route.path_format) for route in routes() for method in route.methods or ()}
    assert documented == CONTRACT
    assert there - documented == {("GET", "/openapi.json"), ("GET", "/reference")}
    assert walked(app.routes) == there


def test_every_operation_says_what_it_takes_and_answers(app: FastAPI) -> None:
    by_path = {route.path_format: route for route in routes()}
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            good = [response for status, response in operation["responses"].items() if status < "400"]
            assert all(content.get("schema") for one in good for content in one["content"].values()), where
            assert "Request-Id" in good[0]["headers"], where
            assert "500" in operation["responses"], where
            guarded = isinstance(by_path[path], GuardedRoute)
            assert bool(operation["security"]) == guarded, where
            assert not guarded or {"401", "403", "422", "429", "503"} <= set(operation["responses"]), where
            if method == "post":
                assert {"400", "413", "415"} <= set(operation["responses"]), where
            if method == "post" and guarded:
                assert "409" in operation["responses"], where
                assert "Idempotency-Key" in {parameter["name"] for parameter in operation["parameters"]}, where


def test_every_reference_within_the_document_leads_somewhere(app: FastAPI) -> None:
    document = app.openapi()

    def refs(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [ref for value in node.values() for ref in refs(value)]
        return [ref for value in node for ref in refs(value)] if isinstance(node, list) else []

    found = set(refs(document))
    assert "#/components/schemas/Problem" in found
    for ref in found:
        node = document
        for step in ref.removeprefix("#/").split("/"):
            node = node[step]
    used = {ref.rpartition("/")[2] for ref in found}
    assert used == set(document["components"]["schemas"])


def test_every_refusal_is_explained_and_nothing_else() -> None:
    assert refusals.Defect.slug in known_refusals()
    assert set(EXPLANATIONS) == set(known_refusals())


async def test_every_problem_opens_a_page_of_its_own(caller: Caller) -> None:
    for slug, kind in known_refusals().items():
        page = await caller.get(f"/problems/{slug}")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert kind.title in page.text.replace("&#x27;", "'")
        assert "<script" not in page.text
    for slug in ("nope", "%3Cscript%3E", "..", "a" * 500):
        assert (await caller.get(f"/problems/{slug}")).status_code == 404


async def test_the_type_of_a_problem_is_the_address_of_its_page(caller: Caller) -> None:
    told = (await caller.get("/nope")).json()
    assert told["type"] == "https://interlock.example/problems/not-found"
    assert (await caller.get(told["type"].removeprefix("https://interlock.example"))).status_code == 200


async def test_the_reference_is_for_staff_and_services(
    caller: Caller, customer: VerifiedPrincipal, agent: VerifiedPrincipal, service: VerifiedPrincipal
) -> None:
    for path in ("/openapi.json", "/reference"):
        for nobody in (None, "abc.def.ghi", customer):
            assert (await caller.get(path, nobody)).status_code == 404
        for who in (agent, service):
            assert (await caller.get(path, who)).status_code == 200
    page = (await caller.get("/reference", agent)).text
    for elsewhere in ("http://", "src=", "<script", "@import", "url("):
        assert elsewhere not in page
    assert "/conversations/{conversation_id}/takeover" in page
    document = (await caller.get("/openapi.json", service)).json()
    assert document["openapi"].startswith("3.1")


async def test_counters_are_for_admins_and_services(
    caller: Caller, customer: VerifiedPrincipal, agent: VerifiedPrincipal, service: VerifiedPrincipal,
    make_staff: MakeStaff, make_doors: MakeDoors, calling: Any
) -> None:  # fmt: skip
    for nobody in (None, "x", customer, agent):
        assert (await caller.get("/metrics", nobody)).status_code == 404
    for who in (service, make_staff(agent.tenant_id, StaffRole.ADMIN)):
        assert (await caller.get("/metrics", who)).status_code == 200
    async with calling(create_app(make_doors(metrics_public=True))) as public:
        assert (await public.get("/metrics")).status_code == 200


async def test_counters_hold_no_id_and_no_text(
    caller: Caller, talk: Talk, service: VerifiedPrincipal, agent: VerifiedPrincipal
) -> None:
    await caller.post(f"/conversations/{talk.id}/messages", {"client_message_id": "m", "text": "secret"}, talk.customer)
    await caller.post(f"/conversations/{talk.id}/messages", {"client_message_id": "m", "text": ""}, talk.customer)
    await caller.get("/secret/path")
    await caller.ask("BREW", f"/conversations/{talk.id}")
    told = (await caller.get("/metrics", service)).text
    assert 'route="/conversations/{conversation_id}/messages",status="202"' in told
    assert 'interlock_http_refusals_total{slug="invalid-request"} 1.0' in told
    assert 'method="other"' in told
    for ident in (talk.id, talk.tenant, talk.customer.id, "secret", "BREW"):
        assert ident not in told


async def test_readiness_names_the_dependency_that_fails(make_doors: MakeDoors, calling: Any) -> None:
    async def up() -> None: ...

    async def down() -> None:
        raise ConnectionError

    async def stuck() -> None:
        await asyncio.sleep(60)

    for probe, state, status in ((up, "ok", 200), (down, "failing", 503), (stuck, "failing", 503)):
        async with calling(create_app(make_doors(probes={"temporal": probe}))) as caller:
            answer = await caller.get("/readyz")
            assert answer.status_code == status
            assert answer.json() == {
                "ready": status == 200,
                "dependencies": {"postgres": "ok", "temporal": state, "keys": "ok"},
            }


async def test_readiness_needs_keys(make_doors: MakeDoors, calling: Any, issuer: Any) -> None:
    issuer.path.unlink()
    async with calling(create_app(make_doors())) as caller:
        assert (await caller.get("/readyz")).json()["dependencies"]["keys"] == "failing"


async def test_a_defect_tells_nothing_but_its_request_id(
    make_doors: MakeDoors, calling: Any, talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def send(self, wakes: Any) -> None:
            raise RuntimeError("secret words")

    doors = dataclasses.replace(make_doors(), courier=Broken())
    async with calling(create_app(doors)) as caller:
        body = {"client_message_id": "m", "text": "private text"}
        answer = await caller.post(f"/conversations/{talk.id}/messages", body, talk.customer)
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (500, "defect")
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert "secret" not in answer.text
    logged = capsys.readouterr()
    whole = logged.out + logged.err
    assert "builtins.RuntimeError" in whole
    assert answer.json()["request_id"] in whole
    assert "secret words" not in whole
    assert "private text" not in whole


async def test_logs_hold_no_text_no_token_and_no_query(
    caller: Caller, talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    token = caller.issuer.token(talk.customer)
    body = {"client_message_id": "m", "text": "private text"}
    await caller.post(f"/conversations/{talk.id}/messages?x=private", body, token)
    await caller.get(f"/conversations/{talk.id}/events?after=private", token)
    logged = capsys.readouterr()
    whole = logged.out + logged.err
    assert "request.answered" in whole
    assert "private" not in whole
    assert token not in whole
