"""INVARIANTS 2, 3: the right to send is taken once, in time, at the epoch; what was never claimed is never sent."""

import asyncio
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.action import ActionState, Cause
from domain.connector import ConnectorContract
from domain.principal import VerifiedPrincipal
from domain.turn import ClaimResult, ReserveResult
from store.dispatch import may_resend
from store.settlement import resend_allowed
from tests.store.terms import CLAIM_TTL_S, SENDS_MAX, SHOP, UNBOUNDED, later, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
KEYLESS = SHOP.model_copy(update={"key_window_s": None})


async def test_the_right_to_send_is_taken_once(talk: Talk) -> None:
    operation_id = await talk.reserved()
    results = await asyncio.gather(*(talk.claim(operation_id) for _ in range(6)))
    assert sorted(results) == [ClaimResult.ALREADY_SENT] * 5 + [ClaimResult.CLAIMED]
    action = await talk.action(operation_id)
    assert (action.state, action.send_count) == (ActionState.SUBMITTED, 1)


async def test_a_claim_that_comes_late_sends_nothing(talk: Talk) -> None:
    operation_id = await talk.reserved()
    assert await talk.claim(operation_id, later(CLAIM_TTL_S + 1)) is ClaimResult.NOT_SENT
    action = await talk.action(operation_id)
    assert (action.state, action.cause, action.send_count) == (ActionState.REJECTED, Cause.NEVER_SENT, 0)


async def test_what_is_not_submitted_is_not_claimed(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.claim(operation_id) is ClaimResult.MOVED
    await talk.reserve(operation_id)
    await talk.claim(operation_id)
    await talk.settle(operation_id)
    assert await talk.claim(operation_id) is ClaimResult.MOVED


async def test_a_takeover_between_reservation_and_claim_is_never_sent(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.reserved()
    change = await talk.take_over(ann)
    assert change.in_flight == ()
    assert await talk.claim(operation_id) is ClaimResult.MOVED
    action = await talk.action(operation_id)
    assert (action.state, action.cause, action.send_count) == (ActionState.REJECTED, Cause.WITHDRAWN, 0)


async def test_a_claim_passes_the_fence_by_itself(talk: Talk) -> None:
    operation_id = await talk.reserved()
    async with talk.db.transaction(talk.tenant) as tx:  # as no takeover does: nothing is withdrawn
        await tx.exec_driver_sql("UPDATE conversations SET owner = 'human', owner_epoch = 2, holder = 'ann'")
    assert await talk.claim(operation_id) is ClaimResult.NOT_SENT
    assert (await talk.action(operation_id)).cause is Cause.NEVER_SENT


@pytest.mark.parametrize("_", range(8))
async def test_a_takeover_racing_a_claim_either_stops_it_or_sees_it(_: int, talk: Talk, ann: Staff) -> None:
    operation_id = await talk.reserved()
    change, result = await asyncio.gather(talk.take_over(ann), talk.claim(operation_id))
    action = await talk.action(operation_id)
    if result is ClaimResult.CLAIMED:
        assert (change.in_flight, action.state, action.send_count) == ((operation_id,), ActionState.SUBMITTED, 1)
    else:
        assert (change.in_flight, action.state, action.send_count) == ((), ActionState.REJECTED, 0)


async def test_the_kill_switch_stops_what_is_reserved(talk: Talk, owner: Owner) -> None:
    operation_id = await talk.reserved()
    owner.execute("UPDATE tenants SET dispatch_halted = true WHERE id = %s", (talk.tenant,))
    assert await talk.claim(operation_id) is ClaimResult.NOT_SENT
    assert (await talk.action(operation_id)).cause is Cause.NEVER_SENT


async def test_a_resource_is_free_again_after_a_reservation_that_was_never_sent(talk: Talk) -> None:
    beside = await talk.beside()
    waiting, reserved = await beside.approved(), await talk.reserved()
    seen = await beside.read()
    await talk.claim(reserved, later(CLAIM_TTL_S + 1))
    assert await beside.reserve(waiting, seen) is ReserveResult.RESERVED  # nothing was sent, so nothing is stale


async def test_an_unknown_is_sent_again_only_so_often(talk: Talk) -> None:
    operation_id = await talk.unknown()
    results = [await talk.resend(operation_id) for _ in range(SENDS_MAX)]
    assert results == [ClaimResult.CLAIMED] * (SENDS_MAX - 1) + [ClaimResult.REFUSED]
    action = await talk.action(operation_id)
    assert action.send_count == SENDS_MAX
    assert action.last_sent_at is not None
    assert action.sent_at is not None
    assert action.last_sent_at > action.sent_at


@pytest.mark.parametrize("contract", [UNBOUNDED, KEYLESS])
async def test_a_provider_without_keys_or_bound_is_never_sent_to_twice(contract: ConnectorContract, talk: Talk) -> None:
    operation_id = await talk.unknown()
    assert await talk.resend(operation_id, contract=contract) is ClaimResult.REFUSED


@pytest.mark.parametrize(("age_s", "may"), [(0, True), (86_359, True), (86_361, False), (90_000, False)])
async def test_a_resend_must_arrive_inside_the_life_of_its_key(age_s: int, may: bool, talk: Talk) -> None:
    action = await talk.action(await talk.unknown())
    assert action.sent_at is not None
    assert may_resend(action, SHOP, SENDS_MAX, action.sent_at + timedelta(seconds=age_s)) is may


async def test_a_resend_passes_the_same_fence(talk: Talk, ann: Staff, owner: Owner) -> None:
    operation_id = await talk.unknown()
    assert await resend_allowed(talk.db, talk.tenant, operation_id, SHOP, SENDS_MAX, now())
    owner.execute("UPDATE tenants SET dispatch_halted = true WHERE id = %s", (talk.tenant,))
    assert await talk.resend(operation_id) is ClaimResult.REFUSED
    owner.execute("UPDATE tenants SET dispatch_halted = false WHERE id = %s", (talk.tenant,))
    taken = await talk.take_over(ann)
    assert taken.in_flight == (operation_id,)
    await talk.release(ann, taken.owner_epoch)
    assert await talk.resend(operation_id) is ClaimResult.REFUSED
    assert not await resend_allowed(talk.db, talk.tenant, operation_id, SHOP, SENDS_MAX, now())
    assert (await talk.action(operation_id)).send_count == 1


async def test_what_is_not_unknown_is_not_sent_again(talk: Talk) -> None:
    operation_id = await talk.claimed()
    assert await talk.resend(operation_id) is ClaimResult.MOVED
