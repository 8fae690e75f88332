"""An accepted message is in the log once, in order, and whoever has to know is woken after the commit."""

import asyncio
from typing import Any

from domain.principal import VerifiedPrincipal
from gateway.app import create_app
from tests.gateway.caller import Caller
from tests.gateway.conftest import MakeDoors, Notebook
from tests.store.world import Talk


async def say(caller: Caller, talk: Talk, ident: str, text: str = "Hello", **more: Any) -> tuple[int, dict[str, Any]]:
    body = {"client_message_id": ident, "text": text, **more}
    answer = await caller.post(f"/conversations/{talk.id}/messages", body, talk.customer)
    return answer.status_code, answer.json()


async def test_a_message_is_accepted_once(caller: Caller, talk: Talk, courier: Notebook) -> None:
    assert await say(caller, talk, "m1") == (202, {"seq": 1, "version": 1, "duplicate": False})
    assert await say(caller, talk, "m1") == (200, {"seq": 1, "version": 1, "duplicate": True})
    status, told = await say(caller, talk, "m1", "Other words")
    assert (status, told["type"]) == (409, "https://interlock.example/problems/message-conflict")
    assert len(await talk.log()) == 1
    assert [(wake.conversation_id, wake.seq) for wake in courier.wakes] == [(talk.id, 1)]


async def test_a_message_for_an_older_version_is_refused(caller: Caller, talk: Talk) -> None:
    await say(caller, talk, "m1")
    status, told = await say(caller, talk, "m2", expected_conversation_version=0)
    assert (status, told["type"].rpartition("/")[2], told["current_version"]) == (409, "version-conflict", 1)
    assert (await say(caller, talk, "m2", expected_conversation_version=1))[0] == 202


async def test_twenty_messages_posted_twice_at_once_are_twenty(caller: Caller, talk: Talk) -> None:
    async def twice(n: int) -> list[tuple[int, dict[str, Any]]]:
        return list(await asyncio.gather(*(say(caller, talk, f"c{n}", f"note {n}") for _ in range(2))))

    answers = await asyncio.gather(*(twice(n) for n in range(20)))
    for pair in answers:
        assert sorted(status for status, _ in pair) == [200, 202]
        assert len({told["seq"] for _, told in pair}) == 1
    page = (await caller.get(f"/conversations/{talk.id}/events", talk.customer)).json()
    assert [e["seq"] for e in page["events"]] == list(range(1, 21))
    assert {e["text"] for e in page["events"]} == {f"note {n}" for n in range(20)}
    assert page["version"] == 20


async def test_a_queue_that_is_full_takes_no_more(
    make_doors: MakeDoors, calling: Any, talk: Talk, agent: VerifiedPrincipal
) -> None:
    async with calling(create_app(make_doors(unanswered_messages_max=3))) as caller:
        assert [(await say(caller, talk, f"m{n}"))[0] for n in range(3)] == [202, 202, 202]
        answer = await caller.post(
            f"/conversations/{talk.id}/messages", {"client_message_id": "m4", "text": "x"}, talk.customer
        )
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (429, "queue-full")
        assert int(answer.headers["retry-after"]) > 0
        assert (await say(caller, talk, "m1"))[0] == 200
        await talk.take_over(agent)
        await talk.reply(agent)
        assert (await say(caller, talk, "m4"))[0] == 202


async def test_the_longest_text_is_taken_and_comes_back_as_it_was(caller: Caller, talk: Talk) -> None:
    text = "  Grüße \U0001f600 \u202e\t\r\n\ufffe" + "ß" * 7_985
    assert len(text) == 8_000
    assert (await say(caller, talk, "m1", text))[0] == 202
    page = (await caller.get(f"/conversations/{talk.id}/events", talk.customer)).json()
    assert page["events"][0]["text"] == text


async def test_the_log_is_read_in_pages(caller: Caller, talk: Talk) -> None:
    for n in range(5):
        await say(caller, talk, f"m{n}")
    seen: list[int] = []
    while True:
        after = seen[-1] if seen else 0
        page = (await caller.get(f"/conversations/{talk.id}/events?after={after}&limit=2", talk.customer)).json()
        if not page["events"]:
            break
        seen += [e["seq"] for e in page["events"]]
    assert seen == [1, 2, 3, 4, 5]


async def test_events_are_flat_and_a_proposal_keeps_its_kind(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal
) -> None:
    operation_id = await talk.proposed()
    events = (await caller.get(f"/conversations/{talk.id}/events", talk.customer)).json()["events"]
    proposal = next(e for e in events if e["kind"] == "proposal")
    assert (proposal["operation_id"], proposal["action_kind"]) == (operation_id, "refund")
    assert "body" not in proposal


async def test_a_conversation_begins_and_is_looked_at(caller: Caller, customer: VerifiedPrincipal) -> None:
    answer = await caller.post("/conversations", {}, customer)
    begun = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/conversations/{begun['id']}"
    assert {**begun, "id": ""} == {"id": "", "owner": "bot", "owner_epoch": 1, "version": 0, "phase": "idle"}
    view = (await caller.get(f"/conversations/{begun['id']}", customer)).json()
    assert view == {**begun, "actions": [], "handoff": None}
    assert (await caller.post("/conversations", None, customer)).status_code == 201
    assert (await caller.post("/conversations", {"channel": "E-Mail!"}, customer)).status_code == 422


async def test_search_goes_through_all_pages_once(
    caller: Caller, customer: VerifiedPrincipal, agent: VerifiedPrincipal, talk: Talk
) -> None:
    begun = {talk.id} | {(await caller.post("/conversations", {}, customer)).json()["id"] for _ in range(6)}
    for who in (customer, agent):
        found: list[str] = []
        cursor = None
        while True:
            body = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = (await caller.post("/conversations/search", body, who)).json()
            found += [item["id"] for item in page["items"]]
            if (cursor := page["next_cursor"]) is None:
                break
        assert len(found) == len(set(found))
        assert set(found) == begun


async def test_search_keeps_to_every_condition(caller: Caller, talk: Talk, agent: VerifiedPrincipal) -> None:
    other = await talk.beside()
    await other.say("Where is my blue Kettle?")
    await talk.say("Refund A-1, please.")
    await talk.take_over(agent)

    async def found(**body: Any) -> list[str]:
        page = await caller.post("/conversations/search", body, agent)
        return sorted(item["id"] for item in page.json()["items"])

    assert await found(text="blue kettle") == [other.id]
    assert await found(owner="human") == [talk.id]
    assert await found(owner="human", text="kettle") == []
    assert await found(phase="human_owned") == [talk.id]
    assert await found(principal_id=talk.customer.id) == sorted([talk.id, other.id])
    assert await found(principal_id="nobody") == []
