"""Laws of the queue's page: what waits, most urgent first, with its reason; what is not yours is not there."""

import json
import re
from typing import Any

import httpx

from domain.principal import VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console.staffroom import Staffroom, words_of
from tests.store.world import Talk

Who = VerifiedPrincipal
HOSTILE = "<script>alert(1)</script>"


def done(answer: httpx.Response) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(answer.headers["hx-trigger"])["il:done"]
    return told


async def handoff_of(talk: Talk) -> str:
    return (await talk.ask_for_person()).handoff_id or ""


async def test_nobody_waits_is_said_with_what_was_measured(room: Staffroom, agent: Who) -> None:
    told = await room.words("/", agent)
    assert "Nobody waits." in told
    assert "Nobody needed a person in the last hour." in told
    assert "Nothing matches these filters." in await room.words("/?urgency=urgent", agent)


async def test_what_waits_says_why_and_for_whom(room: Staffroom, talk: Talk, agent: Who) -> None:
    await talk.say("Where is A-1?")
    await handoff_of(talk)
    told = await room.words("/", agent)
    assert "1 waiting" in told
    assert "The customer pressed “Talk to a person”" in told
    assert talk.customer.id in told
    piece = await room.get("/", agent, piece=True)
    assert "<html" not in piece.text
    assert f"/console/conversations/{talk.id}" in piece.text


async def test_a_claim_is_seen_by_others_and_can_be_given_back(
    room: Staffroom, talk: Talk, agent: Who, manager: Who
) -> None:
    handoff_id = await handoff_of(talk)
    taken = await room.post(f"/handoffs/{handoff_id}/claim", agent, {})
    assert "Claimed" in done(taken)["said"]
    assert f"{agent.id} until" in await room.words("/", manager)
    second = await room.post(f"/handoffs/{handoff_id}/claim", manager, {})
    assert second.headers["x-problem"] == "handoff-claimed"
    undo = done(taken)["undo"]
    await room.post(undo["path"].removeprefix("/console"), agent, undo["fields"])
    assert f"{agent.id} until" not in await room.words("/", manager)


async def test_what_is_not_yours_is_not_there(
    room: Staffroom, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    handoff_id = await handoff_of(talk)
    stranger = make_staff(make_tenant())
    assert talk.customer.id not in await room.words("/", stranger)
    for path in (f"/handoffs/{handoff_id}/claim", f"/handoffs/{handoff_id}/unclaim"):
        assert (await room.post(path, stranger, {})).headers["x-problem"] == "not-found"


async def test_a_form_of_another_session_changes_nothing(room: Staffroom, talk: Talk, agent: Who, manager: Who) -> None:
    handoff_id = await handoff_of(talk)
    await room.post(f"/handoffs/{handoff_id}/claim", agent, {}, seal=await room.seal(manager))
    assert f"{agent.id} until" not in await room.words("/", manager)


async def test_a_view_is_a_link_to_its_filters(room: Staffroom, agent: Who, manager: Who) -> None:
    kept = await room.post("/views", agent, {"name": HOSTILE, "urgency": "high", "tag": "vip", "shared": "on"})
    assert done(kept)["reload"] is True
    page = await room.get("/", manager)
    assert HOSTILE not in page.text
    assert "alert(1)" in words_of(page)
    link = re.search(r'href="(/console/\?urgency=high&amp;tag=vip)"', page.text)
    assert link is not None
    assert (await room.post("/views", agent, {"name": ""})).headers["x-problem"] == "invalid-request"


async def test_the_page_is_for_the_staff_alone(room: Staffroom, talk: Talk) -> None:
    sent = await room.get("/", talk.customer)
    assert sent.status_code == 303
    assert sent.headers["location"].startswith("/console/sign-in")


async def test_a_takeover_from_the_queue_opens_the_conversation(room: Staffroom, talk: Talk, agent: Who) -> None:
    await handoff_of(talk)
    taken = await room.post(f"/conversations/{talk.id}/takeover", agent, {"request_id": "r-1"}, piece=False)
    assert (taken.status_code, taken.headers["location"]) == (303, f"/console/conversations/{talk.id}")
    assert (await talk.row()).owner == "human"
    assert talk.customer.id in await room.words("/?assignee=me", agent)
