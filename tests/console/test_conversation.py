"""Laws of a conversation's page: who has it, what is known and since when, and that nothing is done twice or unseen."""

import json
from datetime import timedelta
from typing import Any

import httpx

from console.proposing import NEEDS
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console.staffroom import Staffroom, words_of
from tests.domain.test_payloads import ACCOUNT
from tests.store.terms import LARGE, now
from tests.store.world import Talk

Who = VerifiedPrincipal
HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


def done(answer: httpx.Response) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(answer.headers["hx-trigger"])["il:done"]
    return told


def at(talk: Talk, path: str = "") -> str:
    return f"/conversations/{talk.id}{path}"


async def undo(room: Staffroom, who: Who, answer: httpx.Response) -> None:
    back = done(answer)["undo"]
    await room.post(back["path"].removeprefix("/console"), who, back["fields"])


async def test_who_has_it_is_said_to_each(room: Staffroom, talk: Talk, agent: Who, manager: Who) -> None:
    await talk.say()
    assert "The assistant has this" in await room.words(at(talk), agent)
    await room.post(at(talk, "/takeover"), agent, {"request_id": "r-1"})
    assert "You have this" in await room.words(at(talk), agent)
    assert f"{agent.id} has this" in await room.words(at(talk), manager)
    late = await room.post(at(talk, "/release"), agent, {"request_id": "r-2", "owner_epoch": "1"})
    assert late.headers["x-problem"] == "not-owned"
    await room.post(at(talk, "/release"), agent, {"request_id": "r-3", "owner_epoch": "2"})
    told = await room.words(at(talk), agent)
    assert "You had this for" in told
    assert "The assistant has it from here" in told


async def test_a_takeover_in_the_middle_of_a_write_says_that_it_may_have_happened(
    room: Staffroom, talk: Talk, agent: Who
) -> None:
    await talk.claimed()
    taken = await room.post(at(talk, "/takeover"), agent, {"request_id": "r-1"})
    assert "1 action is in flight" in done(taken)["said"]
    told = await room.words(at(talk), agent)
    assert "it may have reached the shop" in told
    assert "Sent, no answer yet" in told


async def test_a_reply_is_sent_once_and_deals_with_what_was_seen(room: Staffroom, talk: Talk, agent: Who) -> None:
    await talk.say("first")
    await talk.take_over(agent)
    seen = len(await talk.log())
    await talk.say("second, unseen")
    fields: dict[str, str | list[str]] = {
        "client_message_id": "m-1",
        "text": "Here is what I found.",
        "seen_version": str(seen),
    }
    for _ in range(2):
        assert done(await room.post(at(talk, "/replies"), agent, fields))["sent"]
    assert len(await talk.log(EventKind.STAFF_REPLY)) == 1
    row = await talk.row()
    assert row.answered_seq < row.customer_seq
    other = await room.post(at(talk, "/replies"), agent, {**fields, "text": "Other words."})
    assert other.headers["x-problem"] == "message-conflict"


async def test_only_who_holds_it_replies(room: Staffroom, talk: Talk, agent: Who) -> None:
    sent = await room.post(at(talk, "/replies"), agent, {"client_message_id": "m-1", "text": "hello"})
    assert sent.headers["x-problem"] == "not-owned"
    assert await talk.log(EventKind.STAFF_REPLY) == []


async def test_what_is_not_yours_is_not_there(
    room: Staffroom, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    stranger = make_staff(make_tenant())
    for path in ("", "/log", "/facts", "/proposal"):
        answer = await room.get(at(talk, path), stranger)
        assert answer.status_code == 404, path
        assert talk.customer.id not in answer.text
    for path, fields in (
        ("/takeover", {}),
        ("/notes", {"text": "x"}),
        ("/tags", {"tag": "x"}),
        ("/snooze", {"hours": "1"}),
    ):
        assert (await room.post(at(talk, path), stranger, fields)).headers["x-problem"] == "not-found", path


async def test_a_form_of_another_session_changes_nothing(room: Staffroom, talk: Talk, agent: Who, manager: Who) -> None:
    await room.post(at(talk, "/takeover"), agent, {}, seal=await room.seal(manager))
    assert (await talk.row()).owner == "bot"


async def test_markup_in_any_field_stays_text(room: Staffroom, talk: Talk, agent: Who) -> None:
    await talk.say(f"message {HOSTILE}")
    await talk.take_over(agent)
    await room.post(at(talk, "/replies"), agent, {"text": f"reply {HOSTILE}", "client_message_id": "m-1"})
    await room.post(at(talk, "/notes"), agent, {"text": f"note {HOSTILE}", "client_message_id": "n-1"})
    page = await room.get(at(talk), agent)
    assert "<img" not in page.text
    assert "alert(2)</script>" not in page.text
    for kind in ("message", "reply", "note"):
        assert f'{kind} "><img' in words_of(page)
    assert "style=" not in page.text
    assert " onclick" not in page.text


async def test_what_can_be_taken_back_is(room: Staffroom, talk: Talk, agent: Who) -> None:
    tagged = await room.post(at(talk, "/tags"), agent, {"tag": "vip"})
    noted = await room.post(at(talk, "/notes"), agent, {"text": "Called twice.", "client_message_id": "n-1"})
    assigned = await room.post(at(talk, "/assignee"), agent, {"staff_id": agent.id})
    slept = await room.post(at(talk, "/snooze"), agent, {"hours": "3"})
    told = await room.words(at(talk), agent)
    for said in ("Called twice.", "Sleeps until", "vip"):
        assert said in told
    for answer in (tagged, noted, assigned, slept):
        await undo(room, agent, answer)
    told = await room.words(at(talk), agent)
    for said in ("Called twice.", "Sleeps until", "vip"):
        assert said not in told
    assert (
        await talk.all(
            "SELECT staff_id FROM assignments WHERE conversation_id = :id AND staff_id IS NOT NULL", id=talk.id
        )
        == []
    )


async def test_evidence_says_where_it_is_from_and_when_it_is_too_old(room: Staffroom, talk: Talk, agent: Who) -> None:
    assert "The account has not been read" in await room.words(at(talk), agent)
    await talk.read(observed_at=now() - timedelta(hours=2))
    told = await room.words(at(talk), agent)
    assert "Order A-1" in told
    assert "€900.00" in told
    assert "Stale:" in told
    await talk.read()
    assert "Stale:" not in await room.words(at(talk), agent)


async def test_an_action_stands_there_with_its_rules_and_what_it_lacks(room: Staffroom, talk: Talk, agent: Who) -> None:
    operation_id = await talk.proposed(LARGE)
    told = await room.words(at(talk), agent)
    digest = (await talk.action(operation_id)).payload_digest
    for said in (
        "Refund €200.00 on order A-1",
        "20000 minor units, EUR",
        "Still needs the customer and the manager",
        digest,
    ):
        assert said in told


async def test_a_proposal_is_shown_exactly_before_it_is_made(room: Staffroom, talk: Talk, agent: Who) -> None:
    await talk.read()
    await talk.take_over(agent)
    form = await room.get(at(talk, "/proposal?kind=refund"), agent, piece=True)
    assert "Order A-1" in words_of(form)
    fields: dict[str, str | list[str]] = {"kind": "refund", "resource": "order:A-1", "currency": "EUR"}
    shown = await room.post(at(talk, "/proposal/review"), agent, {**fields, "amount": "12,5"})
    assert "€12.50 (1250 minor units, EUR)" in words_of(shown)
    unclear = await room.post(at(talk, "/proposal/review"), agent, {**fields, "amount": "1.250"})
    assert "Propose exactly this" not in unclear.text
    assert await talk.log(EventKind.PROPOSAL) == []


async def test_every_kind_can_be_asked_for_from_what_the_account_holds(room: Staffroom, talk: Talk, agent: Who) -> None:
    await talk.read(ACCOUNT)
    for kind, needs in NEEDS.items():
        form = words_of(await room.get(at(talk, f"/proposal?kind={kind}"), agent, piece=True))
        assert "Look at it before it is proposed" in form, kind
        assert f"{needs.on[0].capitalize()} " in form, kind
    exchange = await room.get(at(talk, "/proposal?kind=exchange_items&resource=order:A-1"), agent, piece=True)
    assert 'value="lamp-1&gt;lamp-2"' in exchange.text


async def test_who_else_is_here_is_said(room: Staffroom, talk: Talk, agent: Who, manager: Who) -> None:
    await room.post(at(talk, "/presence"), manager, {"state": "typing"})
    seen = await room.post(at(talk, "/presence"), agent, {"state": "looking"})
    assert f"{manager.id} is typing" in words_of(seen)
    assert f"{agent.id} is" not in words_of(seen)
    await room.post(at(talk, "/presence"), manager, {"state": "gone"})
    assert f"{manager.id} is" not in await room.words(at(talk), agent)


async def test_a_handoff_is_rated_by_who_received_it(room: Staffroom, talk: Talk, agent: Who, manager: Who) -> None:
    await talk.ask_for_person()
    change = await talk.take_over(agent)
    await talk.release(agent)
    fields: dict[str, str | list[str]] = {
        "handoff_id": change.handoff_id or "",
        "score": "4",
        "right_to_escalate": "yes",
    }
    assert "Rate this handoff" in await room.words(at(talk), agent)
    assert "Rate this handoff" not in await room.words(at(talk), manager)
    await room.post(at(talk, "/rating"), agent, fields)
    assert "You rated this handoff 4 of 5" in await room.words(at(talk), agent)
