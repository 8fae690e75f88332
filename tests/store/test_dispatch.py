"""INVARIANTS 3, 5: an action is submitted once, at its epoch, after all that the customer said, and alone."""

import asyncio
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.action import ActionState, Cause
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.turn import ReserveResult
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]


async def approvals(talk: Talk) -> tuple[int, int, int]:
    """How many approvals are open, consumed, voided."""
    rows = await talk.all("SELECT consumed_at IS NOT NULL, voided_at IS NOT NULL FROM approvals")
    return rows.count((False, False)), rows.count((True, False)), rows.count((False, True))


async def change_owner_and_withdraw_nothing(talk: Talk) -> None:
    """No transaction of the product does this: so the fence is seen to hold by itself."""
    async with talk.db.transaction(talk.tenant) as tx:
        await tx.exec_driver_sql("UPDATE conversations SET owner = 'human', owner_epoch = 2, holder = 'ann'")


async def test_a_reservation_submits_consumes_and_tells_in_one_step(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED
    action = await talk.action(operation_id)
    assert (action.state, action.cause, action.send_count) == (ActionState.SUBMITTED, Cause.RESERVED, 0)
    assert await approvals(talk) == (0, 1, 0)
    assert (await talk.log())[-1].body["state"] == "submitted"
    assert [e.body["kind"] for e in await talk.log(EventKind.VERDICT)] == ["permit"]


async def test_a_step_run_again_finds_its_own_reservation_and_another_step_does_not(talk: Talk) -> None:
    operation_id = await talk.approved()
    found = await talk.read()
    results = await asyncio.gather(*(talk.reserve(operation_id, found, "step") for _ in range(4)))
    assert results == [ReserveResult.RESERVED] * 4
    assert await talk.reserve(operation_id) is ReserveResult.MOVED
    assert await approvals(talk) == (0, 1, 0)
    assert len(await talk.log(EventKind.ACTION_STATE)) == 1


async def test_of_many_reservations_of_one_action_one_succeeds(talk: Talk) -> None:
    operation_id = await talk.approved()
    found = await talk.read()
    results = await asyncio.gather(*(talk.reserve(operation_id, found) for _ in range(6)))
    assert sorted(results) == [ReserveResult.MOVED] * 5 + [ReserveResult.RESERVED]


async def test_the_fence_refuses_after_a_change_of_owner(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.approved()
    await change_owner_and_withdraw_nothing(talk)
    assert await talk.reserve(operation_id) is ReserveResult.FENCED
    await talk.release(ann)  # which withdraws it
    assert await talk.reserve(operation_id) is ReserveResult.MOVED
    assert (await talk.action(operation_id)).cause is Cause.WITHDRAWN


async def test_an_unconsidered_message_comes_first(talk: Talk) -> None:
    operation_id = await talk.approved()
    await talk.say("stop")
    assert await talk.reserve(operation_id) is ReserveResult.UNCONSIDERED
    await talk.publish()
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_two_conversations_never_have_an_action_in_flight_on_one_resource(talk: Talk) -> None:
    talks = [talk] + [await talk.beside() for _ in range(4)]
    ids = [await each.approved() for each in talks]
    seen = [await each.read() for each in talks]
    results = await asyncio.gather(*(x.reserve(i, e) for x, i, e in zip(talks, ids, seen, strict=True)))
    assert sorted(results) == [ReserveResult.BUSY] * 4 + [ReserveResult.RESERVED]
    states = sorted([(await talk.action(i)).state for i in ids])
    assert states == [ActionState.AWAITING_APPROVAL] * 4 + [ActionState.SUBMITTED]
    assert await approvals(talk) == (4, 1, 0)


async def test_an_unknown_keeps_its_resource_until_it_is_settled(talk: Talk) -> None:
    beside = await talk.beside()
    second, first = await beside.approved(), await talk.unknown()
    assert await beside.reserve(second) is ReserveResult.BUSY
    await talk.settle(first)
    assert await beside.reserve(second) is ReserveResult.RESERVED


async def test_a_superseded_action_is_not_reserved(talk: Talk) -> None:
    old = await talk.approved()
    await talk.proposed()
    assert await talk.reserve(old) is ReserveResult.MOVED


async def test_the_database_itself_submits_nothing_at_another_epoch(talk: Talk) -> None:
    operation_id = await talk.approved()
    await change_owner_and_withdraw_nothing(talk)
    statement = sa.text(
        "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
        " VALUES (:t, :o, 0, 'awaiting_approval', 'submitted', 'reserved', 'x')"
    )
    with pytest.raises(IntegrityError, match="the epoch of this action has passed"):
        async with talk.db.transaction(talk.tenant) as tx:
            await tx.execute(statement, {"t": talk.tenant, "o": operation_id})


async def test_reserving_an_action_that_is_not_there_finds_nothing(talk: Talk) -> None:
    with pytest.raises(NotFound):
        await talk.reserve(uuid4().hex)
