"""INVARIANTS 1, 3, 6: a draft is let out at most once, as its moment stands, and by nobody after a change of owner."""

import asyncio
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.conversation import EventKind, Owner, Phase
from domain.draft_review import DraftRequest, DraftState, Superseded, change_permille
from domain.handoff import HandoffReason
from domain.principal import VerifiedPrincipal
from domain.refusal import DraftStale, NotFound, Refusal, RequestConflict
from domain.reply import Segment, Source
from domain.turn import Effect
from store.bundle import handoff_bundle
from store.conversations import view_conversation
from store.database import Database
from store.draft_decisions import FACTS_AGE_MAX, DraftDecided, renew_draft
from store.draft_keeping import standing_of_draft
from store.drafts import DraftItem, DraftSearch, list_drafts, one_draft
from store.outbox import open_conversations
from tests.conftest import MakeTenant
from tests.store.drafting import ON_ITS_WAY, accepts, decide, drafted, keep, rejects, stands, waiting
from tests.store.terms import now
from tests.store.test_turns import status_of
from tests.store.world import Talk

Staff = VerifiedPrincipal


async def refused(talk: Talk, staff: Staff, draft_id: str, asked: DraftRequest, **other: Any) -> DraftStale:
    with pytest.raises(DraftStale) as stale:
        await decide(talk, staff, draft_id, asked, **other)
    return stale.value


async def due(talk: Talk, relay_db: Database) -> bool:
    """Whether the sweep would wake the conversation."""
    found = await open_conversations(relay_db, talk.id[:-1], 10_000, 0)
    return talk.id in {wake.conversation_id for wake in found}


# ------------------------------------------------------------ keeping


async def test_a_kept_draft_answers_nothing_and_the_customer_is_told_once_that_a_person_looks_first(talk: Talk) -> None:
    await talk.say()
    assert await keep(talk) is Effect.KEPT
    await talk.say("And when will it be here?")
    assert await keep(talk) is Effect.KEPT
    told = [e.body["notice"] for e in await talk.log(EventKind.NOTICE)]
    assert (told, await talk.log(EventKind.BOT_REPLY)) == (["checked_first"], [])
    assert (await talk.row()).answered_seq == 0
    (first,) = await waiting(talk, DraftState.SUPERSEDED)
    assert first.cause is Superseded.NEWER_MESSAGE
    (second,) = await waiting(talk)
    assert [m.text for m in second.messages] == ["Refund A-1, please.", "And when will it be here?"]


async def test_after_an_answer_the_next_wait_is_told_again(talk: Talk, ann: Staff) -> None:
    for _ in range(2):
        await decide(talk, ann, await drafted(talk), accepts())
    assert len(await talk.log(EventKind.NOTICE)) == 2


async def test_nothing_of_a_draft_is_in_the_log_before_it_is_let_out(talk: Talk) -> None:
    await drafted(talk)
    assert [e.kind for e in await talk.log()] == [EventKind.CUSTOMER_MESSAGE, EventKind.NOTICE]
    assert (await view_conversation(talk.db, talk.customer, talk.id)).phase is Phase.DRAFTING


async def test_a_step_run_again_finds_its_own_draft(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    assert await standing_of_draft(talk.db, fence) is None
    assert await asyncio.gather(*(keep(talk, fence) for _ in range(5))) == [Effect.KEPT] * 5
    await talk.take_over(ann)
    assert await keep(talk, fence) is Effect.KEPT
    assert await standing_of_draft(talk.db, fence) is Effect.KEPT
    assert len(await waiting(talk, DraftState.SUPERSEDED)) == 1


async def test_two_turns_keep_one_draft(talk: Talk) -> None:
    await talk.say()
    effects = await asyncio.gather(keep(talk, await talk.fence()), keep(talk, await talk.fence()))
    assert sorted(effects) == [Effect.KEPT, Effect.OVERTAKEN]
    assert len(await waiting(talk)) == 1


async def test_a_draft_is_fenced_as_a_reply_is_and_never_kept_beside_a_newer_message(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence(last_round=True)
    await talk.say("One more thing.")
    assert await keep(talk, fence) is Effect.NEWER_MESSAGE
    fence = await talk.fence()
    await talk.take_over(ann)
    assert await keep(talk, fence) is Effect.FENCED
    with pytest.raises(NotFound):
        await keep(talk, fence.model_copy(update={"conversation_id": "nowhere"}))
    assert await waiting(talk) == []


async def test_a_waiting_draft_is_nobodys_to_sweep_close_or_consider_again(talk: Talk, relay_db: Database) -> None:
    draft_id = await drafted(talk)
    assert (await talk.row()).draft_waits
    assert not await due(talk, relay_db)
    assert not await talk.close()
    await renew_draft(talk.db, talk.anybody, draft_id, talk.clock())
    assert not (await talk.row()).draft_waits
    assert await due(talk, relay_db)


# ------------------------------------------------------------ what ends its moment


@pytest.mark.parametrize("how", ["take_over", "ask_for_person", "hand_off"])
async def test_every_change_of_owner_ends_the_draft(how: str, talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    await getattr(talk, how)(*([ann] if how == "take_over" else []))
    stale = await refused(talk, ann, draft_id, accepts())
    assert stale.fields["reason"] == "owner_changed"
    assert (await stands(talk, draft_id)).cause is Superseded.OWNER_CHANGED
    assert await talk.log(EventKind.BOT_REPLY) == []


async def test_after_a_release_the_draft_of_before_stays_in(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    assert (await refused(talk, ann, draft_id, accepts())).fields["reason"] == "owner_changed"
    assert await keep(talk) is Effect.KEPT


async def test_a_newer_message_ends_the_draft_at_once(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    await talk.say("Forget it, I have found it.")
    assert (await refused(talk, ann, draft_id, accepts())).fields["reason"] == "newer_message"
    assert (await refused(talk, ann, draft_id, rejects())).fields["reason"] == "newer_message"
    assert (await talk.row()).owner is Owner.BOT


async def test_facts_that_were_read_too_long_ago_are_drafted_anew(talk: Talk, ann: Staff, relay_db: Database) -> None:
    found = await talk.read()
    shipped = Segment(text="It left today.", source=Source.EVIDENCE, rests_on=found.evidence_id)
    draft_id = await drafted(talk, shipped)
    assert not (await stands(talk, draft_id)).stale
    late = found.observed_at + FACTS_AGE_MAX + timedelta(seconds=1)
    assert (await one_draft(talk.db, ann, draft_id, late)).stale
    stale = await refused(talk, ann, draft_id, accepts("It left today, with love."), at=late)
    assert stale.fields["reason"] == "facts_old"
    assert [w.conversation_id for w in stale.wakes] == [talk.id]
    assert (await stands(talk, draft_id)).cause is Superseded.FACTS_OLD
    assert await due(talk, relay_db)


async def test_what_was_read_and_is_not_told_grows_not_old(talk: Talk, ann: Staff) -> None:
    found = await talk.read()
    draft_id = await drafted(talk)
    late = found.observed_at + FACTS_AGE_MAX + timedelta(days=1)
    assert (await decide(talk, ann, draft_id, accepts(), at=late)).state is DraftState.ACCEPTED


async def test_a_sentence_on_an_action_is_let_out_only_while_its_row_says_the_same(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.claimed()
    draft_id = await drafted(talk, status_of(operation_id))
    (item,) = await waiting(talk)
    assert (item.text, item.segments[0].sources, item.stale) == ("[refund is submitted]", (operation_id,), False)
    await talk.settle(operation_id)
    assert (await stands(talk, draft_id)).stale
    stale = await refused(talk, ann, draft_id, accepts("We have sent it."))
    assert (stale.fields["reason"], len(stale.wakes)) == ("facts_changed", 1)
    assert await keep(talk, None, status_of(operation_id)) is Effect.KEPT
    await decide(talk, ann, (await waiting(talk))[0].draft_id, accepts())
    (reply,) = await talk.log(EventKind.BOT_REPLY)
    assert reply.body["text"] == "[refund is confirmed]"


# ------------------------------------------------------------ decisions


async def test_an_accepted_draft_is_the_bots_reply_and_says_who_looked_at_it(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    done = await decide(talk, ann, draft_id, accepts())
    (reply,) = await talk.log(EventKind.BOT_REPLY)
    assert (done.state, done.seq, done.wake is not None) == (DraftState.ACCEPTED, reply.seq, True)
    assert reply.actor == "bot:interlock"
    assert reply.body["text"] == f"[automated in en] {ON_ITS_WAY.text}"
    told = {name: reply.body[name] for name in ("reviewed_by", "draft_id", "edited", "reviewed", "automated")}
    assert told == {
        "reviewed_by": ann.key, "draft_id": draft_id, "edited": False, "reviewed": True, "automated": True
    }  # fmt: skip
    assert [e.seq for e in await talk.log(EventKind.UNDERSTANDING)] == [reply.seq]
    row = await talk.row()
    assert (row.answered_seq, row.draft_waits, row.owner) == (1, False, Owner.BOT)
    kept = await stands(talk, draft_id)
    assert (kept.change_permille, kept.said, kept.decided_by, kept.seq) == (0, None, ann.key, reply.seq)


async def test_an_edited_draft_goes_out_as_edited_and_both_texts_are_kept(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    done = await decide(talk, ann, draft_id, accepts("Your parcel is on its way. "))
    assert done.state is DraftState.EDITED
    (reply,) = await talk.log(EventKind.BOT_REPLY)
    assert (reply.body["text"], reply.body["edited"]) == ("[automated in en] Your parcel is on its way.", True)
    (behind,) = await talk.log(EventKind.DRAFT)
    assert (behind.seq, behind.body["text"]) == (reply.seq, ON_ITS_WAY.text)
    kept = await stands(talk, draft_id)
    assert (kept.text, kept.said) == (ON_ITS_WAY.text, "Your parcel is on its way.")
    assert kept.change_permille == change_permille(kept.text, kept.said or "") > 0


async def test_the_same_words_with_other_blanks_around_them_are_no_edit(talk: Talk, ann: Staff) -> None:
    done = await decide(talk, ann, await drafted(talk), accepts(f"  {ON_ITS_WAY.text}\n"))
    assert done.state is DraftState.ACCEPTED


async def test_who_rejects_a_draft_has_the_conversation_and_knows_what_is_open(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    done = await decide(talk, ann, draft_id, rejects("It has been lost."))
    assert (done.state, done.seq) == (DraftState.REJECTED, None)
    row = await talk.row()
    assert (row.owner, row.answered_seq) == (Owner.HUMAN, 0)
    assert await talk.all("SELECT holder FROM conversations WHERE id = :id") == [("ann",)]
    bundle = await handoff_bundle(talk.db, ann, done.handoff_id or "")
    assert (bundle.reason, bundle.goal) == (HandoffReason.DRAFT_REJECTED, "order_status")
    assert bundle.open_questions == ("Where is it?",)
    (behind,) = await talk.log(EventKind.DRAFT)
    assert (behind.body["text"], behind.body["reason"]) == (ON_ITS_WAY.text, "It has been lost.")
    assert await talk.log(EventKind.BOT_REPLY) == []
    assert [e.body["notice"] for e in await talk.log(EventKind.NOTICE)] == ["checked_first", "taken_over"]
    assert (await talk.reply(ann)).duplicate is False


async def test_a_takeover_under_the_same_request_id_stands_in_no_rejections_way(talk: Talk, ann: Staff) -> None:
    await talk.say()
    taken = await talk.take_over(ann, "r-1")
    await talk.release(ann, taken.owner_epoch)
    assert (await decide(talk, ann, await drafted(talk), rejects(request_id="r-1"))).state is DraftState.REJECTED


@pytest.mark.parametrize("asked", [accepts(), accepts("Other words."), rejects()])
async def test_a_repeat_is_answered_from_the_first_answer(asked: DraftRequest, talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    first = await decide(talk, ann, draft_id, asked)
    again = await decide(talk, ann, draft_id, asked)
    assert again == first.model_copy(update={"wake": None})
    assert len(await talk.log(EventKind.BOT_REPLY)) <= 1
    for other in (accepts("Third words.", asked.request_id), rejects("Else.", asked.request_id)):
        with pytest.raises(RequestConflict):
            await decide(talk, ann, draft_id, other)


async def test_the_second_reviewer_is_told_who_was_first(talk: Talk, ann: Staff, ben: Staff) -> None:
    draft_id = await drafted(talk)
    await decide(talk, ann, draft_id, accepts())
    stale = await refused(talk, ben, draft_id, rejects())
    assert {name: stale.fields[name] for name in ("reason", "staff", "state")} == {
        "reason": "decided", "staff": "ann", "state": "accepted"
    }  # fmt: skip
    with pytest.raises(DraftStale):
        await renew_draft(talk.db, ben, draft_id, talk.clock())
    assert (await talk.row()).owner is Owner.BOT


async def test_a_renewal_is_asked_for_once_and_wakes_the_bot(talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    first = await renew_draft(talk.db, ann, draft_id, talk.clock())
    again = await renew_draft(talk.db, ann, draft_id, talk.clock())
    assert (first.state, first.wake is not None, again.wake) == (DraftState.SUPERSEDED, True, None)
    assert (await refused(talk, ann, draft_id, accepts())).fields["reason"] == "renewed"


async def test_drafts_of_another_tenant_are_not_there(talk: Talk, ann: Staff, make_tenant: MakeTenant) -> None:
    draft_id = await drafted(talk)
    stranger = ann.model_copy(update={"tenant_id": make_tenant()})
    for asked in (accepts(), rejects()):
        with pytest.raises(NotFound):
            await decide(talk, stranger, draft_id, asked)
    with pytest.raises(NotFound):
        await renew_draft(talk.db, stranger, draft_id, talk.clock())
    assert await list_drafts(talk.db, stranger, DraftSearch(), now()) == []


async def test_pages_of_drafts_are_the_longest_waiting_first_and_whole(talk: Talk) -> None:
    talks = [talk, *[await talk.beside() for _ in range(4)]]
    made = [(await drafted_in(one)).draft_id for one in talks]
    seen: list[str] = []
    search = DraftSearch(limit=2)
    while page := await list_drafts(talk.db, talk.anybody, search, talk.clock()):
        seen += [d.draft_id for d in page]
        search = search.model_copy(update={"after_at": page[-1].made_at, "after_id": page[-1].draft_id})
    assert seen == made


async def drafted_in(talk: Talk) -> DraftItem:
    await talk.say()
    assert await keep(talk) is Effect.KEPT
    return next(d for d in await waiting(talk) if d.conversation_id == talk.id)


# ------------------------------------------------------------ races, and the database's own word


async def _accepts(talk: Talk, staff: Staff, draft_id: str) -> DraftState | str:
    try:
        return (await decide(talk, staff, draft_id, accepts())).state
    except Refusal as no:
        return str(no.fields["reason"])


@pytest.mark.parametrize("n", range(12))
async def test_of_a_takeover_and_an_acceptance_the_later_one_gives_way(
    n: int, talk: Talk, ann: Staff, ben: Staff
) -> None:
    draft_id = await drafted(talk)
    both = [_accepts(talk, ben, draft_id), talk.take_over(ann)]
    ended, taken = await asyncio.gather(*(both if n % 2 else reversed(both)))
    ended, taken = (ended, taken) if n % 2 else (taken, ended)
    log = await talk.log()
    (owner_at,) = [e.seq for e in log if e.kind is EventKind.OWNER_CHANGED]
    replies = [e.seq for e in log if e.kind is EventKind.BOT_REPLY]
    assert ended in (DraftState.ACCEPTED, "owner_changed")
    assert len(replies) == (ended is DraftState.ACCEPTED)
    assert all(seq < owner_at for seq in replies)
    assert taken.owner is Owner.HUMAN


async def test_of_many_acceptances_and_rejections_at_once_one_counts(talk: Talk, ann: Staff, ben: Staff) -> None:
    draft_id = await drafted(talk)
    asked = [decide(talk, who, draft_id, how()) for who in (ann, ben) for how in (accepts, rejects, accepts)]
    ends = await asyncio.gather(*asked, return_exceptions=True)
    done = [end for end in ends if isinstance(end, DraftDecided)]
    assert len(done) == 1
    assert all(isinstance(end, DraftStale) for end in ends if end is not done[0])
    assert len(await talk.log(EventKind.BOT_REPLY)) == (done[0].state is DraftState.ACCEPTED)


@pytest.mark.parametrize("n", range(6))
async def test_an_acceptance_never_answers_a_message_that_it_has_not_seen(n: int, talk: Talk, ann: Staff) -> None:
    draft_id = await drafted(talk)
    ended, _ = await asyncio.gather(_accepts(talk, ann, draft_id), talk.say("Stop, cancel that!"))
    row = await talk.row()
    assert ended in (DraftState.ACCEPTED, "newer_message")
    assert row.answered_seq == (1 if ended is DraftState.ACCEPTED else 0)
    assert row.answered_seq < row.customer_seq


@pytest.mark.parametrize("change", ["state = 'waiting', ended_at = NULL", "state = 'rejected', cause = NULL"])
async def test_the_database_decides_a_draft_once(
    change: str, talk: Talk, ann: Staff, owner: psycopg.Connection[Any]
) -> None:
    draft_id = await drafted(talk)
    await talk.take_over(ann)
    with pytest.raises(psycopg.errors.CheckViolation, match="decided once"):
        owner.execute(f"UPDATE drafts SET {change} WHERE draft_id = %s".encode(), (draft_id,))


async def test_the_database_itself_lets_nothing_out_beyond_its_moment(
    talk: Talk, ann: Staff, owner: psycopg.Connection[Any]
) -> None:
    draft_id = await drafted(talk)
    owner.execute("ALTER TABLE conversations DISABLE TRIGGER conversations_drafts")
    try:
        await talk.take_over(ann)
    finally:
        owner.execute("ALTER TABLE conversations ENABLE TRIGGER conversations_drafts")
    with pytest.raises(psycopg.errors.CheckViolation, match="moment of this draft"):
        owner.execute(
            "UPDATE drafts SET state = 'accepted', ended_at = now(), decided_by = 'staff:ann', request_id = 'r',"
            " change_permille = 0, seq = 9 WHERE draft_id = %s",
            (draft_id,),
        )


@pytest.mark.parametrize(
    ("before", "after", "permille"),
    [("", "", 0), ("a b c d", "a b c d", 0), ("a b c d", "a b c e", 250), ("a b", "c d", 1_000), ("a", "", 1_000)],
)
def test_how_much_was_changed_is_told_by_words(before: str, after: str, permille: int) -> None:
    assert change_permille(before, after) == permille
