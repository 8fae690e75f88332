"""INVARIANT 3: each change of owner raises the epoch by one, is answered once, and is told in the same step."""

import asyncio

import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind, Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound, NotOwned, RequestConflict
from store.ownership import OwnerChange
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store.world import Talk

Staff = VerifiedPrincipal


def first(change: OwnerChange) -> OwnerChange:
    return change.model_copy(update={"wake": None})


async def handoffs(talk: Talk) -> list[tuple[str, str | None]]:
    query = "SELECT queue_status, assignee FROM handoffs WHERE conversation_id = :id ORDER BY opened_at"
    return await talk.all(query)


async def test_a_takeover_raises_the_epoch_also_from_another_person(talk: Talk, ann: Staff, ben: Staff) -> None:
    assert (await talk.take_over(ann)).owner_epoch == 2
    assert (await talk.take_over(ben)).owner_epoch == 3
    assert (await talk.take_over(ben)).owner_epoch == 4
    assert await handoffs(talk) == [("claimed", "ben")]


async def test_a_repeated_request_gets_the_first_answer_however_late(talk: Talk, ann: Staff, ben: Staff) -> None:
    taken = await talk.take_over(ann, "take")
    released = await talk.release(ann, taken.owner_epoch, "release")
    await talk.take_over(ben)
    assert await talk.take_over(ann, "take") == first(taken)
    assert await talk.release(ann, taken.owner_epoch, "release") == first(released)
    row = await talk.row()
    assert (row.owner, row.owner_epoch) == (Owner.HUMAN, 4)


async def test_the_same_request_many_times_at_once_has_one_effect(talk: Talk, ann: Staff) -> None:
    changes = await asyncio.gather(*(talk.take_over(ann, "once") for _ in range(8)))
    assert len({first(c).model_dump_json() for c in changes}) == 1
    assert [c.wake is None for c in changes].count(False) == 1
    assert (await talk.row()).owner_epoch == 2


async def test_one_request_id_is_not_used_for_two_acts(talk: Talk, ann: Staff) -> None:
    await talk.take_over(ann, "r1")
    with pytest.raises(RequestConflict):
        await talk.release(ann, None, "r1")


async def test_the_request_ids_of_two_people_are_their_own(talk: Talk, ann: Staff, ben: Staff) -> None:
    assert (await talk.take_over(ann, "r1")).owner_epoch == 2
    assert (await talk.take_over(ben, "r1")).owner_epoch == 3


async def test_only_the_holder_releases(talk: Talk, ann: Staff, ben: Staff) -> None:
    with pytest.raises(NotOwned):
        await talk.release(ann)
    await talk.take_over(ann)
    with pytest.raises(NotOwned):
        await talk.release(ben)
    assert (await talk.release(ann)).owner is Owner.BOT


async def test_a_late_release_ends_no_other_epoch(talk: Talk, ann: Staff) -> None:
    earlier = await talk.take_over(ann)
    await talk.release(ann, earlier.owner_epoch)
    await talk.take_over(ann)
    with pytest.raises(NotOwned):
        await talk.release(ann, earlier.owner_epoch)
    assert (await talk.row()).owner is Owner.HUMAN


async def test_a_refused_release_stays_refused_when_it_is_repeated(talk: Talk, ann: Staff) -> None:
    with pytest.raises(NotOwned) as refused:
        await talk.release(ann, None, "early")
    await talk.take_over(ann)
    with pytest.raises(NotOwned) as again:
        await talk.release(ann, None, "early")
    assert (again.value.detail, again.value.fields) == (refused.value.detail, refused.value.fields)
    assert (await talk.row()).owner is Owner.HUMAN


async def test_crossed_takeovers_and_releases_never_end_what_somebody_else_holds(
    talk: Talk, ann: Staff, ben: Staff
) -> None:
    taken = await talk.take_over(ann)

    async def let_go() -> OwnerChange | NotOwned:
        try:
            return await talk.release(ann, taken.owner_epoch)
        except NotOwned as refused:
            return refused

    await asyncio.gather(talk.take_over(ben), *(let_go() for _ in range(4)))
    assert await talk.all("SELECT owner, holder FROM conversations WHERE id = :id") == [("human", "ben")]


async def test_the_bot_does_not_answer_again_what_a_person_dealt_with(talk: Talk, ann: Staff) -> None:
    await talk.say("one")
    await talk.take_over(ann)
    await talk.reply(ann)
    await talk.say("two")
    await talk.release(ann)
    assert (await talk.row()).texts == ("two",)


async def test_a_takeover_withdraws_what_was_not_sent_and_names_what_was(talk: Talk, ann: Staff) -> None:
    waiting, reserved, sent = await talk.proposed(order_id="A-2"), await talk.reserved("A-3"), await talk.claimed("A-1")
    change = await talk.take_over(ann)
    assert change.in_flight == (sent,)
    for operation_id in (waiting, reserved):
        action = await talk.action(operation_id)
        assert (action.state, action.cause) == (ActionState.REJECTED, Cause.WITHDRAWN)
    assert (await talk.action(sent)).state is ActionState.SUBMITTED
    told = {e.body["operation_id"] for e in await talk.log(EventKind.ACTION_STATE) if e.body["state"] == "rejected"}
    assert told == {waiting, reserved}
    woken = await talk.all("SELECT operation_id FROM outbox WHERE operation_id IS NOT NULL AND owner_epoch = 1")
    assert {waiting, reserved} <= {operation_id for (operation_id,) in woken}


async def test_staff_of_another_tenant_and_strangers_cannot_take_or_hand_off(
    talk: Talk, make_staff: MakeStaff, make_customer: MakeCustomer, make_tenant: MakeTenant
) -> None:
    with pytest.raises(NotFound):
        await talk.take_over(make_staff(make_tenant()))
    stranger = Talk(talk.db, talk.words, make_customer(talk.tenant), talk.id)
    with pytest.raises(NotFound):
        await stranger.ask_for_person()
