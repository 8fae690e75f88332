"""The queue over HTTP: filters, pages, figures; claims; the desk's document; what staff and a waiting customer see."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from domain.conversation import EventKind
from domain.principal import StaffRole, VerifiedPrincipal
from domain.refusal import VersionConflict
from gateway.app import create_app
from store.log import append, append_behind, lock_conversation
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Serve
from tests.gateway.issuer import Issuer
from tests.store.terms import now
from tests.store.world import Talk

Who = VerifiedPrincipal


@pytest.fixture
def admin(tenant: str, make_staff: MakeStaff) -> Who:
    return make_staff(tenant, StaffRole.ADMIN)


async def queue(caller: Caller, who: Who, **wanted: Any) -> dict[str, Any]:
    answer = await caller.get("/queue", who, params=wanted)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def conversations(told: dict[str, Any]) -> list[str]:
    return [item["conversation_id"] for item in told["items"]]


async def test_an_item_says_all_that_a_list_shows(caller: Caller, talk: Talk, agent: Who) -> None:
    operation_id = await talk.unknown()
    asked = await talk.ask_for_person()
    told = await queue(caller, agent)
    (item,) = told["items"]
    assert item["item"] == "handoff"
    assert (item["handoff_id"], item["conversation_id"]) == (asked.handoff_id, talk.id)
    assert (item["urgency"], item["urgency_why"]) == ("urgent", "money:unknown")
    assert [f["operation_id"] for f in item["in_flight"]] == [operation_id]
    assert (item["position"], item["estimate_s"], item["due"]["kind"]) == (1, None, "first_reply")
    assert (item["owner"], item["customer_id"], item["channel"]) == ("human", talk.customer.id, "chat")
    assert told["counts"] == {
        "waiting": 1,
        "claimed": 0,
        "urgent": 1,
        "overdue": 0,
        "by_language": {"en": 1},
        "by_reason": {"customer_requested": 1},
    }
    assert (told["throughput"]["n"], told["throughput"]["median_wait_s"]) == (0, None)
    assert told["hours"] == {"open": True, "opens_at": None, "closes_at": None, "timezone": "UTC"}


async def test_every_kind_of_thing_that_waits_is_there_and_can_be_asked_for(
    caller: Caller, talk: Talk, agent: Who
) -> None:
    waits = await talk.proposed(amount=20_000)
    unknown = await talk.beside()
    operation_id = await unknown.unknown("A-2")
    await unknown.open_case(operation_id)
    told = await queue(caller, agent)
    kinds = {(i["item"], i["operation_id"]) for i in told["items"]}
    assert kinds == {("approval", waits), ("case", operation_id), ("handoff", None)}
    for kind in ("approval", "case", "handoff"):
        assert [i["item"] for i in (await queue(caller, agent, kind=kind))["items"]] == [kind]
    assert (await queue(caller, agent, kind="draft"))["items"] == []


async def test_filters_hold_together_and_counts_are_of_everything(
    caller: Caller, talk: Talk, agent: Who, make_staff: MakeStaff
) -> None:
    other = await talk.beside()
    await talk.ask_for_person()
    await other.ask_for_person()
    await other.take_over(agent)
    assert conversations(await queue(caller, agent, status="waiting")) == [talk.id]
    assert conversations(await queue(caller, agent, status="claimed", assignee="me")) == [other.id]
    assert conversations(await queue(caller, agent, assignee="none")) == [talk.id]
    assert conversations(await queue(caller, agent, assignee=agent.id)) == [other.id]
    assert conversations(await queue(caller, make_staff(talk.tenant), assignee="me")) == []
    assert conversations(await queue(caller, agent, reason="high_risk")) == []
    assert set(conversations(await queue(caller, agent, urgency="high", language="en"))) == {talk.id, other.id}
    told = await queue(caller, agent, language="xx")
    assert (told["items"], told["counts"]["waiting"], told["counts"]["claimed"]) == ([], 1, 1)


async def test_what_sleeps_or_has_a_tag_is_found_as_such(caller: Caller, talk: Talk, agent: Who) -> None:
    other = await talk.beside()
    await talk.ask_for_person()
    await other.ask_for_person()
    await caller.ask(
        "PUT", f"/conversations/{talk.id}/snooze", agent, json={"until": (now() + timedelta(days=1)).isoformat()}
    )
    await caller.post(f"/conversations/{other.id}/tags/vip", None, agent)
    assert conversations(await queue(caller, agent)) == [other.id]
    assert conversations(await queue(caller, agent, snoozed=True)) == [talk.id]
    (item,) = (await queue(caller, agent, tag="vip"))["items"]
    assert (item["conversation_id"], item["tags"]) == (other.id, ["vip"])


async def test_pages_follow_each_other_without_gap_or_repeat(caller: Caller, talk: Talk, agent: Who) -> None:
    talks = [talk, *[await talk.beside() for _ in range(4)]]
    for one in talks:
        await one.ask_for_person()
    seen, cursor = [], None
    while True:
        told = await queue(caller, agent, limit=2, **({"cursor": cursor} if cursor else {}))
        seen += conversations(told)
        if (cursor := told["next_cursor"]) is None:
            break
    assert seen == [t.id for t in talks]


@pytest.mark.parametrize(
    "wanted", [{"cursor": "nonsense"}, {"cursor": "W10"}, {"limit": "0"}, {"kind": "x"}, {"q": "x"}]
)
async def test_a_filter_that_is_none_is_refused(caller: Caller, agent: Who, wanted: dict[str, str]) -> None:
    assert (await caller.get("/queue", agent, params=wanted)).status_code == 422


async def test_what_fits_comes_first_for_who_asks_for_it(caller: Caller, talk: Talk, agent: Who, admin: Who) -> None:
    document = {"skills": {"by_intent": {"refund_request": "billing"}}}
    put = await caller.ask("PUT", "/desk", admin, json={"document": document, "expected_version": 0})
    assert (put.status_code, put.json()) == (200, {"version": 1})
    async with talk.db.transaction(talk.tenant) as tx:
        row = await lock_conversation(tx, talk.id)
        await append(tx, row, EventKind.NOTICE, "bot:interlock", {"notice": "reopened", "text": "Hello."})
        await append_behind(tx, row, [(EventKind.UNDERSTANDING, {"intent": "refund_request"})])
    other = await talk.beside()
    await talk.ask_for_person()
    await other.ask_for_person()
    assert [(i["skill"], i["fits"]) for i in (await queue(caller, agent))["items"]] == [
        ("billing", False),
        (None, True),
    ]
    assert conversations(await queue(caller, agent, **{"for": "me"})) == [other.id, talk.id]
    put = await caller.ask("PUT", f"/staff/{agent.id}/skills", admin, json={"skills": ["billing"], "languages": ["en"]})
    assert put.json()["skills"] == ["billing"]
    assert conversations(await queue(caller, agent, **{"for": "me"})) == [talk.id, other.id]
    staff = {one["id"]: one["skills"] for one in (await caller.get("/staff", agent)).json()["items"]}
    assert staff == {agent.id: ["billing"], admin.id: []}


async def test_the_desk_is_set_by_who_manages_staff_once_for_each_version(
    caller: Caller, agent: Who, admin: Who
) -> None:
    shown = (await caller.get("/desk", agent)).json()
    assert shown["version"] == 0
    body = {"document": {**shown["document"], "timezone": "Europe/Berlin"}, "expected_version": 0}
    assert (await caller.ask("PUT", "/desk", agent, json=body)).status_code == 403
    assert (await caller.ask("PUT", "/desk", admin, json=body)).json() == {"version": 1}
    again = await caller.ask("PUT", "/desk", admin, json=body)
    assert (again.status_code, again.json()["current_version"]) == (VersionConflict.status, 1)
    assert (await caller.get("/desk", agent)).json() == {"version": 1, "document": body["document"]}
    wrong = {"document": {"timezone": "Mars/Olympus"}, "expected_version": 1}
    refused = await caller.ask("PUT", "/desk", admin, json=wrong)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "body.document.timezone")
    assert (
        await caller.ask("PUT", f"/staff/{agent.id}/skills", agent, json={"skills": [], "languages": []})
    ).status_code == 403


async def test_a_claim_is_told_and_given_back(caller: Caller, talk: Talk, agent: Who, manager: Who) -> None:
    ident = (await talk.ask_for_person()).handoff_id
    taken = await caller.post(f"/handoffs/{ident}/claim", {"minutes": 5}, agent)
    assert (taken.status_code, taken.json()["staff"]) == (200, agent.id)
    refused = await caller.post(f"/handoffs/{ident}/claim", {}, manager)
    assert (refused.status_code, refused.json()["staff"]) == (409, agent.id)
    (item,) = (await queue(caller, manager))["items"]
    assert item["claim"] == {"staff": agent.id, "until": taken.json()["until"]}
    assert (await caller.ask("DELETE", f"/handoffs/{ident}/claim", agent)).json() == {"handoff_id": ident}
    assert (await caller.post(f"/handoffs/{ident}/claim", None, manager)).status_code == 200
    assert (await caller.post(f"/handoffs/{ident}/claim", {}, talk.customer)).status_code == 403


async def test_who_changes_something_sees_it_in_their_next_answer_and_no_stranger_sees_any(
    make_doors: MakeDoors,
    serve: Serve,
    issuer: Issuer,
    talk: Talk,
    agent: Who,
    make_staff: MakeStaff,
    make_tenant: MakeTenant,
) -> None:
    ident = (await talk.ask_for_person()).handoff_id
    mine, theirs = (
        {"Authorization": f"Bearer {issuer.token(who)}"} for who in (agent, make_staff(make_tenant(), StaffRole.AGENT))
    )
    async with serve(create_app(make_doors())) as url, httpx.AsyncClient(base_url=url) as http:
        for _ in range(5):
            for method, until in (("POST", True), ("DELETE", False)):
                changed = await http.request(method, f"/handoffs/{ident}/claim", headers=mine)
                assert changed.status_code == 200, changed.text
                seen, other = await asyncio.gather(*(http.get("/queue", headers=who) for who in (mine, theirs)))
                assert [item["claim"] is not None for item in seen.json()["items"]] == [until]
                assert (other.json()["items"], other.json()["counts"]["waiting"]) == ([], 0)


async def test_a_waiting_customer_is_told_what_is_known_and_no_more(
    caller: Caller, talk: Talk, agent: Who, admin: Who
) -> None:
    path = f"/conversations/{talk.id}/waiting"
    told = (await caller.get(path, talk.customer)).json()
    assert (told["queue_status"], told["position"], told["open"]) == ("none", None, True)
    await talk.ask_for_person()
    told = (await caller.get(path, talk.customer)).json()
    assert (told["queue_status"], told["position"], told["ahead"]) == ("waiting", 1, 0)
    assert (told["estimate_s"], told["estimate_n"]) == (None, 0)
    for _ in range(5):
        other = await talk.beside()
        await other.ask_for_person()
        await other.take_over(agent)
    told = (await caller.get(path, talk.customer)).json()
    assert (told["estimate_s"], told["estimate_n"]) == (4 * 3_600 // 5, 5)
    closed = {"timezone": "Europe/Berlin", "hours": {}}
    await caller.ask("PUT", "/desk", admin, json={"document": closed, "expected_version": 0})
    told = (await caller.get(path, agent)).json()
    assert (told["estimate_s"], told["open"], told["out_of_hours"]) == (None, False, True)
    assert (told["opens_at"], told["timezone"]) == (None, "Europe/Berlin")


async def test_staff_see_more_of_a_conversation_than_its_customer(caller: Caller, talk: Talk, agent: Who) -> None:
    asked = await talk.ask_for_person()
    mine = (await caller.get(f"/conversations/{talk.id}", talk.customer)).json()
    assert set(mine) == {"id", "owner", "owner_epoch", "version", "phase", "actions", "handoff"}
    assert set(mine["handoff"]) == {"id", "queue_status"}
    theirs = (await caller.get(f"/conversations/{talk.id}", agent)).json()
    assert {k: theirs[k] for k in mine if k != "handoff"} == {k: mine[k] for k in mine if k != "handoff"}
    assert (theirs["handoff"]["id"], theirs["handoff"]["reason"]) == (asked.handoff_id, "customer_requested")
    assert theirs["principal"] == {"kind": "customer", "id": talk.customer.id}
    assert theirs["workflow_id"] == f"conversation/{talk.id}"
    assert (theirs["urgency"], theirs["due"]["kind"], theirs["draft"]) == ("high", "first_reply", None)
    await talk.take_over(agent)
    held = (await caller.get(f"/conversations/{talk.id}", agent)).json()
    assert (held["holder"], held["handoff"]["queue_status"]) == (agent.id, "claimed")
