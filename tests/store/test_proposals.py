"""A proposal enters the ledger once, fenced like a reply, and replaces what was not sent; what was sent comes first."""

import asyncio
from uuid import uuid4

import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind, Owner
from domain.handoff import HandoffReason
from domain.principal import VerifiedPrincipal
from domain.turn import Effect
from store.ledger import history
from store.proposals import withdraw_proposals
from tests.store.terms import ABSURD, LARGE, now
from tests.store.world import Talk

Staff = VerifiedPrincipal


async def test_a_proposal_answers_the_messages_that_asked_for_it(talk: Talk) -> None:
    operation_id = await talk.proposed(LARGE)
    action = await talk.action(operation_id)
    (shown,) = await talk.log(EventKind.PROPOSAL)
    assert (action.state, action.owner_epoch) == (ActionState.AWAITING_APPROVAL, 1)
    assert shown.body["payload_digest"] == action.payload_digest
    assert shown.body["required_approvals"] == ["customer", "manager"]
    assert (await talk.row()).texts == ()


async def test_a_proposal_answers_through_what_its_turn_read(talk: Talk) -> None:
    await talk.say("Refund A-1")
    fence = await talk.fence(last_round=True)
    await talk.say("and hurry")
    assert await talk.propose(await talk.proposal(), fence) is Effect.DONE
    row = await talk.row()
    assert (row.answered_seq, row.texts) == (1, ("and hurry",))


async def test_every_move_is_a_row_with_cause_actor_and_time(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id)
    async with talk.db.transaction(talk.tenant) as tx:
        moves = await history(tx, operation_id)
    assert [(m.from_state, m.to_state) for m in moves] == [
        (None, ActionState.PROPOSED),
        (ActionState.PROPOSED, ActionState.AWAITING_APPROVAL),
        (ActionState.AWAITING_APPROVAL, ActionState.SUBMITTED),
        (ActionState.SUBMITTED, ActionState.CONFIRMED),
    ]
    assert all(m.actor and m.cause for m in moves)
    assert [m.at for m in moves] == sorted(m.at for m in moves)


async def test_a_step_run_again_finds_its_own_proposal(talk: Talk) -> None:
    await talk.say()
    fence, proposal = await talk.fence(), await talk.proposal()
    effects = await asyncio.gather(*(talk.propose(proposal, fence) for _ in range(4)))
    assert effects == [Effect.DONE] * 4
    assert len(await talk.log(EventKind.PROPOSAL)) == 1
    assert len(await talk.all("SELECT 1 FROM actions WHERE conversation_id = :id")) == 1


async def test_a_proposal_is_refused_when_its_turn_has_passed(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    await talk.say()
    assert await talk.propose(await talk.proposal(), fence) is Effect.NEWER_MESSAGE
    answered = await talk.fence(step_id="a")
    await talk.publish()
    assert await talk.propose(await talk.proposal(), answered) is Effect.OVERTAKEN
    await talk.take_over(ann)
    assert await talk.propose(await talk.proposal(), fence) is Effect.FENCED
    assert await talk.all("SELECT 1 FROM actions WHERE conversation_id = :id") == []


async def test_a_newer_proposal_on_the_same_resource_supersedes(talk: Talk) -> None:
    old = await talk.approved()
    new = await talk.proposed()
    action = await talk.action(old)
    assert (action.state, action.cause) == (ActionState.REJECTED, Cause.SUPERSEDED)
    assert (await talk.action(new)).state is ActionState.AWAITING_APPROVAL
    kinds = [(e.kind, e.body.get("state")) for e in (await talk.log())[-2:]]
    assert kinds == [(EventKind.ACTION_STATE, "rejected"), (EventKind.PROPOSAL, None)]


async def test_a_correction_supersedes_another_resource_and_leaves_what_it_does_not_name(talk: Talk) -> None:
    wrong, other = await talk.proposed(order_id="A-1"), await talk.proposed(order_id="A-2")
    await talk.proposed(order_id="A-3", supersedes=(wrong,))
    assert (await talk.action(wrong)).cause is Cause.SUPERSEDED
    assert (await talk.action(other)).state is ActionState.AWAITING_APPROVAL


async def test_what_is_reserved_and_not_claimed_is_superseded_and_never_sent(talk: Talk) -> None:
    old = await talk.reserved()
    await talk.proposed()
    assert (await talk.action(old)).cause is Cause.SUPERSEDED
    assert (await talk.claim(old)).value == "moved"


@pytest.mark.parametrize("state", ["submitted", "unknown"])
async def test_what_may_have_been_sent_refuses_its_correction_and_nothing_is_changed(state: str, talk: Talk) -> None:
    sent = await (talk.claimed("A-2") if state == "submitted" else talk.unknown("A-2"))
    waiting = await talk.proposed(order_id="A-1")
    await talk.say("No, the other one")
    correction = await talk.proposal(order_id="A-1", supersedes=(waiting, sent))
    before = await talk.log()
    assert await talk.propose(correction) is Effect.IN_FLIGHT
    assert (await talk.action(waiting)).state is ActionState.AWAITING_APPROVAL
    assert await talk.log() == before
    await talk.settle(sent)
    assert await talk.propose(correction) is Effect.DONE


async def test_what_policy_forbids_is_recorded_as_denied_and_handed_to_a_person_in_one_step(talk: Talk) -> None:
    waiting = await talk.proposed(order_id="A-2")
    await talk.say()
    fence, proposal = await talk.fence(), await talk.proposal(ABSURD)
    for _ in range(2):
        assert await talk.propose(proposal, fence) is Effect.HANDED_OFF
    denied = await talk.action(proposal.operation_id)
    assert (denied.state, denied.cause) == (ActionState.REJECTED, Cause.DENIED)
    assert (await talk.action(waiting)).cause is Cause.WITHDRAWN
    row = await talk.row()
    assert (row.owner, row.owner_epoch, row.answered_seq) == (Owner.HUMAN, 2, fence.through_seq)
    query = "SELECT reason, queue_status FROM handoffs WHERE conversation_id = :id"
    assert await talk.all(query) == [(HandoffReason.POLICY_FORBIDS.value, "waiting")]


async def test_what_the_customer_does_not_want_is_declined_unless_it_was_sent(talk: Talk) -> None:
    waiting, reserved, sent = await talk.proposed(order_id="A-2"), await talk.reserved("A-3"), await talk.claimed("A-1")
    await talk.say("Stop all of it")
    fence = await talk.fence()
    for _ in range(2):
        done = await withdraw_proposals(talk.db, fence, (waiting, reserved, sent), talk.words, now())
        assert done is Effect.DONE
    causes = [(await talk.action(o)).cause for o in (waiting, reserved, sent)]
    assert causes == [Cause.DECLINED, Cause.DECLINED, Cause.RESERVED]
    assert len([e for e in await talk.log(EventKind.ACTION_STATE) if e.body["state"] == "rejected"]) == 2
    await talk.publish(fence)
    late = fence.model_copy(update={"step_id": uuid4().hex})
    assert await withdraw_proposals(talk.db, late, (waiting,), talk.words, now()) is Effect.OVERTAKEN
