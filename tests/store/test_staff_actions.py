"""INVARIANTS 2, 3, 4: what a person asks for passes the same fence and gates as what the bot proposes."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.action import ActionKind, ActionState, ApprovalRole, Cause
from domain.catalogue.wish import Wish
from domain.conversation import EventKind, Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import (
    ActionInFlight,
    ApprovalNotAllowed,
    NotOwned,
    PolicyForbids,
    RequestConflict,
    VersionConflict,
)
from domain.turn import ClaimResult, Effect, ReserveResult
from domain.verdict import Judgement, PolicyQuestion, Verdict, VerdictKind
from store.ownership import OwnerChange
from store.settlement import resend_allowed, withdraw_fenced
from store.staff_proposals import StaffRequest
from tests.store.terms import ABSURD, BUNDLE, LARGE, SENDS_MAX, SHOP, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
Admin = psycopg.Connection[Any]
REFUND = Wish(kind=ActionKind.REFUND, resource="order:A-1", amount_minor=2_000, currency="EUR")


def asked(request_id: str = "p-1", **other: Any) -> StaffRequest:
    return StaffRequest(**{"request_id": request_id, "wish": REFUND, **other})


async def owner_passes_and_nothing_is_withdrawn(talk: Talk, owner: str, holder: str | None) -> None:
    """No transaction of the product does this: so the fence is seen to hold by itself."""
    changed = sa.text("UPDATE conversations SET owner = :o, owner_epoch = owner_epoch + 1, holder = :h WHERE id = :id")
    async with talk.db.transaction(talk.tenant) as tx:
        await tx.execute(changed, {"o": owner, "h": holder, "id": talk.id})


# ---------------------------------------------------------------- who may, and what it leaves
async def test_only_who_holds_the_conversation_proposes(talk: Talk, ann: Staff, ben: Staff) -> None:
    with pytest.raises(NotOwned):
        await talk.act(ann)
    await talk.taken(ben)
    with pytest.raises(NotOwned):
        await talk.act(ann)
    await talk.ask_for_person()
    assert (await talk.act(ben)).state is ActionState.AWAITING_APPROVAL
    await talk.release(ben)
    with pytest.raises(NotOwned):
        await talk.act(ben)


async def test_a_proposal_of_a_person_is_on_record_shown_and_woken_for(talk: Talk, ann: Staff) -> None:
    made = await (await talk.taken(ann)).act(ann)
    action = await talk.action(made.operation_id)
    assert (action.requested_by, action.owner_epoch, action.payload_digest) == ("staff:ann", 2, made.payload_digest)
    (event,) = await talk.log(EventKind.PROPOSAL)
    assert (event.actor, event.body["automated"], event.body["payload_digest"]) == (
        "staff:ann",
        False,
        made.payload_digest,
    )
    assert [e.body["kind"] for e in await talk.log(EventKind.VERDICT)] == ["ask"]
    assert {w.operation_id for w in made.wakes} == {made.operation_id, None}
    audited = await talk.all("SELECT kind, actor FROM audit WHERE operation_id = :op ORDER BY id", op=made.operation_id)
    assert audited[:2] == [("move", "staff:ann"), ("verdict", "staff:ann")]


async def test_what_is_permitted_at_once_is_reserved_without_anybodys_approval(talk: Talk, ann: Staff) -> None:
    permit = Verdict(kind=VerdictKind.PERMIT, rule_ids=("rule",), policy_digest=BUNDLE)

    def trusting(digest: str, question: PolicyQuestion) -> Judgement:
        return Judgement(verdict=permit, request={})

    made = await (await talk.taken(ann)).act(ann, judged=Judgement(verdict=permit, request={}))
    assert (made.state, made.required_approvals) == (ActionState.AWAITING_APPROVAL, ())
    assert await talk.reserve(made.operation_id, judge=trusting) is ReserveResult.RESERVED


async def test_what_policy_forbids_is_denied_on_record_and_supersedes_nothing(talk: Talk, ann: Staff) -> None:
    await talk.taken(ann)
    open_one = await talk.act(ann)
    before = await talk.log()
    with pytest.raises(PolicyForbids) as refused:
        await talk.act(ann, ABSURD, request=asked("p-9"))
    assert refused.value.fields["rules"] == ["rule"]
    denied = await talk.action(str(refused.value.fields["operation_id"]))
    assert (denied.state, denied.cause, denied.requested_by) == (ActionState.REJECTED, Cause.DENIED, "staff:ann")
    assert await talk.log() == before
    assert (await talk.action(open_one.operation_id)).state is ActionState.AWAITING_APPROVAL
    with pytest.raises(PolicyForbids) as again:
        await talk.act(ann, ABSURD, request=asked("p-9"))
    assert again.value.fields == refused.value.fields
    assert (await talk.row()).owner is Owner.HUMAN


# ---------------------------------------------------------------- repeats
async def test_a_repeat_gets_the_first_answer_and_another_body_is_refused(talk: Talk, ann: Staff, ben: Staff) -> None:
    await talk.taken(ann)
    made = await asyncio.gather(*(talk.act(ann, request=asked()) for _ in range(5)))
    assert len({m.operation_id for m in made}) == 1
    with pytest.raises(RequestConflict):
        await talk.act(ann, request=asked(seen_version=1))
    with pytest.raises(RequestConflict):
        await talk.release(ann, request_id="p-1")
    await talk.take_over(ben)
    assert (await talk.act(ann, request=asked())).operation_id == made[0].operation_id  # also when it is over
    assert len(await talk.log(EventKind.PROPOSAL)) == 1
    assert (await talk.act(ben, request=asked())).operation_id != made[0].operation_id  # another person's own id


# ---------------------------------------------------------------- what is in the way
async def test_a_proposal_of_a_person_supersedes_what_is_unsent_on_the_same_thing(talk: Talk, ann: Staff) -> None:
    first = await talk.acted(ann)
    elsewhere = await talk.act(ann, order_id="A-2")
    second = await talk.act(ann)
    assert (await talk.action(first)).cause is Cause.SUPERSEDED
    assert await talk.reserve(first) is ReserveResult.MOVED
    for made in (elsewhere, second):
        assert (await talk.action(made.operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_what_may_have_been_sent_has_to_be_established_first(talk: Talk, ann: Staff) -> None:
    bots = await talk.unknown()
    await talk.take_over(ann)
    with pytest.raises(ActionInFlight) as refused:
        await talk.act(ann)
    assert refused.value.fields == {"operation_id": bots, "state": "unknown"}
    await talk.settle(bots)
    assert (await talk.act(ann)).state is ActionState.AWAITING_APPROVAL


async def test_people_and_bot_are_never_both_in_flight_on_one_resource(talk: Talk, ann: Staff) -> None:
    beside = await talk.beside()
    ids = [await talk.acted(ann), await beside.approved()]
    seen = [await talk.read(), await beside.read()]
    results = await asyncio.gather(*(x.reserve(i, e) for x, i, e in zip((talk, beside), ids, seen, strict=True)))
    assert sorted(results) == [ReserveResult.BUSY, ReserveResult.RESERVED]


# ---------------------------------------------------------------- the fence
async def test_every_change_of_owner_withdraws_what_a_person_asked_for_and_did_not_send(
    talk: Talk, ann: Staff, ben: Staff
) -> None:
    changes: list[Callable[[], Awaitable[OwnerChange]]] = [
        partial(talk.take_over, ben),
        partial(talk.take_over, ann),
        partial(talk.release, ann),
    ]
    for change in changes:
        for reserved in (False, True):
            operation_id = await (talk.acted_and_reserved(ann) if reserved else talk.acted(ann))
            changed = await change()
            assert changed.in_flight == ()
            action = await talk.action(operation_id)
            assert (action.state, action.cause, action.send_count) == (ActionState.REJECTED, Cause.WITHDRAWN, 0)
            assert await talk.claim(operation_id) is ClaimResult.MOVED


async def test_a_person_on_their_way_out_is_shown_what_is_in_flight_and_it_still_settles(
    talk: Talk, ann: Staff, ben: Staff
) -> None:
    operation_id = await talk.acted_and_unknown(ann)
    assert (await talk.take_over(ben)).in_flight == (operation_id,)
    assert (await talk.release(ben)).in_flight == (operation_id,)
    assert not await talk.close()
    assert await talk.settle(operation_id) is ActionState.CONFIRMED
    assert (await talk.log())[-1].body["state"] == "confirmed"


@pytest.mark.parametrize(("owner_now", "holder"), [("bot", None), ("human", "ben"), ("human", "ann")])
async def test_the_fence_of_a_person_holds_by_itself(
    owner_now: str, holder: str | None, talk: Talk, ann: Staff
) -> None:
    operation_id = await talk.acted(ann)
    await owner_passes_and_nothing_is_withdrawn(talk, owner_now, holder)
    assert await talk.reserve(operation_id) is ReserveResult.FENCED
    assert await withdraw_fenced(talk.db, talk.tenant, operation_id, talk.words, now()) is ActionState.REJECTED


async def test_a_claim_passes_the_fence_of_a_person_too(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.acted_and_reserved(ann)
    await owner_passes_and_nothing_is_withdrawn(talk, "bot", None)
    assert await talk.claim(operation_id) is ClaimResult.NOT_SENT


async def test_a_resend_passes_the_fence_of_a_person_too(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.acted_and_unknown(ann)
    assert await resend_allowed(talk.db, talk.tenant, operation_id, SHOP, SENDS_MAX, now())
    assert await talk.resend(operation_id) is ClaimResult.CLAIMED
    await talk.release(ann)
    assert not await resend_allowed(talk.db, talk.tenant, operation_id, SHOP, SENDS_MAX, now())
    assert await talk.resend(operation_id) is ClaimResult.REFUSED


@pytest.mark.parametrize("_", range(6))
async def test_a_takeover_racing_a_persons_claim_either_stops_it_or_sees_it(
    _: int, talk: Talk, ann: Staff, ben: Staff
) -> None:
    operation_id = await talk.acted_and_reserved(ann)
    change, result = await asyncio.gather(talk.take_over(ben), talk.claim(operation_id))
    action = await talk.action(operation_id)
    if result is ClaimResult.CLAIMED:
        assert (change.in_flight, action.state, action.send_count) == ((operation_id,), ActionState.SUBMITTED, 1)
    else:
        assert (change.in_flight, action.state, action.send_count) == ((), ActionState.REJECTED, 0)


@pytest.mark.parametrize("_", range(6))
async def test_a_proposal_racing_a_takeover_is_withdrawn_or_refused(_: int, talk: Talk, ann: Staff, ben: Staff) -> None:
    await talk.taken(ann)
    made, _change = await asyncio.gather(talk.act(ann), talk.take_over(ben), return_exceptions=True)
    if isinstance(made, BaseException):
        assert isinstance(made, NotOwned)
    else:
        assert (await talk.action(made.operation_id)).cause is Cause.WITHDRAWN


@pytest.mark.parametrize(("by", "owner_now", "holder"), [("staff", "bot", None), ("bot", "human", "ann")])
async def test_the_database_itself_shows_and_submits_nothing_of_who_does_not_own_the_conversation(
    by: str, owner_now: str, holder: str | None, talk: Talk, ann: Staff
) -> None:
    operation_id = await (talk.acted(ann) if by == "staff" else talk.approved())
    await owner_passes_and_nothing_is_withdrawn(talk, owner_now, holder)
    submit = (
        "INSERT INTO transitions (tenant_id, operation_id, n, from_state, to_state, cause, actor)"
        " VALUES (:t, :o, 0, 'awaiting_approval', 'submitted', 'reserved', 'x')"
    )
    show = (
        "INSERT INTO events (tenant_id, conversation_id, kind, actor, body)"
        " VALUES (:t, :c, 'proposal', 'policy:engine', jsonb_build_object('operation_id', cast(:o AS text)))"
    )
    for refused, statement in (("the epoch of this action has passed", submit), ("not one to speak in", show)):
        with pytest.raises(IntegrityError, match=refused):
            await run(talk, statement, t=talk.tenant, c=talk.id, o=operation_id)


async def run(talk: Talk, statement: str, **values: str) -> None:
    async with talk.db.transaction(talk.tenant) as tx:
        await tx.execute(sa.text(statement), values)


# ---------------------------------------------------------------- what was said meanwhile
async def test_a_message_that_the_holder_has_not_dealt_with_holds_what_they_asked_for(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.acted(ann)
    stop = await talk.say("stop")
    assert await talk.reserve(operation_id) is ReserveResult.UNCONSIDERED
    await talk.reply(ann, seen=stop.seq - 1)
    assert await talk.reserve(operation_id) is ReserveResult.UNCONSIDERED
    await talk.reply(ann, seen=stop.seq)
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_a_proposal_deals_with_what_its_author_had_seen_and_with_nothing_later(talk: Talk, ann: Staff) -> None:
    await talk.taken(ann)
    seen = (await talk.row()).version
    later_word = await talk.say("Wait, the other one!")
    made = await talk.act(ann, seen=seen)
    assert (await talk.row()).answered_seq < later_word.seq
    await talk.decide(made.operation_id)
    assert await talk.reserve(made.operation_id) is ReserveResult.UNCONSIDERED
    everything = await talk.act(ann)
    assert (await talk.row()).answered_seq == later_word.seq
    await talk.decide(everything.operation_id)
    assert await talk.reserve(everything.operation_id) is ReserveResult.RESERVED


async def test_nobody_has_seen_what_is_not_there_yet(talk: Talk, ann: Staff) -> None:
    await talk.taken(ann)
    with pytest.raises(VersionConflict):
        await talk.act(ann, seen=99)


async def test_a_released_bot_speaks_for_itself_for_the_first_time(talk: Talk, ann: Staff) -> None:
    await (await talk.taken(ann)).act(ann)
    await talk.release(ann)
    await talk.say("Hello?")
    assert await talk.publish() is Effect.DONE
    (reply,) = await talk.log(EventKind.BOT_REPLY)
    assert reply.body["text"].startswith("[automated in en]")  # a person's proposal was no word of the bot


# ---------------------------------------------------------------- whose consent
async def test_who_asked_for_it_does_not_approve_it(talk: Talk, manager: Staff, other_manager: Staff) -> None:
    made = await (await talk.taken(manager)).act(manager, LARGE)
    assert made.required_approvals == (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)
    with pytest.raises(ApprovalNotAllowed):
        await talk.decide(made.operation_id, manager)
    await talk.decide(made.operation_id)
    assert await talk.reserve(made.operation_id) is ReserveResult.ASK_AGAIN
    await talk.decide(made.operation_id, other_manager)
    assert await talk.reserve(made.operation_id) is ReserveResult.RESERVED


# ---------------------------------------------------------------- revocation
async def test_whose_role_was_taken_away_reserves_nothing(talk: Talk, ann: Staff, owner: Admin) -> None:
    operation_id = await talk.acted(ann)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = 'ann'", (talk.tenant,))
    assert await talk.reserve(operation_id) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


async def test_whose_role_was_taken_away_sends_nothing(talk: Talk, ann: Staff, owner: Admin) -> None:
    reserved = await talk.acted_and_reserved(ann)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = 'ann'", (talk.tenant,))
    assert await talk.claim(reserved) is ClaimResult.NOT_SENT
    assert (await talk.action(reserved)).cause is Cause.NEVER_SENT


async def test_whose_role_was_taken_away_sends_nothing_again(talk: Talk, ann: Staff, owner: Admin) -> None:
    unknown = await talk.acted_and_unknown(ann)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = 'ann'", (talk.tenant,))
    assert await talk.resend(unknown) is ClaimResult.REFUSED


async def test_policy_is_asked_in_the_role_of_now(talk: Talk, ann: Staff, owner: Admin) -> None:
    operation_id = await talk.acted(ann)
    owner.execute("UPDATE staff SET role = 'finance' WHERE tenant_id = %s AND id = 'ann'", (talk.tenant,))
    roles: list[str] = []

    def listening(digest: str, question: PolicyQuestion) -> Judgement:
        roles.append(question.actor.role)
        return Judgement(verdict=Verdict(kind=VerdictKind.FORBID, rule_ids=("x",), policy_digest=digest), request={})

    assert await talk.reserve(operation_id, judge=listening) is ReserveResult.REJECTED
    assert roles == ["finance"]
