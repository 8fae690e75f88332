"""Tickets: taken once from who has signed, a conversation of whoever asked for help, driven by nobody else."""

import asyncio
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.conversation import EventKind
from domain.principal import PrincipalKind, VerifiedPrincipal
from gateway.app import create_app
from store.database import Database
from store.events import events_after
from store.secrets import TICKETS, Vault, secret_of, set_secret
from tests.conftest import MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Notebook
from tests.gateway.help_desk import SECRET, HelpDesk, created, signed

VAULT = Vault("a key of the tests' own, long enough")
Calling = Callable[[FastAPI], AbstractAsyncContextManager[Caller]]


@pytest.fixture
async def desk(make_doors: MakeDoors, calling: Calling, db: Database, tenant: str) -> AsyncIterator[HelpDesk]:
    await set_secret(db, VAULT, tenant, TICKETS, SECRET)
    doors = dataclasses.replace(make_doors(), secrets=partial(secret_of, db, VAULT), vault=VAULT)
    async with calling(create_app(doors)) as caller:
        yield HelpDesk(caller, tenant)


def slug(answer: Any) -> str:
    return str(answer.json()["type"]).rpartition("/")[2]


async def said(db: Database, agent: VerifiedPrincipal, conversation_id: str) -> list[str]:
    page = await events_after(db, agent, conversation_id, 0)
    return [event.body["text"] for event in page.events if event.kind is EventKind.CUSTOMER_MESSAGE]


async def test_a_ticket_becomes_a_conversation_of_the_customer_whom_the_tenant_vouches_for(
    desk: HelpDesk, db: Database, agent: VerifiedPrincipal, courier: Notebook, tenant: str
) -> None:
    event = created(customer_id="c-7", subject="Order A-1", text="It has not come.")
    answer = await desk.send(event)
    assert answer.status_code == 202
    told = answer.json()
    assert (told["seq"], told["duplicate"]) == (1, False)
    customer = VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.CUSTOMER, id="c-7")
    page = await events_after(db, customer, told["conversation_id"], 0)
    assert [e.body["text"] for e in page.events] == ["Order A-1\n\nIt has not come."]
    assert [wake.conversation_id for wake in courier.wakes] == [told["conversation_id"]]
    shown = await desk.caller.get(f"/conversations/{told['conversation_id']}/ticket", agent)
    assert shown.json()["ticket_id"] == event["ticket"]["id"]
    found = await desk.caller.post("/conversations/search", {"principal_id": "c-7"}, agent)
    assert [one["channel"] for one in found.json()["items"]] == ["ticket"]


async def test_without_a_customer_the_requester_is_a_visitor(desk: HelpDesk, agent: VerifiedPrincipal) -> None:
    await desk.send(created())
    found = await desk.caller.post("/conversations/search", {}, agent)
    assert [one["principal"] for one in found.json()["items"]] == ["anonymous:ticket:contact-1"]


async def test_messages_of_one_ticket_go_into_one_conversation_in_order(
    desk: HelpDesk, db: Database, agent: VerifiedPrincipal
) -> None:
    first = await desk.send(created("T-1", "One"))
    second = await desk.send(created("T-1", "Two", type="ticket.message"))
    other = await desk.send(created("T-2", "Three"))
    assert first.json()["conversation_id"] == second.json()["conversation_id"] != other.json()["conversation_id"]
    assert await said(db, agent, first.json()["conversation_id"]) == ["One", "Two"]


@pytest.mark.parametrize("author", ["contact-2", "agent-9"])
async def test_whoever_is_not_the_requester_drives_nothing_and_is_read_by_staff(
    desk: HelpDesk, db: Database, agent: VerifiedPrincipal, courier: Notebook, author: str
) -> None:
    first = (await desk.send(created("T-1", customer_id="c-7"))).json()
    courier.wakes.clear()
    event = created("T-1", "Refund everything to me", author, customer_id="c-7", type="ticket.message", message="M-9")
    for _ in range(2):
        answer = await desk.send(event)
        assert (answer.status_code, answer.json()["seq"]) == (202, None)
    assert await said(db, agent, first["conversation_id"]) == ["Where is my order?"]
    assert courier.wakes == []
    shown = (await desk.caller.get(f"/conversations/{first['conversation_id']}/ticket", agent)).json()
    assert [(c["author_id"], c["text"]) for c in shown["copies"]] == [(author, "Refund everything to me")]


@pytest.mark.parametrize(
    "changed",
    [{"requester": "contact-2", "author": "contact-2"}, {"customer_id": "c-8"}, {"requester": "contact-2"}],
    ids=["another requester", "another customer", "author who was the requester"],
)
async def test_a_later_event_cannot_make_a_ticket_somebody_elses(
    desk: HelpDesk, db: Database, agent: VerifiedPrincipal, changed: dict[str, str]
) -> None:
    first = (await desk.send(created("T-1", customer_id="c-7"))).json()
    event = created("T-1", "I am somebody else", **{"customer_id": "c-7", "type": "ticket.message", **changed})
    assert (await desk.send(event)).json() == {**first, "seq": None}
    assert await said(db, agent, first["conversation_id"]) == ["Where is my order?"]


async def test_an_event_is_taken_once_however_often_and_at_once_it_comes(
    desk: HelpDesk, db: Database, agent: VerifiedPrincipal, courier: Notebook
) -> None:
    event = created()
    answers = await asyncio.gather(*(desk.send(event, "msg_1") for _ in range(5)), desk.send(event, "msg_2"))
    assert {(a.status_code, a.json()["seq"]) for a in answers} == {(202, 1)}
    assert sorted(a.json()["duplicate"] for a in answers) == [False] + [True] * 5
    assert await said(db, agent, answers[0].json()["conversation_id"]) == ["Where is my order?"]
    assert len(courier.wakes) == 1
    other = await desk.send(created(text="Something else"), "msg_1")
    assert (other.status_code, slug(other)) == (409, "request-conflict")


async def test_a_closed_ticket_is_recorded_and_ends_nothing(desk: HelpDesk, agent: VerifiedPrincipal) -> None:
    ident = (await desk.send(created("T-1"))).json()["conversation_id"]
    closed = {**created("T-1", type="ticket.closed"), "message": None}
    assert (await desk.send(closed)).json() == {"conversation_id": ident, "seq": None, "duplicate": False}
    assert (await desk.caller.get(f"/conversations/{ident}/ticket", agent)).json()["closed_at"] is not None
    assert (await desk.caller.get(f"/conversations/{ident}", agent)).json()["owner"] == "bot"
    await desk.send(created("T-1", "Still broken", type="ticket.message"))
    assert (await desk.caller.get(f"/conversations/{ident}/ticket", agent)).json()["closed_at"] is None


async def test_a_blocked_customer_is_refused_here_too(
    desk: HelpDesk, tenant: str, owner: psycopg.Connection[Any]
) -> None:
    owner.execute("INSERT INTO customers (tenant_id, id, status) VALUES (%s, 'c-7', 'blocked')", (tenant,))
    answer = await desk.send(created(customer_id="c-7"))
    assert (answer.status_code, slug(answer)) == (403, "customer-blocked")


# ------------------------------------------------------------ signatures


def wrong_signatures() -> dict[str, dict[str, Any]]:
    good = "v1,AAAA"
    return {
        "another secret": {"secret": "whsec_" + "b" * 32},
        "too old": {"at": time.time() - 301},
        "too new": {"at": time.time() + 320},
        "no comma": {"webhook-signature": "nope"},
        "no base64": {"webhook-signature": "v1,é"},
        "another version": {"webhook-signature": "v2,AAAA"},
        "a lot": {"webhook-signature": " ".join([good] * 2_000)},
        "no time": {"webhook-timestamp": "soon"},
        "not a number": {"webhook-timestamp": "nan"},
        "no end of time": {"webhook-timestamp": "1e400"},
        "another id": {"webhook-id": "msg_other"},
        "none": {"webhook-id": "", "webhook-timestamp": "", "webhook-signature": ""},
    }


@pytest.mark.parametrize("how", wrong_signatures())
async def test_what_is_not_signed_by_the_tenant_now_is_refused_and_nothing_of_it_stays(
    desk: HelpDesk, agent: VerifiedPrincipal, how: str
) -> None:
    raw, wrong = json.dumps(created()).encode(), wrong_signatures()[how]
    arguments = {name: value for name, value in wrong.items() if "-" not in name}
    headers = {**signed(raw, "msg_1", **arguments), **{n: v for n, v in wrong.items() if "-" in n}}
    answer = await desk.post(raw, headers)
    assert (answer.status_code, slug(answer)) == (401, "bad-signature")
    assert (await desk.caller.post("/conversations/search", {}, agent)).json()["items"] == []


async def test_a_tenant_that_is_not_there_and_one_without_a_secret_look_like_a_bad_signature(
    desk: HelpDesk, make_tenant: MakeTenant
) -> None:
    raw = json.dumps(created()).encode()
    bad = (await desk.post(raw, signed(raw, "msg_1", secret="whsec_" + "b" * 32))).json()
    for tenant in (make_tenant(), "nobody", "No Tenant", "..", "x" * 63):
        told = (await desk.post(raw, signed(raw, "msg_1"), tenant)).json()
        assert {**told, "request_id": ""} == {**bad, "request_id": ""}


async def test_a_signature_of_one_tenant_opens_no_other(desk: HelpDesk, db: Database, make_tenant: MakeTenant) -> None:
    other = make_tenant()
    await set_secret(db, VAULT, other, TICKETS, "whsec_" + "c" * 32)
    raw = json.dumps(created()).encode()
    answer = await desk.post(raw, signed(raw, "msg_1"), other)
    assert (answer.status_code, slug(answer)) == (401, "bad-signature")


# ------------------------------------------------------------ bodies

GOOD = created("T-1", message="M-1")


@pytest.mark.parametrize(
    ("place", "value", "field"),
    [
        ("type", "ticket.deleted", "body.type"),
        ("ticket.id", "", "body.ticket.id"),
        ("ticket.id", "a\nb", "body.ticket.id"),
        ("ticket.subject", "x" * 501, "body.ticket.subject"),
        ("ticket.requester", None, "body.ticket.requester"),
        ("ticket.language", "nope nope", "body.ticket.language"),
        ("message", None, "body"),
        ("message.text", " ", "body.message.text"),
        ("message.text", "nul \x00", "body.message.text"),
        ("message.text", "x" * 8_001, "body.message.text"),
        ("message.id", "x" * 129, "body.message.id"),
        ("message.at", "2026-01-01T00:00:00", "body.message.at"),
        ("message", {"id": "M-1", "author": {"id": "a"}, "html": "<p>Hi</p>"}, "body.message"),
    ],
)
async def test_a_signed_body_that_is_wrong_is_refused_with_what_would_be_right(
    desk: HelpDesk, place: str, value: Any, field: str
) -> None:
    event = json.loads(json.dumps(GOOD))
    *way, last = place.split(".")
    at = event
    for step in way:
        at = at[step]
    at[last] = value
    answer = await desk.send(event)
    assert (answer.status_code, slug(answer)) == (422, "invalid-request")
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert "<p>" not in answer.text


async def test_fields_that_are_not_known_are_passed_over(desk: HelpDesk) -> None:
    event = {**GOOD, "brand": {"id": 7}, "ticket": {**GOOD["ticket"], "priority": "high"}}
    assert (await desk.send(event)).status_code == 202


async def test_html_is_text_like_any_other(desk: HelpDesk, db: Database, agent: VerifiedPrincipal) -> None:
    text = "<script>alert(1)</script> my order?"
    told = (await desk.send(created(text=text))).json()
    assert await said(db, agent, told["conversation_id"]) == [text]


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "text", "author"]), inner),
    max_leaves=8,
)


_ALMOST = st.dictionaries(st.sampled_from(["type", "ticket", "message"]), _JSON).map(lambda changed: GOOD | changed)


@given(
    raw=st.binary(max_size=60) | (_JSON | _ALMOST).map(lambda body: json.dumps(body).encode()),
    name=st.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature", "x-none"]),
    header=st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_nothing_that_is_sent_gives_a_500(desk: HelpDesk, raw: bytes, name: str, header: str) -> None:
    headers = signed(raw, "msg_any") | ({name: header.strip()} if name != "x-none" else {})
    assert (await desk.post(raw, headers)).status_code in {202, 400, 401, 409, 422}
