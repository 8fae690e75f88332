"""What people decide of drafts over HTTP: who may, what is taken, and what nobody else ever sees of it."""

from typing import Any

import psycopg
import pytest

from domain.conversation import EventKind
from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import Notebook
from tests.store.drafting import ON_ITS_WAY, drafted, keep
from tests.store.world import Talk

Who = VerifiedPrincipal
ACCEPT = {"request_id": "d-1", "decision": "accept"}
REJECT = {"request_id": "d-2", "decision": "reject", "reason": "It is lost."}


async def decide(caller: Caller, draft_id: str, who: Who, body: dict[str, Any] = ACCEPT) -> tuple[int, dict[str, Any]]:
    answer = await caller.post(f"/drafts/{draft_id}/decisions", body, who)
    return answer.status_code, answer.json()


def slug(told: dict[str, Any]) -> str:
    return str(told["type"]).rpartition("/")[2]


async def test_a_waiting_draft_is_listed_with_what_it_answers_and_rests_on(
    caller: Caller, talk: Talk, agent: Who
) -> None:
    draft_id = await drafted(talk)
    (item,) = (await caller.get("/drafts", agent)).json()["items"]
    assert (item["draft_id"], item["state"], item["stale"]) == (draft_id, "waiting", False)
    assert item["segments"] == [{"text": ON_ITS_WAY.text, "source": "template", "sources": []}]
    assert [m["text"] for m in item["messages"]] == ["Where is it?"]
    assert (await caller.get(f"/drafts/{draft_id}", agent)).json() == item | {"waited_s": item["waited_s"]}
    seen = (await caller.get(f"/conversations/{talk.id}", agent)).json()
    assert seen["draft"]["draft_id"] == draft_id


async def test_accepting_sends_once_and_wakes_the_workflow(
    caller: Caller, talk: Talk, agent: Who, courier: Notebook
) -> None:
    draft_id = await drafted(talk)
    status, told = await decide(caller, draft_id, agent)
    assert (status, told["state"], told["handoff_id"]) == (200, "accepted", None)
    assert await decide(caller, draft_id, agent) == (200, told)
    assert [w.seq for w in courier.wakes] == [told["seq"]]
    assert len(await talk.log(EventKind.BOT_REPLY)) == 1
    (item,) = (await caller.get("/drafts?state=accepted", agent)).json()["items"]
    assert (item["decided_by"], item["change_permille"]) == (agent.key, 0)


async def test_the_customer_learns_that_somebody_looked_and_not_who_or_what_they_changed(
    caller: Caller, talk: Talk, agent: Who
) -> None:
    draft_id = await drafted(talk)
    before = (await caller.get(f"/conversations/{talk.id}", talk.customer)).json()
    assert "draft" not in before
    await decide(caller, draft_id, agent, ACCEPT | {"text": "It is nearly there."})
    page = await caller.get(f"/conversations/{talk.id}/events", talk.customer)
    assert agent.id not in page.text
    assert ON_ITS_WAY.text not in page.text
    (reply,) = [e for e in page.json()["events"] if e["kind"] == "bot_reply"]
    assert (reply["reviewed"], reply["automated"], {"reviewed_by", "draft_id", "edited"} & set(reply)) == (
        True, True, set(),
    )  # fmt: skip
    page = await caller.get(f"/conversations/{talk.id}/events", agent)
    (reply,) = [e for e in page.json()["events"] if e["kind"] == "bot_reply"]
    assert (reply["reviewed_by"], reply["edited"]) == (agent.key, True)


async def test_rejecting_gives_the_conversation_to_whoever_does(
    caller: Caller, talk: Talk, agent: Who, courier: Notebook
) -> None:
    draft_id = await drafted(talk)
    status, told = await decide(caller, draft_id, agent, REJECT)
    assert (status, told["state"], told["seq"]) == (200, "rejected", None)
    bundle = (await caller.get(f"/handoffs/{told['handoff_id']}", agent)).json()
    assert (bundle["reason"], bundle["owner"]) == ("draft_rejected", agent.key)
    assert courier.wakes
    answer = await caller.post(
        f"/conversations/{talk.id}/replies", {"client_message_id": "m", "text": "Hello, it is lost."}, agent
    )
    assert answer.status_code == 202


async def test_the_second_to_decide_is_told_who_was_first(caller: Caller, talk: Talk, agent: Who, manager: Who) -> None:
    draft_id = await drafted(talk)
    await decide(caller, draft_id, agent)
    status, told = await decide(caller, draft_id, manager, REJECT)
    assert (status, slug(told), told["reason"], told["staff"]) == (409, "draft-stale", "decided", agent.id)
    status, told = await decide(caller, draft_id, agent, ACCEPT | {"text": "Other words."})
    assert (status, slug(told)) == (409, "request-conflict")


async def test_a_renewal_wakes_the_assistant_and_a_superseded_draft_sends_nothing(
    caller: Caller, talk: Talk, agent: Who, courier: Notebook
) -> None:
    draft_id = await drafted(talk)
    answer = await caller.post(f"/drafts/{draft_id}/renewals", {}, agent)
    assert (answer.json()["state"], len(courier.wakes)) == ("superseded", 1)
    status, told = await decide(caller, draft_id, agent)
    assert (status, told["reason"]) == (409, "renewed")
    assert await talk.log(EventKind.BOT_REPLY) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"decision": "reject"},
        {"decision": "reject", "reason": "  "},
        {"decision": "reject", "reason": "No.", "text": "Instead."},
        {"decision": "accept", "reason": "Because."},
        {"decision": "accept", "text": " \n"},
        {"decision": "accept", "text": "half \x00"},
        {"decision": "accept", "text": "x" * 8_001},
        {"decision": "accept", "text": 7},
        {"decision": "send"},
        {"decision": "accept", "staff": "mia"},
    ],
)
async def test_what_is_no_decision_changes_nothing(
    wrong: dict[str, Any], caller: Caller, talk: Talk, agent: Who
) -> None:
    draft_id = await drafted(talk)
    status, told = await decide(caller, draft_id, agent, {"request_id": "d-9", **wrong})
    assert (status, slug(told)) == (422, "invalid-request")
    assert (await caller.get(f"/drafts/{draft_id}", agent)).json()["state"] == "waiting"


async def test_drafts_are_there_for_the_staff_of_the_tenant_alone(
    caller: Caller, talk: Talk, visitor: Who, service: Who, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    draft_id = await drafted(talk)
    stranger = make_staff(make_tenant(), StaffRole.ADMIN)
    for who in (talk.customer, visitor, service, stranger):
        assert (await caller.get(f"/drafts/{draft_id}", who)).status_code == 404
        for body in (ACCEPT, REJECT):
            assert (await decide(caller, draft_id, who, body))[0] == 404
        assert (await caller.post(f"/drafts/{draft_id}/renewals", {}, who)).status_code == 404
    assert (await caller.get("/drafts", talk.customer)).status_code == 403
    assert (await caller.get("/drafts", stranger)).json()["items"] == []
    assert (await caller.get("/drafts/nowhere", stranger)).status_code == 404


async def test_pages_lead_from_one_to_the_next(caller: Caller, talk: Talk, agent: Who) -> None:
    made = []
    for one in (talk, await talk.beside(), await talk.beside()):
        await one.say()
        await keep(one)
        made.append(one.id)
    seen, path = [], "/drafts?limit=2"
    while path:
        page = (await caller.get(path, agent)).json()
        seen += [item["conversation_id"] for item in page["items"]]
        path = f"/drafts?limit=2&cursor={page['next_cursor']}" if page["next_cursor"] else ""
    assert seen == made
    answer = await caller.get("/drafts?cursor=nonsense", agent)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "query.cursor")


async def test_where_the_assistant_may_not_even_draft_any_more_a_draft_is_not_let_out(
    caller: Caller, talk: Talk, agent: Who, owner: psycopg.Connection[Any]
) -> None:
    draft_id = await drafted(talk)
    owner.execute("UPDATE tenants SET stage = 'shadow' WHERE id = %s", (talk.tenant,))
    status, told = await decide(caller, draft_id, agent)
    assert (status, slug(told)) == (403, "forbidden")
    assert await talk.log(EventKind.BOT_REPLY) == []
    status, told = await decide(caller, draft_id, agent, {"request_id": "r", "decision": "reject", "reason": "no"})
    assert (status, told["state"]) == (200, "rejected")
