"""A handoff passes responsibility once, and a conversation closes only where nobody is responsible for anything."""

import asyncio

import pytest

from domain.conversation import EventKind, Owner
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import NotOwned
from domain.turn import Effect
from store.bundle import handoff_bundle
from store.ownership import hand_off_unread, request_handoff
from tests.store.terms import now
from tests.store.world import Talk

Staff = VerifiedPrincipal


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
    assert await talk.all("SELECT owner, holder FROM conversations WHERE id = :id") == [("human", "ann")]


async def test_a_handoff_that_nobody_has_taken_is_released_by_nobody(talk: Talk, ann: Staff) -> None:
    await talk.ask_for_person()
    with pytest.raises(NotOwned):
        await talk.release(ann)


async def test_release_wakes_the_bot_tells_the_customer_and_ends_the_handoff(talk: Talk, ann: Staff) -> None:
    await talk.say()
    taken = await talk.take_over(ann)
    released = await talk.release(ann, taken.owner_epoch)
    assert released.wake is not None
    assert [e.kind for e in (await talk.log())[-3:]] == [
        EventKind.OWNER_CHANGED,
        EventKind.HANDOFF,
        EventKind.NOTICE,
    ]
    assert await handoffs(talk) == [("done", "ann")]
    row = await talk.row()
    assert (row.owner, row.owner_epoch, len(row.texts)) == (Owner.BOT, 3, 1)


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
    assert await talk.all("SELECT owner, version - consumed_seq FROM conversations WHERE id = :id") == [
        (Owner.CLOSED.value, 0)
    ]
    assert await talk.publish(fence.model_copy(update={"step_id": "late"})) is Effect.FENCED
    await talk.say()
    assert not await talk.close()


async def test_the_bundle_gives_the_words_with_which_a_person_was_asked_for(talk: Talk, ann: Staff) -> None:
    asked = await request_handoff(
        talk.db, talk.customer, talk.id, "r1", talk.words, now(), "I want to talk to somebody"
    )
    assert asked.handoff_id is not None
    bundle = await handoff_bundle(talk.db, ann, asked.handoff_id)
    assert (bundle.note, bundle.reason) == ("I want to talk to somebody", "customer_requested")
