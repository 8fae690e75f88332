"""A kill switch acts at once, on what is in progress too, for the tenant or one kind, and is audited with its why."""

import asyncio
import json
import time
from typing import Any

import psycopg
import pytest

from domain.action import ActionKind, ActionState, CancelSubscriptionPayload, Cause
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.turn import ClaimResult, ReserveResult
from domain.verdict import Judgement, PolicyQuestion
from store.comparison import Difference, DifferenceKind, open_cases
from store.switches import Switches, switches, turn
from tests.store.terms import rule
from tests.store.world import Talk

Staff = VerifiedPrincipal
REFUND, CREDIT = ActionKind.REFUND, ActionKind.STORE_CREDIT
ACTS_WITHIN_S = 1.0
CROWD = 16


async def audited(talk: Talk) -> list[tuple[str, dict[str, Any]]]:
    rows = await talk.all("SELECT actor, body FROM audit WHERE kind = 'switch' ORDER BY n")
    return [(actor, json.loads(body)) for actor, body in rows]


async def test_a_switch_says_whether_it_was_otherwise_and_needs_a_tenant(talk: Talk) -> None:
    for kind in (None, REFUND):
        assert [await talk.switch(stopped=s, kind=kind) for s in (True, True, False, False)] == [
            True, False, True, False,
        ]  # fmt: skip
    with pytest.raises(NotFound):
        await turn(talk.db, "no-such-tenant", None, stopped=True, by="staff:mia", why="a drill")
    with pytest.raises(NotFound):
        await switches(talk.db, "no-such-tenant")


async def test_kinds_are_stopped_one_by_one_also_at_once(talk: Talk) -> None:
    await asyncio.gather(*(talk.switch(stopped=True, kind=kind) for kind in ActionKind))
    assert set((await switches(talk.db, talk.tenant)).kinds) == set(ActionKind)
    await asyncio.gather(*(talk.switch(stopped=False, kind=kind) for kind in ActionKind if kind is not REFUND))
    assert await switches(talk.db, talk.tenant) == Switches(everything=False, kinds=(REFUND,))


async def test_each_turn_is_audited_with_who_and_why_and_a_turn_to_the_same_is_none(talk: Talk) -> None:
    for stopped, kind in ((True, REFUND), (True, REFUND), (True, None), (False, REFUND)):
        await talk.switch(stopped=stopped, kind=kind)
    found = await audited(talk)
    assert [actor for actor, _ in found] == ["staff:mia"] * 3
    assert {body["why"] for _, body in found} == {"a drill"}
    assert [body["halted_kinds"] for _, body in found] == [[[], ["refund"]], [["refund"], ["refund"]], [["refund"], []]]
    assert [body["dispatch_halted"] for _, body in found] == [[False, False], [False, True], [True, True]]


async def test_books_that_differ_stop_everything_in_their_own_name(talk: Talk) -> None:
    found = Difference(
        kind=DifferenceKind.EFFECT_WITHOUT_ROW, operation_id="op-1", violates=True, ledger=None, effect="5 EUR"
    )
    await open_cases(talk.db, talk.tenant, [found])
    ((actor, body),) = await audited(talk)
    assert (actor, body["why"]) == ("books:interlock", "the books differ: effect_without_row op-1")
    assert (await switches(talk.db, talk.tenant)).everything


@pytest.mark.parametrize("kind", [None, REFUND])
async def test_what_is_stopped_is_neither_reserved_nor_claimed_nor_sent_again(
    kind: ActionKind | None, talk: Talk
) -> None:
    beside, beyond = await talk.beside(), await talk.beside()
    approved, reserved, unknown = await talk.approved(), await beside.reserved("A-2"), await beyond.unknown("A-3")
    await talk.switch(stopped=True, kind=kind)
    assert await talk.reserve(approved) is ReserveResult.REJECTED
    assert (await talk.action(approved)).cause is Cause.DENIED
    assert await talk.claim(reserved) is ClaimResult.NOT_SENT
    assert (await talk.action(reserved)).cause is Cause.NEVER_SENT
    assert await talk.resend(unknown) is ClaimResult.REFUSED
    await talk.switch(stopped=False, kind=kind)
    assert await talk.resend(unknown) is ClaimResult.CLAIMED


async def test_a_stop_is_judged_like_all_else_and_the_rule_that_stops_is_on_record(talk: Talk) -> None:
    asked: list[PolicyQuestion] = []

    def listening(digest: str, question: PolicyQuestion) -> Judgement:
        asked.append(question)
        return rule(digest, question)

    operation_id = await talk.approved()
    await talk.switch(stopped=True)
    assert await talk.reserve(operation_id, judge=listening) is ReserveResult.REJECTED
    assert [question.stopped for question in asked] == [True]
    (body,) = [
        json.loads(b) for (b,) in await talk.all("SELECT body FROM audit WHERE kind = 'verdict'") if "reserve" in b
    ]
    assert (body["use"], body["verdict"], body["rules"]) == ("reserve", "forbid", ["rule"])
    assert (await talk.log(EventKind.VERDICT))[-1].body["kind"] == "forbid"


def _knows_no_switch(digest: str, question: PolicyQuestion) -> Judgement:
    return rule(digest, question.model_copy(update={"stopped": False}))


async def test_what_is_stopped_is_not_reserved_under_a_bundle_that_has_no_rule_for_it_either(talk: Talk) -> None:
    operation_id = await talk.approved()
    await talk.switch(stopped=True)
    assert await talk.reserve(operation_id, judge=_knows_no_switch) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


async def test_a_kind_that_is_stopped_stops_no_other(talk: Talk) -> None:
    await talk.switch(stopped=True, kind=CREDIT)
    assert await talk.claim(await talk.reserved()) is ClaimResult.CLAIMED


async def test_what_a_person_asks_for_is_stopped_too(talk: Talk, ann: Staff) -> None:
    reserved = await talk.acted_and_reserved(ann)
    await talk.switch(stopped=True, kind=REFUND)
    assert await talk.claim(reserved) is ClaimResult.NOT_SENT


@pytest.mark.parametrize("_", range(6))
async def test_of_a_reservation_and_a_switch_at_once_the_claim_still_sends_nothing(_: int, talk: Talk) -> None:
    operation_id = await talk.approved()
    found = await talk.read()
    result, _turned = await asyncio.gather(talk.reserve(operation_id, found), talk.switch(stopped=True))
    assert result in (ReserveResult.RESERVED, ReserveResult.REJECTED)
    assert await talk.claim(operation_id) in (ClaimResult.NOT_SENT, ClaimResult.MOVED)
    action = await talk.action(operation_id)
    assert (action.state, action.send_count) == (ActionState.REJECTED, 0)


async def test_a_switch_waits_for_what_is_in_progress_and_for_nothing_that_comes_after_it(talk: Talk) -> None:
    """Reservations without a pause share the row that a switch wants alone: it has its turn all the same."""
    crowd = [talk] + [await talk.beside() for _ in range(CROWD - 1)]
    ids = [await each.approved(payload=cancellation(each, n)) for n, each in enumerate(crowd)]
    busy = True

    async def reserving(each: Talk, operation_id: str) -> None:
        found = await each.read()
        while busy:
            await each.reserve(operation_id, found, judge=asking)

    reservations = [asyncio.create_task(reserving(each, ident)) for each, ident in zip(crowd, ids, strict=True)]
    await asyncio.sleep(0.3)
    began = time.monotonic()
    await talk.switch(stopped=True)
    took_s = time.monotonic() - began
    busy = False
    await asyncio.gather(*reservations)
    assert took_s < ACTS_WITHIN_S
    assert {await talk.reserve(ident) for ident in ids} <= {ReserveResult.REJECTED, ReserveResult.MOVED}


def asking(digest: str, question: PolicyQuestion) -> Judgement:
    return rule(digest, question.model_copy(update={"granted": ()}))


def cancellation(talk: Talk, n: int) -> CancelSubscriptionPayload:
    return CancelSubscriptionPayload(customer_id=talk.customer.id, subscription_id=f"S-{n}", resource_version=1)


async def test_a_switch_turned_past_all_code_is_on_record_as_the_databases(
    talk: Talk, owner: psycopg.Connection[Any]
) -> None:
    owner.execute("UPDATE tenants SET dispatch_halted = true WHERE id = %s", (talk.tenant,))
    ((actor, body),) = await audited(talk)
    assert actor.startswith("database:")
    assert body["why"] is None
