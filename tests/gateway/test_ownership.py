"""Takeover, release, replies, handoff, approvals and the queue, as they go over HTTP."""

from typing import Any

from domain.conversation import EventKind
from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff
from tests.gateway.caller import Caller
from tests.gateway.conftest import Notebook
from tests.store.world import Talk


async def post(
    caller: Caller, talk: Talk, what: str, who: VerifiedPrincipal, **body: Any
) -> tuple[int, dict[str, Any]]:
    answer = await caller.post(f"/conversations/{talk.id}/{what}", body, who)
    return answer.status_code, answer.json()


async def test_a_takeover_is_answered_once_and_withdraws_what_was_not_sent(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, courier: Notebook
) -> None:
    operation_id = await talk.proposed()
    status, told = await post(caller, talk, "takeover", agent, request_id="t1")
    assert (status, told["owner"], told["owner_epoch"], told["in_flight"]) == (200, "human", 2, [])
    assert set(told) == {"owner", "owner_epoch", "in_flight", "handoff_id"}
    assert await post(caller, talk, "takeover", agent, request_id="t1") == (status, told)
    assert (await caller.get(f"/actions/{operation_id}", agent)).json()["state"] == "rejected"
    assert [wake.owner_epoch for wake in courier.wakes] == [2]


async def test_a_takeover_names_what_is_in_flight(caller: Caller, talk: Talk, agent: VerifiedPrincipal) -> None:
    operation_id = await talk.claimed()
    assert (await post(caller, talk, "takeover", agent, request_id="t1"))[1]["in_flight"] == [operation_id]


async def test_release_is_for_the_holder_and_ends_one_epoch(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, manager: VerifiedPrincipal
) -> None:
    assert (await post(caller, talk, "release", agent, request_id="r0"))[1]["type"].endswith("not-owned")
    await post(caller, talk, "takeover", agent, request_id="t1")
    assert (await post(caller, talk, "release", manager, request_id="r1"))[1]["type"].endswith("not-owned")
    status, told = await post(caller, talk, "release", agent, request_id="r2", owner_epoch=1)
    assert (status, told["owner_epoch"]) == (409, 2)
    released = await post(caller, talk, "release", agent, request_id="r3", owner_epoch=2)
    assert released == (200, {"owner": "bot", "owner_epoch": 3})
    assert await post(caller, talk, "release", agent, request_id="r3", owner_epoch=2) == released
    status, told = await post(caller, talk, "takeover", agent, request_id="r3")
    assert told["type"].endswith("request-conflict")


async def test_a_reply_needs_a_person_who_has_the_conversation(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal
) -> None:
    reply = {"client_message_id": "a1", "text": "I am looking."}
    status, told = await post(caller, talk, "replies", agent, **reply)
    assert (status, told["type"].rpartition("/")[2], told["owner"]) == (409, "not-owned", "bot")
    await post(caller, talk, "takeover", agent, request_id="t1")
    status, told = await post(caller, talk, "replies", agent, **reply)
    assert (status, told["duplicate"]) == (202, False)
    assert (await post(caller, talk, "replies", agent, **reply))[0] == 200
    status, other = await post(caller, talk, "replies", agent, **{**reply, "text": "Other words"})
    assert (status, other["type"].rpartition("/")[2]) == (409, "message-conflict")
    status, other = await post(caller, talk, "replies", agent, client_message_id="a2", text="x", seen_version=99)
    assert (status, other["current_version"]) == (409, told["version"])
    assert len(await talk.log(EventKind.STAFF_REPLY)) == 1


async def test_asking_for_a_person_twice_is_one_handoff_with_its_bundle(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, courier: Notebook
) -> None:
    await talk.say("Where is my order?")
    asked = await post(caller, talk, "handoff", talk.customer, request_id="h1", reason="customer asked")
    assert (asked[0], asked[1]["owner"], asked[1]["queue_status"]) == (200, "human", "waiting")
    assert await post(caller, talk, "handoff", talk.customer, request_id="h1", reason="customer asked") == asked
    again = await post(caller, talk, "handoff", talk.customer, request_id="h2", reason="still")
    assert again[1]["handoff_id"] == asked[1]["handoff_id"]
    assert len([wake for wake in courier.wakes if wake.owner_epoch == 2]) == 1
    bundle = (await caller.get(f"/handoffs/{asked[1]['handoff_id']}", agent)).json()
    assert bundle["open_questions"] == ["Where is my order?"]
    assert bundle["transcript_url"] == f"/conversations/{talk.id}/events?after=0"
    queued = (await caller.get("/queue", agent)).json()["items"]
    assert [item["handoff_id"] for item in queued] == [asked[1]["handoff_id"]]
    view = (await caller.get(f"/conversations/{talk.id}", talk.customer)).json()
    assert view["handoff"] == {"id": asked[1]["handoff_id"], "queue_status": "waiting"}
    await post(caller, talk, "takeover", agent, request_id="t1")
    assert (await caller.get("/queue", agent)).json()["items"][0]["queue_status"] == "claimed"


async def decide(
    caller: Caller, talk: Talk, operation_id: str, who: VerifiedPrincipal, decision: str = "approve", **more: Any
) -> tuple[int, dict[str, Any]]:
    digest = more.pop("digest", None) or (await talk.action(operation_id)).payload_digest
    body = {"payload_digest": digest, "decision": decision, **more}
    answer = await caller.post(f"/actions/{operation_id}/approvals", body, who)
    return answer.status_code, answer.json()


async def test_an_approval_is_for_exactly_what_was_shown(caller: Caller, talk: Talk, courier: Notebook) -> None:
    operation_id = await talk.proposed()
    for digest in ("0" * 64, "x", "Ü"):
        status, told = await decide(caller, talk, operation_id, talk.customer, digest=digest)
        assert (status, told["type"].rpartition("/")[2]) == (409, "approval-stale")
    assert courier.wakes == []
    approved = await decide(caller, talk, operation_id, talk.customer, note="Yes, please.")
    assert approved[0] == 200
    assert approved[1] == {
        "operation_id": operation_id, "role": "customer", "decision": "approve", "state": "awaiting_approval",
    }  # fmt: skip
    assert await decide(caller, talk, operation_id, talk.customer) == approved
    assert {wake.operation_id for wake in courier.wakes} == {operation_id, None}
    status, told = await decide(caller, talk, operation_id, talk.customer, "reject")
    assert (status, told["type"].rpartition("/")[2]) == (409, "approval-stale")


async def test_staff_approve_in_the_role_that_they_have(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, manager: VerifiedPrincipal
) -> None:
    operation_id = await talk.proposed(20_000)
    status, told = await decide(caller, talk, operation_id, agent)
    assert (status, told["type"].rpartition("/")[2]) == (403, "approval-not-allowed")
    waiting = (await caller.get("/approvals", manager)).json()["items"]
    assert [(item["operation_id"], item["missing"]) for item in waiting] == [(operation_id, ["customer", "manager"])]
    status, told = await decide(caller, talk, operation_id, manager)
    assert (status, told["role"]) == (200, "manager")
    assert (await caller.get("/approvals", manager)).json()["items"] == []


async def test_a_rejected_proposal_is_over(caller: Caller, talk: Talk) -> None:
    operation_id = await talk.proposed()
    assert (await decide(caller, talk, operation_id, talk.customer, "reject"))[1]["state"] == "rejected"
    action = (await caller.get(f"/actions/{operation_id}", talk.customer)).json()
    assert [move["to_state"] for move in action["history"]] == ["proposed", "awaiting_approval", "rejected"]
    assert "external_id" not in action


async def test_a_confirmed_action_has_its_external_id(
    caller: Caller, talk: Talk, make_staff: MakeStaff, tenant: str
) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id)
    for who in (talk.customer, make_staff(tenant, StaffRole.FINANCE)):
        action = (await caller.get(f"/actions/{operation_id}", who)).json()
        assert (action["state"], action["external_id"]) == ("confirmed", "re_1")
        named = "operation_id kind state payload payload_digest required_approvals external_id history"
        of_staff = {"repair"} if who.is_staff else set()  # how it is undone is no matter for the customer
        assert set(action) == set(named.split()) | of_staff
