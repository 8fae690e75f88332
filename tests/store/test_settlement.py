"""INVARIANTS 2, 7: an outcome is definite or unknown; unknown is settled by what proves it, or visibly has a person."""

import asyncio
from datetime import datetime, timedelta

import pytest

from domain.action import ActionState, Cause
from domain.connector import ConnectorContract, Lookup, LookupKind
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from store.settlement import after_dispatch, expire, settle_lookup, withdraw_fenced
from tests.store.terms import CLAIM_TTL_S, FORGETFUL, LOST, REFUSAL, SHOP, SUCCESS, UNBOUNDED, later, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
S = ActionState
THERE = Lookup(kind=LookupKind.COMMITTED, external_id="re_9")
NOWHERE = Lookup(kind=LookupKind.NOT_FOUND)
TURNED_DOWN = Lookup(kind=LookupKind.REFUSED)
NO_LOOKUP = SHOP.model_copy(update={"lookup_lag_s": None})
FINAL_S = 30 + 2  # D + L of the shop


async def look(
    talk: Talk, operation_id: str, found: Lookup, contract: ConnectorContract = SHOP, at: datetime | None = None
) -> ActionState:
    begun = at or now()
    return await settle_lookup(talk.db, talk.tenant, operation_id, found, contract, begun, talk.words, now())


async def test_a_success_confirms_and_keeps_the_external_id(talk: Talk) -> None:
    operation_id = await talk.claimed()
    assert await talk.settle(operation_id, SUCCESS) is S.CONFIRMED
    action = await talk.action(operation_id)
    assert (action.cause, action.external_id) == (Cause.SUCCEEDED, "re_1")
    assert action.settled_at is not None
    assert (await talk.log())[-1].body["external_id"] == "re_1"


async def test_a_refusal_of_a_single_send_rejects(talk: Talk) -> None:
    operation_id = await talk.claimed()
    assert await talk.settle(operation_id, REFUSAL, FORGETFUL) is S.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.REFUSED


@pytest.mark.parametrize(("contract", "state"), [(FORGETFUL, S.UNKNOWN), (SHOP, S.REJECTED)])
async def test_a_refusal_after_two_sends_proves_something_only_where_refusals_are_kept(
    contract: ConnectorContract, state: ActionState, talk: Talk
) -> None:
    operation_id = await talk.unknown()
    await talk.resend(operation_id)
    assert await talk.settle(operation_id, REFUSAL, contract) is state


@pytest.mark.parametrize(("contract", "state"), [(FORGETFUL, S.UNKNOWN), (SHOP, S.REJECTED)])
async def test_a_refusal_that_is_looked_up_follows_the_same_rule(
    contract: ConnectorContract, state: ActionState, talk: Talk
) -> None:
    operation_id = await talk.unknown()
    await talk.resend(operation_id)
    assert await look(talk, operation_id, TURNED_DOWN, contract) is state


async def test_an_unknown_is_told_once_and_keeps_saying_so(talk: Talk) -> None:
    operation_id = await talk.unknown()
    assert await talk.settle(operation_id, LOST) is S.UNKNOWN
    told = [e.body["state"] for e in await talk.log(EventKind.ACTION_STATE)]
    assert told == ["submitted", "unknown"]


async def test_what_is_found_is_confirmed(talk: Talk) -> None:
    operation_id = await talk.unknown()
    assert await look(talk, operation_id, THERE) is S.CONFIRMED
    action = await talk.action(operation_id)
    assert (action.cause, action.external_id) == (Cause.FOUND, "re_9")


@pytest.mark.parametrize(
    ("contract", "after_s", "state"),
    [
        (SHOP, 0, S.UNKNOWN),
        (SHOP, FINAL_S - 1, S.UNKNOWN),
        (SHOP, FINAL_S + 1, S.REJECTED),
        (UNBOUNDED, 10**6, S.UNKNOWN),
        (NO_LOOKUP, 10**6, S.UNKNOWN),
    ],
)
async def test_not_found_proves_nothing_before_the_bound_and_never_without_one(
    contract: ConnectorContract, after_s: int, state: ActionState, talk: Talk
) -> None:
    operation_id = await talk.unknown()
    assert await look(talk, operation_id, NOWHERE, contract, later(after_s)) is state


async def test_not_found_counts_from_the_last_send(talk: Talk) -> None:
    operation_id = await talk.unknown()
    await talk.resend(operation_id, at=later(20))
    assert await look(talk, operation_id, NOWHERE, at=later(FINAL_S + 1)) is S.UNKNOWN
    assert await look(talk, operation_id, NOWHERE, at=later(20 + FINAL_S + 1)) is S.REJECTED


async def test_a_look_up_that_began_before_a_send_proves_nothing(talk: Talk) -> None:
    operation_id = await talk.unknown()
    begun = later(FINAL_S + 1)
    await talk.resend(operation_id, at=begun + timedelta(seconds=1))
    assert await look(talk, operation_id, NOWHERE, at=begun) is S.UNKNOWN


async def test_a_late_success_still_settles_an_unknown(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.take_over(ann)
    assert await talk.settle(operation_id, SUCCESS) is S.CONFIRMED
    assert (await talk.log())[-1].body["state"] == "confirmed"


async def test_what_is_settled_stays_as_it_is(talk: Talk) -> None:
    operation_id = await talk.claimed()
    states = await asyncio.gather(*(talk.settle(operation_id, o) for o in (SUCCESS, REFUSAL, LOST, SUCCESS)))
    final = (await talk.action(operation_id)).state
    assert final in (S.CONFIRMED, S.REJECTED)
    assert states.count(final) >= 2
    version = (await talk.row()).version
    for outcome in (SUCCESS, REFUSAL, LOST):
        assert await talk.settle(operation_id, outcome) is final
    assert await look(talk, operation_id, THERE) is final
    assert (await talk.row()).version == version


async def test_a_dispatch_without_an_answer_is_unknown_if_it_was_claimed(talk: Talk) -> None:
    operation_id = await talk.claimed()
    for _ in range(2):
        assert await after_dispatch(talk.db, talk.tenant, operation_id, CLAIM_TTL_S, talk.words, now()) is S.UNKNOWN
    assert (await talk.action(operation_id)).cause is Cause.RESPONSE_LOST


async def test_a_dispatch_that_never_claimed_is_rejected_once_it_can_claim_no_more(talk: Talk) -> None:
    operation_id = await talk.reserved()
    at = now()
    assert await after_dispatch(talk.db, talk.tenant, operation_id, CLAIM_TTL_S, talk.words, at) is S.SUBMITTED
    at = later(CLAIM_TTL_S + 1)
    assert await after_dispatch(talk.db, talk.tenant, operation_id, CLAIM_TTL_S, talk.words, at) is S.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.NEVER_SENT
    assert (await talk.claim(operation_id)).value == "moved"


async def test_only_what_has_not_begun_expires_and_only_after_its_time(talk: Talk) -> None:
    waiting, sent = await talk.proposed(order_id="A-2", ttl_s=60), await talk.claimed()
    assert await expire(talk.db, talk.tenant, waiting, talk.words, now()) is S.AWAITING_APPROVAL
    for _ in range(2):
        assert await expire(talk.db, talk.tenant, waiting, talk.words, later(61)) is S.REJECTED
    assert await expire(talk.db, talk.tenant, sent, talk.words, later(10**5)) is S.SUBMITTED
    assert (await talk.action(waiting)).cause is Cause.EXPIRED


async def test_only_what_is_fenced_is_withdrawn(talk: Talk) -> None:
    operation_id = await talk.proposed()
    assert await withdraw_fenced(talk.db, talk.tenant, operation_id, talk.words, now()) is S.AWAITING_APPROVAL
