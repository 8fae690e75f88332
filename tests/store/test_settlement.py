"""INVARIANTS 2, 7: an outcome is definite or unknown; unknown is settled by what proves it, or visibly has a person."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from domain.action import ActionState, Cause
from domain.connector import ConnectorContract, Lookup, LookupKind
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal
from store import queue
from store.settlement import after_dispatch, expire, settle_by_person, settle_lookup, withdraw_fenced
from tests.store.terms import CLAIM_TTL_S, FORGETFUL, LOST, REFUSAL, SHOP, SMALL, SUCCESS, UNBOUNDED, later, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
S = ActionState
THERE = Lookup(kind=LookupKind.COMMITTED, external_id="re_9")
NOWHERE = Lookup(kind=LookupKind.NOT_FOUND)
TURNED_DOWN = Lookup(kind=LookupKind.REFUSED)
NO_LOOKUP = SHOP.model_copy(update={"lookup_lag_s": None})
FINAL_S = 30 + 2 + 10  # D + L of the shop, and the margin for sending
EFFECT_S = 30 + 10
PAID = Lookup(kind=LookupKind.COMMITTED, external_id="re_9", amount_minor=SMALL, currency="EUR")


async def look(
    talk: Talk, operation_id: str, found: Lookup, contract: ConnectorContract = SHOP, at: datetime | None = None
) -> ActionState:
    begun = at or now()
    return await settle_lookup(talk.db, talk.tenant, operation_id, found, contract, begun, talk.words, now())


async def books(talk: Talk) -> tuple[list[tuple[str, str]], bool]:
    """The tenant's cases, and whether its dispatch is halted."""
    cases = await talk.all("SELECT kind, queue_status FROM cases ORDER BY opened_at")
    ((halted,),) = await talk.all("SELECT dispatch_halted FROM tenants")
    return cases, halted


async def by_hand(
    talk: Talk,
    operation_id: str,
    outcome: ActionState,
    staff: Staff,
    contract: ConnectorContract = SHOP,
    at: datetime | None = None,
    external_id: str | None = None,
) -> ActionState:
    args = (talk.db, talk.tenant, operation_id, outcome, staff.id, external_id, contract, talk.words, at or now())
    return await settle_by_person(*args)


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


async def test_a_success_of_what_was_rejected_is_a_case_and_stops_dispatch(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id, REFUSAL)
    for _ in range(2):
        assert await talk.settle(operation_id, SUCCESS) is S.REJECTED
    assert await books(talk) == ([("effect_without_row", "waiting")], True)
    ((detail,),) = await talk.all("SELECT detail FROM cases")
    assert (detail["operation_id"], detail["violates"], detail["effect"]) == (operation_id, True, "re_1")
    assert talk.customer.id not in str(detail)


async def test_an_effect_that_is_found_of_what_was_rejected_is_a_case_and_stops_dispatch(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id, REFUSAL)
    assert await look(talk, operation_id, THERE) is S.REJECTED
    assert await books(talk) == ([("effect_without_row", "waiting")], True)


async def test_a_second_effect_of_what_was_confirmed_is_a_case_and_the_same_effect_is_none(talk: Talk) -> None:
    operation_id = await talk.claimed()
    for _ in range(2):
        assert await talk.settle(operation_id, SUCCESS) is S.CONFIRMED
    assert await books(talk) == ([], False)
    await look(talk, operation_id, THERE)
    assert await books(talk) == ([("effect_without_row", "waiting")], True)


async def test_what_is_found_as_approved_is_confirmed_and_nothing_else(talk: Talk) -> None:
    operation_id = await talk.unknown()
    assert await look(talk, operation_id, PAID) is S.CONFIRMED
    assert await books(talk) == ([], False)


@pytest.mark.parametrize("other", [{"amount_minor": SMALL + 1}, {"currency": "USD"}, {"amount_minor": None}])
async def test_what_is_found_with_another_amount_is_confirmed_and_stops_dispatch(
    other: dict[str, object], talk: Talk
) -> None:
    operation_id = await talk.unknown()
    assert await look(talk, operation_id, PAID.model_copy(update=other)) is S.CONFIRMED
    assert await books(talk) == ([("other_amount", "waiting")], True)


async def test_a_person_settles_an_unknown_and_the_log_its_case_and_its_work_hear_of_it(
    talk: Talk, manager: Staff
) -> None:
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    woken = await talk.all("SELECT count(*) FROM outbox WHERE conversation_id = :id")
    assert await by_hand(talk, operation_id, S.CONFIRMED, manager, external_id="re_7") is S.CONFIRMED
    action = await talk.action(operation_id)
    assert (action.cause, action.external_id) == (Cause.FOUND, "re_7")
    moved = await talk.all(
        f"SELECT actor FROM transitions WHERE operation_id = '{operation_id}' ORDER BY n DESC LIMIT 1"
    )
    assert moved == [(f"staff:{manager.id}",)]
    assert (await talk.log())[-1].body["state"] == "confirmed"
    assert await books(talk) == ([("unknown_action", "done")], False)
    assert not [i for i in (await queue.look(talk.db, talk.tenant, now())).waiting if i.kind.value == "case"]
    assert await talk.all("SELECT count(*) FROM outbox WHERE conversation_id = :id") == [(woken[0][0] + 1,)]


async def test_a_person_may_say_rejected_only_once_nothing_can_happen_any_more(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.unknown()
    with pytest.raises(Refusal) as early:
        await by_hand(talk, operation_id, S.REJECTED, manager, at=later(EFFECT_S - 5))
    assert early.value.fields["wait_s"] in range(4, 7)
    assert f"{early.value.fields['wait_s']} s" in early.value.detail
    assert (await talk.action(operation_id)).state is S.UNKNOWN
    assert await by_hand(talk, operation_id, S.REJECTED, manager, at=later(EFFECT_S + 1)) is S.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.NOT_FOUND


async def test_a_person_waits_from_the_last_send(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.resend(operation_id, at=later(20))
    with pytest.raises(Refusal, match="still take effect"):
        await by_hand(talk, operation_id, S.REJECTED, manager, at=later(EFFECT_S + 1))


async def test_absence_is_never_recorded_where_no_bound_is_known(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.unknown()
    with pytest.raises(Refusal, match="no bound"):
        await by_hand(talk, operation_id, S.REJECTED, manager, UNBOUNDED, later(10**6))
    assert await by_hand(talk, operation_id, S.CONFIRMED, manager, UNBOUNDED) is S.CONFIRMED


async def test_only_an_unknown_action_is_settled_by_a_person(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.claimed()
    with pytest.raises(Refusal, match="submitted"):
        await by_hand(talk, operation_id, S.CONFIRMED, manager)
    await talk.settle(operation_id, SUCCESS)
    with pytest.raises(Refusal, match="confirmed"):
        await by_hand(talk, operation_id, S.REJECTED, manager, at=later(10**6))
    with pytest.raises(NotFound):
        await by_hand(talk, "no-such-operation", S.CONFIRMED, manager)


async def test_only_somebody_responsible_settles_by_hand(
    talk: Talk, ann: Staff, manager: Staff, owner: psycopg.Connection[Any]
) -> None:
    operation_id = await talk.unknown()
    with pytest.raises(Forbidden):
        await by_hand(talk, operation_id, S.CONFIRMED, ann)
    with pytest.raises(NotFound):
        await by_hand(talk, operation_id, S.CONFIRMED, manager.model_copy(update={"id": "nobody"}))
    owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", (talk.tenant, manager.id))
    with pytest.raises(Forbidden):
        await by_hand(talk, operation_id, S.CONFIRMED, manager)
    assert (await talk.action(operation_id)).state is S.UNKNOWN


async def test_a_late_success_of_what_a_person_called_rejected_is_a_case(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.unknown()
    await by_hand(talk, operation_id, S.REJECTED, manager, at=later(EFFECT_S + 1))
    assert await talk.settle(operation_id, SUCCESS) is S.REJECTED
    assert await books(talk) == ([("effect_without_row", "waiting")], True)


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
