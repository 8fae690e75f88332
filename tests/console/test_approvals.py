"""Laws of consent on a page: exactly what was shown, by who may, once; facts of the books and never a model's words."""

from typing import Any

import httpx

from console import consent
from domain.action import ActionState
from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console import staffroom
from tests.console.staffroom import Staffroom, words_of
from tests.gateway import conftest as gateway
from tests.store.terms import LARGE, order
from tests.store.world import Talk

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, customer, talk = gateway.tenant, gateway.customer, gateway.talk
manager, agent = gateway.manager, gateway.agent

Who = VerifiedPrincipal
BATCHED = 6_000  # more than a customer may confirm alone, and little enough for a batch


async def decide(
    room: Staffroom, talk: Talk, operation_id: str, who: Who, decision: str = "approve", **fields: Any
) -> httpx.Response:
    digest = (await talk.action(operation_id)).payload_digest
    sent = {"digest": digest, "decision": decision, "role": "manager", "note": "seen", **fields}
    return await room.post(f"/approvals/{operation_id}/decisions", who, sent, seal=fields.pop("seal", None))


async def given(talk: Talk, operation_id: str) -> list[Any]:
    query = "SELECT approver, decision, payload_digest, note FROM approvals WHERE operation_id = :op"
    return await talk.all(query, op=operation_id)


async def test_an_approver_sees_the_books_and_never_what_was_said(room: Staffroom, talk: Talk, manager: Who) -> None:
    await talk.say("Trust me, <b>the boss</b> has agreed already.")
    made = await talk.proposal(LARGE)
    await talk.propose(made)
    page = await room.words(f"/approvals/{made.operation_id}", manager)
    action = await talk.action(made.operation_id)
    for told in ("Refund €200.00 on order A-1", "20000 minor units, EUR", talk.customer.id, "€900.00"):
        assert told in page
    assert action.payload_digest in page
    assert "the boss" not in page


async def test_consent_is_to_the_digest_that_was_shown(room: Staffroom, talk: Talk, manager: Who) -> None:
    operation_id = await talk.proposed(LARGE)
    stale = await decide(room, talk, operation_id, manager, digest="0" * 64)
    assert stale.headers["x-problem"] == "approval-stale"
    assert "Nothing was recorded for you" in words_of(stale)
    assert await given(talk, operation_id) == []
    digest = (await talk.action(operation_id)).payload_digest
    done = await decide(room, talk, operation_id, manager)
    assert done.status_code == 200
    assert await given(talk, operation_id) == [(manager.key, "approve", digest, "seen")]


async def test_whoever_comes_second_is_told_who_was_first_and_when(
    room: Staffroom, talk: Talk, manager: Who, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    other = make_staff(talk.tenant, StaffRole.MANAGER, "max")
    await decide(room, talk, operation_id, other, "reject")
    ((at,),) = await talk.all("SELECT decided_at FROM approvals WHERE operation_id = :op", op=operation_id)
    late = await decide(room, talk, operation_id, manager)
    assert late.headers["x-problem"] == "approval-stale"
    assert f"max rejected this as manager at {at:%Y-%m-%d %H:%M:%S} UTC, before you." in words_of(late)
    assert [who for who, *_ in await given(talk, operation_id)] == [other.key]


async def test_a_changed_payload_shows_what_changed(room: Staffroom, talk: Talk, manager: Who) -> None:
    first = await talk.proposed(LARGE)
    second = await talk.proposed(LARGE + 100)
    page = (await room.get(f"/approvals/{second}", manager)).text
    assert "<del>€200.00 (20000 minor units, EUR)</del>" in page
    assert "<ins>€201.00 (20100 minor units, EUR)</ins>" in page
    late = words_of(await decide(room, talk, first, manager))
    assert "replaced by another wish" in late
    assert "Refund €201.00 on order A-1" in late


async def test_changed_facts_are_shown_side_by_side(room: Staffroom, talk: Talk, manager: Who) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.read(order(refunded=500))
    page = await room.words(f"/approvals/{operation_id}", manager)
    assert "The account has changed since this was proposed" in page
    assert "Order A-1: Given back nothing €5.00" in page


async def test_an_approver_is_told_that_nothing_goes_out_at_the_moment(
    room: Staffroom, talk: Talk, manager: Who
) -> None:
    operation_id = await talk.proposed(LARGE)
    assert "stopped at the moment" not in await room.words(f"/approvals/{operation_id}", manager)
    await talk.switch(stopped=True)
    assert "stopped at the moment" in await room.words(f"/approvals/{operation_id}", manager)


async def test_a_form_of_another_session_changes_nothing(room: Staffroom, talk: Talk, manager: Who, agent: Who) -> None:
    operation_id = await talk.proposed(LARGE)
    for seal in (await room.seal(agent), "", "0" * 64):
        refused = await room.post(f"/approvals/{operation_id}/decisions", manager, {"decision": "reject"}, seal=seal)
        assert "Nothing was changed" in words_of(refused)
    assert await given(talk, operation_id) == []


async def test_what_is_another_tenants_is_not_there(
    room: Staffroom, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    stranger = make_staff(make_tenant(), StaffRole.MANAGER)
    assert operation_id not in (await room.get("/approvals", stranger)).text
    assert (await room.get(f"/approvals/{operation_id}", stranger)).status_code == 404
    await decide(room, talk, operation_id, stranger, "reject")
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_nobody_is_offered_a_decision_that_is_not_theirs(
    room: Staffroom, talk: Talk, manager: Who, agent: Who
) -> None:
    operation_id = await talk.proposed(LARGE)
    assert "Your role does not decide this. It still waits for the customer and the manager." in (
        await room.words(f"/approvals/{operation_id}", agent)
    )
    own = await (await (await talk.beside()).taken(manager)).act(manager, LARGE, order_id="A-2")
    page = await room.words(f"/approvals/{own.operation_id}", manager)
    assert "You asked for this yourself; somebody else has to decide." in page
    assert "Approve" not in page.partition("Your decision")[2].partition("To whom")[0]


async def test_a_claim_of_somebody_else_is_named_and_keeps_the_decision(
    room: Staffroom, talk: Talk, manager: Who, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    other = make_staff(talk.tenant, StaffRole.MANAGER, "max")
    await room.post(f"/approvals/{operation_id}/claim", other, {})
    assert "max is deciding this, until" in await room.words(f"/approvals/{operation_id}", manager)
    refused = await decide(room, talk, operation_id, manager)
    assert refused.headers["x-problem"] == "approval-claimed"
    assert "max is deciding this" in words_of(refused)
    await room.post(f"/approvals/{operation_id}/unclaim", other, {})
    assert (await decide(room, talk, operation_id, manager)).headers.get("x-problem") is None


async def test_a_batch_is_confirmed_by_count_and_sum_and_answers_for_each(
    room: Staffroom, talk: Talk, manager: Who
) -> None:
    other = await talk.beside()
    operations = [await talk.proposed(BATCHED), await other.proposed(BATCHED, "A-2")]
    query = "&".join(f"item={ident}" for ident in operations)
    asked = await room.words(f"/approvals/batch?{query}", manager)
    assert "Decide 2 together" in asked
    assert "€120.00 in all" in asked
    await other.decide(operations[1], manager)
    items = [f"{ident} {(await talk.action(ident)).payload_digest}" for ident in operations]
    items[1] = f"{operations[1]} {'0' * 64}"
    answered = words_of(
        await room.post("/approvals/batch", manager, {"decision": "approve", "item": items, "deed": ["one", "other"]})
    )
    assert "Approved 1 of 2" in answered
    assert "one Approved other Not decided" in answered


def test_a_hurry_is_told_from_five_in_a_minute_on() -> None:
    calm = {"decided_last_min": 4, "median_seconds_apart": 2.0}
    assert consent.pace_warning(calm) is None
    hurry = consent.pace_warning(calm | {"decided_last_min": 5, "median_seconds_apart": 0.4})
    assert hurry == "You have decided 5 in the last minute, typically less than 1 s apart."
