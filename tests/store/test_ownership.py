"""INVARIANT 3: each change of owner raises the epoch by one, is answered once, and is told in the same step."""

import asyncio

import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind, Owner, Phase
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound, NotOwned, RequestConflict
from domain.turn import Effect
from store.ownership import OwnerChange, hand_off_unread
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store.world import Talk, now

Staff = VerifiedPrincipal


def first(change: OwnerChange) -> OwnerChange:
    return change.model_copy(update={"wake": None})


async def handoffs(talk: Talk) -> list[tuple[str, str | None]]:
    query = "SELECT queue_status, assignee FROM handoffs WHERE conversation_id = :id ORDER BY opened_at"
    return await talk.all(query)


async def test_a_takeover_is_one_step_for_owner_handoff_notice_and_wake(talk: Talk, ann: Staff) -> None:
    await talk.say()
    change = await talk.take_over(ann)
    assert (change.owner, change.owner_epoch, change.queue_status) == (Owner.HUMAN, 2, QueueStatus.CLAIMED)
    kinds = [e.kind for e in await talk.log()]
    assert kinds == [EventKind.CUSTOMER_MESSAGE, EventKind.OWNER_CHANGED, EventKind.HANDOFF, EventKind.NOTICE]
    assert await talk.all("SELECT owner_epoch FROM outbox WHERE conversation_id = :id ORDER BY id") == [(1,), (2,)]
    assert await handoffs(talk) == [("claimed", "ann")]
    assert await talk.all("SELECT phase, holder FROM conversations WHERE id = :id") == [("human_owned", "ann")]


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


async def test_a_handoff_that_nobody_has_taken_is_released_by_nobody(talk: Talk, ann: Staff) -> None:
    await talk.ask_for_person()
    with pytest.raises(NotOwned):
        await talk.release(ann)


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


async def test_release_wakes_the_bot_tells_the_customer_and_ends_the_handoff(talk: Talk, ann: Staff) -> None:
    await talk.say()
    taken = await talk.take_over(ann)
    released = await talk.release(ann, taken.owner_epoch)
    assert released.wake is not None
    assert [e.kind for e in (await talk.log())[-2:]] == [EventKind.OWNER_CHANGED, EventKind.NOTICE]
    assert await handoffs(talk) == [("done", "ann")]
    row = await talk.row()
    assert (row.owner, row.owner_epoch, len(row.texts)) == (Owner.BOT, 3, 1)


async def test_the_bot_does_not_answer_again_what_a_person_dealt_with(talk: Talk, ann: Staff) -> None:
    await talk.say("one")
    await talk.take_over(ann)
    await talk.reply(ann)
    await talk.say("two")
    await talk.release(ann)
    assert (await talk.row()).texts == ("two",)


async def test_a_handoff_request_is_idempotent_and_opens_one_handoff(talk: Talk) -> None:
    changes = await asyncio.gather(*(talk.ask_for_person(f"r{n % 2}") for n in range(8)))
    assert len({c.handoff_id for c in changes}) == 1
    assert (await talk.row()).owner_epoch == 2
    assert await handoffs(talk) == [("waiting", None)]


async def test_a_takeover_claims_the_handoff_that_waits(talk: Talk, ann: Staff) -> None:
    asked = await talk.ask_for_person()
    taken = await talk.take_over(ann)
    assert (taken.handoff_id, taken.owner_epoch) == (asked.handoff_id, 3)
    again = await talk.ask_for_person()
    assert (again.handoff_id, again.queue_status, again.owner_epoch) == (asked.handoff_id, QueueStatus.CLAIMED, 3)


async def test_a_request_id_that_others_have_used_blocks_no_handoff(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    for ident in ("r1", fence.step_id, "case:1"):
        await talk.ask_for_person(ident)
        taken = await talk.take_over(ann)
        await talk.release(ann, taken.owner_epoch)
    fence = await talk.fence(step_id=fence.step_id)
    assert await talk.hand_off(fence) is Effect.HANDED_OFF


async def test_the_bot_hands_off_once_and_only_at_its_own_epoch(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    assert await talk.hand_off(fence) is Effect.HANDED_OFF
    assert await talk.hand_off(fence) is Effect.HANDED_OFF
    row = await talk.row()
    assert (row.owner_epoch, row.answered_seq) == (2, fence.through_seq)
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    assert await talk.hand_off(fence.model_copy(update={"step_id": "another"})) is Effect.FENCED


async def test_what_was_never_considered_stays_unanswered_when_it_is_handed_off(talk: Talk) -> None:
    await talk.say()
    for _ in range(2):
        handed = await hand_off_unread(talk.db, talk.tenant, talk.id, "step", talk.words, now())
        assert handed is Effect.HANDED_OFF
    row = await talk.row()
    assert (row.owner, row.owner_epoch, row.answered_seq) == (Owner.HUMAN, 2, 0)
    assert await talk.all("SELECT reason FROM handoffs WHERE conversation_id = :id") == [
        (HandoffReason.UNDERSTANDING_FAILED.value,)
    ]


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


async def test_a_conversation_closes_only_when_nothing_is_open(talk: Talk, ann: Staff) -> None:
    await talk.say()
    assert not await talk.close()  # unanswered
    operation_id = await talk.proposed(order_id="A-1")
    assert not await talk.close()  # an action is open
    await talk.ask_for_person()
    assert not await talk.close()  # a person has it, and a handoff waits
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    before = (await talk.row()).updated_at
    assert not await talk.close(idle_since=before.replace(year=2020))  # something happened since
    assert (await talk.action(operation_id)).state.terminal
    assert await talk.close()


async def test_closing_is_fenced_told_and_done_once(talk: Talk) -> None:
    await talk.say()
    fence = await talk.fence()
    await talk.publish()
    assert await asyncio.gather(*(talk.close() for _ in range(4))) == [True] * 4
    row = await talk.row()
    assert (row.owner, row.owner_epoch) == (Owner.CLOSED, 2)
    assert await talk.all("SELECT phase, version - consumed_seq FROM conversations WHERE id = :id") == [
        (Phase.CLOSED.value, 0)
    ]
    assert await talk.publish(fence.model_copy(update={"step_id": "late"})) is Effect.FENCED
    await talk.say()
    assert not await talk.close()
