"""INVARIANTS 3, 4, 5, 9: an action is submitted once, approved as it is, at its epoch, on fresh evidence, alone."""

import asyncio
from datetime import timedelta
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
from domain.verdict import PolicyQuestion, Verdict
from store.dispatch import reservation_facts
from store.ledger import load_progress
from tests.conftest import MakeTenant
from tests.store.world import BUNDLE, LARGE, SMALL, Talk, later, now, order, rule

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


async def test_without_approval_it_asks_again_and_changes_nothing(talk: Talk) -> None:
    operation_id = await talk.proposed()
    before = await talk.log()
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL
    assert await talk.log() == before


async def test_the_fence_refuses_after_a_change_of_owner(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.approved()
    await change_owner_and_withdraw_nothing(talk)
    assert await talk.reserve(operation_id) is ReserveResult.FENCED
    await talk.release(ann)
    assert await talk.reserve(operation_id) is ReserveResult.FENCED


async def test_an_unconsidered_message_comes_first(talk: Talk) -> None:
    operation_id = await talk.approved()
    await talk.say("stop")
    assert await talk.reserve(operation_id) is ReserveResult.UNCONSIDERED
    await talk.publish()
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_the_kill_switch_rejects(talk: Talk, owner: Owner) -> None:
    operation_id = await talk.approved()
    owner.execute("UPDATE tenants SET dispatch_halted = true WHERE id = %s", (talk.tenant,))
    assert await talk.reserve(operation_id) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


async def test_after_its_time_it_is_rejected_as_expired(talk: Talk) -> None:
    operation_id = await talk.approved(ttl_s=30)
    at = later(31)
    assert await talk.reserve(operation_id, await talk.read(observed_at=at), at=at) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.EXPIRED
    assert await approvals(talk) == (1, 0, 0)


async def test_what_policy_forbids_by_now_is_rejected(talk: Talk, owner: Owner) -> None:
    operation_id = await talk.approved()
    owner.execute(
        "INSERT INTO customers (tenant_id, id, status) VALUES (%s, %s, 'blocked')", (talk.tenant, talk.customer.id)
    )
    assert await talk.reserve(operation_id) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


@pytest.mark.parametrize("age_s", [61, 3_600])
async def test_evidence_that_is_too_old_decides_nothing(age_s: int, talk: Talk) -> None:
    operation_id = await talk.approved()
    old = await talk.read(observed_at=now() - timedelta(seconds=age_s))
    assert await talk.reserve(operation_id, old) is ReserveResult.STALE_EVIDENCE


async def test_evidence_from_before_the_last_settlement_on_the_resource_is_stale(talk: Talk) -> None:
    beside = await talk.beside()
    second = await beside.approved()
    first = await talk.claimed()
    before = await beside.read()
    await talk.settle(first)
    assert await beside.reserve(second, before) is ReserveResult.STALE_EVIDENCE
    assert await beside.reserve(second) is ReserveResult.RESERVED


async def test_evidence_read_again_with_the_same_values_keeps_the_approval(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.reserve(operation_id, await talk.read(order())) is ReserveResult.RESERVED


async def test_evidence_with_other_values_voids_the_approval_and_asks_again(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.reserve(operation_id, await talk.read(order(refunded=100))) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (0, 0, 1)
    assert len(await talk.log(EventKind.PROPOSAL)) == 2
    await talk.decide(operation_id)
    assert await talk.reserve(operation_id, await talk.read(order(refunded=100))) is ReserveResult.RESERVED


async def test_a_changed_policy_voids_old_approvals_and_asks_under_the_new_one(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.approved()
    make_tenant(policy_digest="newer-bundle")
    owner.execute("UPDATE tenants SET policy_digest = 'newer-bundle' WHERE id = %s", (talk.tenant,))
    assert (await reservation_facts(talk.db, talk.tenant, operation_id)).policy_digest == "newer-bundle"
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (0, 0, 1)
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ("customer",)
    assert (await talk.action(operation_id)).policy_digest == "newer-bundle"
    await talk.decide(operation_id)
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_one_of_two_approvals_that_ran_out_is_asked_for_again_and_not_used(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager, staff_ttl_s=10)
    at = later(11)
    assert await talk.reserve(operation_id, await talk.read(observed_at=at), at=at) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (1, 0, 1)


async def test_an_approval_that_was_not_needed_and_ran_out_is_not_consumed(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager, staff_ttl_s=10)

    def lenient(digest: str, question: PolicyQuestion) -> Verdict:
        smaller = question.payload.model_copy(update={"amount_minor": SMALL})
        return rule(digest, question.model_copy(update={"payload": smaller}))

    at = later(11)
    found = await talk.read(observed_at=at)
    assert await talk.reserve(operation_id, found, at=at, judge=lenient) is ReserveResult.RESERVED
    assert await approvals(talk) == (1, 1, 0)


async def test_policy_is_asked_with_the_approvals_that_still_hold(talk: Talk) -> None:
    operation_id = await talk.approved()
    asked: list[PolicyQuestion] = []

    def listening(digest: str, question: PolicyQuestion) -> Verdict:
        asked.append(question)
        assert digest == BUNDLE
        return rule(digest, question)

    await talk.reserve(operation_id, judge=listening)
    (question,) = asked
    assert [r.value for r in question.granted] == ["customer"]
    assert (question.refunds_30d_count, question.customer_status, question.stage) == (0, "active", "approval_required")


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
