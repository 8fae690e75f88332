"""Approvals as they go over HTTP: reasons, roles, claims and batches, under what the bundle lets each role do."""

from typing import Any

import psycopg

from domain.permission import Tool, ToolQuestion
from domain.principal import StaffRole, VerifiedPrincipal
from gateway.app import create_app
from tests.conftest import MakeStaff, MakeTenant, put_in_force
from tests.gateway.caller import Caller
from tests.gateway.conftest import BaseRules, Notebook
from tests.store.terms import LARGE, SMALL
from tests.store.world import Talk

Person = VerifiedPrincipal
Told = tuple[int, dict[str, Any]]


def problem(told: Told) -> tuple[int, str, str | None]:
    return told[0], told[1]["type"].rpartition("/")[2], told[1].get("reason")


async def decide(caller: Caller, talk: Talk, operation_id: str, who: Person, **more: Any) -> Told:
    digest = (await talk.action(operation_id)).payload_digest
    body = {"payload_digest": digest, "decision": "approve", **more}
    answer = await caller.post(f"/actions/{operation_id}/approvals", body, who)
    return answer.status_code, answer.json()


async def claim(caller: Caller, operation_id: str, who: Person, **body: Any) -> Told:
    answer = await caller.post(f"/actions/{operation_id}/claim", body, who)
    return answer.status_code, answer.json()


async def test_a_refusal_names_its_reason_and_a_role_may_be_named(
    caller: Caller, talk: Talk, agent: Person, manager: Person
) -> None:
    operation_id = await talk.proposed(LARGE)
    stale = (409, "approval-stale", "digest_changed")
    assert problem(await decide(caller, talk, operation_id, talk.customer, payload_digest="0" * 64)) == stale
    assert problem(await decide(caller, talk, operation_id, agent)) == (403, "approval-not-allowed", "wrong_role")
    wrong = (403, "approval-not-allowed", "wrong_role")
    assert problem(await decide(caller, talk, operation_id, manager, role="finance")) == wrong
    assert (await decide(caller, talk, operation_id, manager, role="manager"))[1]["role"] == "manager"
    assert problem(await decide(caller, talk, operation_id, manager, role="boss"))[:2] == (422, "invalid-request")


async def test_after_a_policy_change_the_refusal_itself_wakes_the_action(
    caller: Caller, talk: Talk, owner: psycopg.Connection[Any], make_tenant: MakeTenant, courier: Notebook
) -> None:
    operation_id = await talk.proposed()
    make_tenant(policy_digest="newer-bundle")
    put_in_force(owner, talk.tenant, "newer-bundle")
    changed = (409, "approval-stale", "policy_changed")
    assert problem(await decide(caller, talk, operation_id, talk.customer)) == changed
    assert [wake.operation_id for wake in courier.wakes] == [operation_id]


async def test_a_claim_is_for_one_person_and_the_queue_shows_it(
    caller: Caller, talk: Talk, manager: Person, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    other = make_staff(talk.tenant, StaffRole.MANAGER)
    status, held = await claim(caller, operation_id, manager)
    assert (status, held["staff"], set(held)) == (200, manager.id, {"operation_id", "staff", "until"})
    for told in (await claim(caller, operation_id, other), await decide(caller, talk, operation_id, other)):
        assert problem(told) == (409, "approval-claimed", None)
        assert told[1]["staff"] == manager.id
    (item,) = (await caller.get("/approvals", other)).json()["items"]
    assert item["claim"] == {"staff": manager.id, "until": held["until"]}
    assert (item["escalated"], item["reminded_at"], item["batch_with"]) == (False, None, [])
    assert (await caller.ask("DELETE", f"/actions/{operation_id}/claim", other)).status_code == 409
    assert (await caller.ask("DELETE", f"/actions/{operation_id}/claim", manager)).status_code == 200
    assert (await decide(caller, talk, operation_id, other))[0] == 200


async def test_claims_and_batches_are_for_the_staff_of_the_tenant(
    caller: Caller, talk: Talk, agent: Person, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed(LARGE)
    stranger = make_staff(make_tenant(), StaffRole.MANAGER)
    assert problem(await claim(caller, operation_id, stranger))[:2] == (404, "not-found")
    assert problem(await claim(caller, operation_id, talk.customer))[:2] == (403, "forbidden")
    assert problem(await claim(caller, operation_id, agent))[:2] == (403, "approval-not-allowed")
    for minutes in (0, 31, 1.5, "5", True):
        assert problem(await claim(caller, operation_id, agent, minutes=minutes))[:2] == (422, "invalid-request")
    body = await batch_of(talk, operation_id)
    assert (await caller.post("/approvals/batch", body, stranger)).status_code == 404
    assert (await caller.post("/approvals/batch", body, talk.customer)).status_code == 403


async def batch_of(talk: Talk, *operation_ids: str, **more: Any) -> dict[str, Any]:
    actions = [await talk.action(ident) for ident in operation_ids]
    items = [{"operation_id": a.operation_id, "payload_digest": a.payload_digest} for a in actions]
    return {"decision": "approve", "items": items, **more}


class Lenient(BaseRules):
    """The base, and managers may decide in batches up to a limit."""

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        if question.tool is Tool.APPROVE_IN_BATCH:
            return question.role == "manager" and question.amount_minor <= LARGE
        return super().allows(digest, question)


async def test_a_batch_is_answered_item_by_item_and_anything_else_is_refused_whole(
    make_doors: Any, calling: Any, talk: Talk, manager: Person, make_staff: MakeStaff, courier: Notebook
) -> None:
    beside = await talk.beside()
    first, second = await talk.proposed(LARGE, "A-1"), await talk.proposed(LARGE - 1, "A-2")
    above, small = await beside.proposed(LARGE + 1, "A-1"), await beside.proposed(SMALL, "A-2")
    other = make_staff(talk.tenant, StaffRole.MANAGER)
    async with calling(create_app(make_doors(policies=Lenient()))) as caller:
        for ids, reason in (((first, above), "not_low_risk"), ((first, small), "wrong_role")):
            answer = await caller.post("/approvals/batch", await batch_of(talk, *ids), manager)
            assert problem((answer.status_code, answer.json())) == (403, "approval-not-allowed", reason)
        assert await talk.all("SELECT * FROM approvals") == []
        twice = await batch_of(talk, first, first)
        assert (await caller.post("/approvals/batch", twice, manager)).status_code == 422
        assert (await caller.post("/approvals/batch", {**twice, "items": []}, manager)).status_code == 422
        items = {i["operation_id"]: i["batch_with"] for i in (await caller.get("/approvals", manager)).json()["items"]}
        assert (items[first], items[second]) == ([second], [first])
        await claim(caller, second, other)
        answer = await caller.post("/approvals/batch", await batch_of(talk, first, second, note="equal"), manager)
        one, two = answer.json()["items"]
        assert (one["outcome"], one["role"], one["state"]) == ("decided", "manager", "awaiting_approval")
        assert (two["outcome"], two["problem"], two["operation_id"]) == ("refused", "approval-claimed", second)
    assert {wake.operation_id for wake in courier.wakes} == {first, None}
