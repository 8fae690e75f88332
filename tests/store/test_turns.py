"""INVARIANTS 1, 3, 6: a reply answers what its turn read, once, at its own epoch, and says what the ledger says now."""

import asyncio
from uuid import uuid4

import pytest

from domain.action import ActionKind
from domain.catalogue.wish import Wish
from domain.conversation import EventKind, Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.reply import Segment, Source
from domain.turn import Effect
from store.log import lock_conversation
from store.reading import drafting_facts, load_evidence, proposing_facts, read_turn
from store.turns import mark_consumed, standing_of, tell_waiting
from tests.conftest import MakeTenant
from tests.store.terms import BUNDLE, SMALL, now, order
from tests.store.world import Talk

Staff = VerifiedPrincipal


def status_of(operation_id: str) -> Segment:
    return Segment(text="", source=Source.LEDGER, rests_on=operation_id)


async def test_a_turn_reads_the_unanswered_messages_in_order(talk: Talk) -> None:
    await talk.say("one")
    await talk.publish()
    await talk.say("two")
    await talk.say("three")
    row = await talk.row()
    assert (row.texts, row.answered_seq, row.customer_seq, row.version) == (("two", "three"), 1, 4, 4)


async def test_a_turn_of_a_human_owned_conversation_reads_no_words(talk: Talk, ann: Staff) -> None:
    await talk.say("one")
    await talk.take_over(ann)
    row = await talk.row()
    assert (row.owner, row.texts) == (Owner.HUMAN, ())


async def test_a_reply_answers_through_what_its_turn_read(talk: Talk) -> None:
    await talk.say()
    fence = await talk.fence(last_round=True)
    await talk.say("and another thing")
    assert await talk.publish(fence) is Effect.DONE
    row = await talk.row()
    assert (row.answered_seq, row.texts) == (1, ("and another thing",))
    assert (await talk.log(EventKind.BOT_REPLY))[0].body["answers_through"] == 1


async def test_a_newer_message_drops_the_reply_until_the_last_round(talk: Talk) -> None:
    await talk.say()
    fence = await talk.fence()
    await talk.say()
    assert await talk.publish(fence) is Effect.NEWER_MESSAGE
    assert await talk.log(EventKind.BOT_REPLY) == []
    assert await talk.publish(fence.model_copy(update={"last_round": True})) is Effect.DONE


async def test_a_reply_is_refused_after_every_change_of_owner(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    taken = await talk.take_over(ann)
    assert await talk.publish(fence) is Effect.FENCED
    await talk.release(ann, taken.owner_epoch)
    assert await talk.publish(fence) is Effect.FENCED
    assert await talk.publish() is Effect.DONE


async def test_what_is_answered_is_not_answered_again(talk: Talk) -> None:
    await talk.say()
    one, two = await talk.fence(), await talk.fence()
    effects = await asyncio.gather(talk.publish(one), talk.publish(two))
    assert sorted(effects) == [Effect.DONE, Effect.OVERTAKEN]
    assert len(await talk.log(EventKind.BOT_REPLY)) == 1


async def test_where_nothing_is_unanswered_there_is_nothing_to_reply_to(talk: Talk) -> None:
    assert await talk.publish() is Effect.OVERTAKEN
    await talk.say()
    await talk.publish()
    assert await talk.publish() is Effect.OVERTAKEN


async def test_a_step_run_again_finds_its_own_reply(talk: Talk, ann: Staff) -> None:
    await talk.say()
    fence = await talk.fence()
    assert await asyncio.gather(*(talk.publish(fence) for _ in range(5))) == [Effect.DONE] * 5
    await talk.take_over(ann)
    assert await talk.publish(fence) is Effect.DONE  # it did happen, before the takeover
    assert len(await talk.log(EventKind.BOT_REPLY)) == 1


async def test_the_first_words_of_the_bot_say_that_it_is_automated_and_no_others_do(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    await talk.proposed()
    await talk.say()
    await talk.publish()
    texts = [e.body.get("text") or e.body["summary"] for e in await talk.log() if e.actor == "bot:interlock"]
    assert [("[automated in en]" in text) for text in texts] == [True, False, False]
    assert all(e.body["automated"] for e in await talk.log() if e.actor == "bot:interlock")


async def test_a_sentence_on_an_action_is_as_new_as_its_row(talk: Talk) -> None:
    operation_id = await talk.claimed()
    await talk.say("Where is my refund?")
    fence = await talk.fence()
    await talk.settle(operation_id)
    assert await talk.publish(fence, status_of(operation_id)) is Effect.DONE
    (reply,) = await talk.log(EventKind.BOT_REPLY)
    assert reply.body["text"] == "[refund is confirmed]"
    assert reply.body["citations"] == [operation_id]


async def test_consumed_follows_the_reply_unless_something_newer_waits(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    assert await talk.all("SELECT version - consumed_seq FROM conversations WHERE id = :id") == [(0,)]
    await talk.say()
    fence = await talk.fence(last_round=True)
    await talk.say()
    await talk.publish(fence)
    assert await talk.all("SELECT consumed_seq FROM conversations WHERE id = :id") == [(2,)]


@pytest.mark.parametrize(("marked", "stands"), [(2, 2), (1, 2), (99, 3)])
async def test_consumed_never_goes_back_and_never_beyond_the_log(marked: int, stands: int, talk: Talk) -> None:
    for _ in range(3):
        await talk.say()
    await mark_consumed(talk.db, talk.tenant, talk.id, 2)
    await mark_consumed(talk.db, talk.tenant, talk.id, marked)
    assert await talk.all("SELECT consumed_seq FROM conversations WHERE id = :id") == [(stands,)]


async def test_waiting_is_told_once_a_step_and_answers_nothing(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.say("No, the other one!")
    fence = await talk.fence()
    for _ in range(2):
        assert await tell_waiting(talk.db, fence, operation_id, "en", talk.words) is Effect.DONE
    (notice,) = await talk.log(EventKind.NOTICE)
    assert "[refund is unknown]" in notice.body["text"]
    assert (await talk.row()).texts == ("No, the other one!",)
    await talk.take_over(ann)
    late = fence.model_copy(update={"step_id": "late"})
    assert await tell_waiting(talk.db, late, operation_id, "en", talk.words) is Effect.FENCED


async def test_evidence_is_kept_as_it_was_read(talk: Talk) -> None:
    found = await talk.read()
    changed = found.model_copy(update={"account": order(version=2)})
    for again in (found, changed):
        async with talk.db.transaction(talk.tenant) as tx:
            assert await load_evidence(tx, again.evidence_id) == found
    facts = await drafting_facts(talk.db, talk.tenant, talk.id, found.evidence_id, with_articles=True)
    assert (facts.evidence, facts.articles, facts.actions) == (found, (), ())
    with pytest.raises(NotFound):
        await drafting_facts(talk.db, talk.tenant, talk.id, uuid4().hex, with_articles=False)


async def test_a_proposal_is_judged_on_the_refunds_that_were_or_may_have_been_made(talk: Talk) -> None:
    await talk.settle(await talk.claimed("A-1"))
    await talk.unknown("A-2")
    await talk.proposed(order_id="A-3")
    found = await talk.read()
    wish = Wish(kind=ActionKind.REFUND, resource="order:A-1", amount_minor=SMALL, currency="EUR")
    facts = await proposing_facts(talk.db, talk.tenant, talk.id, found.evidence_id, wish, now())
    around = facts.circumstances
    assert (around.refunds_30d_count, around.refunds_30d_minor, around.tenant_refunds_24h_minor) == (
        2,
        2 * SMALL,
        2 * SMALL,
    )
    assert (around.customer_id, around.customer_status, around.policy_digest) == (talk.customer.id, "active", BUNDLE)
    assert (around.actions_in_conversation, around.open_money_actions) == (3, 0)
    assert facts.found == found


async def test_another_tenants_conversation_cannot_be_read(talk: Talk, make_tenant: MakeTenant) -> None:
    with pytest.raises(NotFound):
        await read_turn(talk.db, make_tenant(), talk.id)


async def test_how_a_turn_stands_is_what_publishing_would_say_and_nobody_is_kept_waiting(
    talk: Talk, ann: Staff
) -> None:
    await talk.say()
    fence = await talk.fence()
    async with talk.db.transaction(talk.tenant) as tx:
        await lock_conversation(tx, talk.id)
        assert await standing_of(talk.db, fence) is None
    await talk.say()
    assert await standing_of(talk.db, fence) is await talk.publish(fence) is Effect.NEWER_MESSAGE
    last = fence.model_copy(update={"last_round": True})
    assert await standing_of(talk.db, last) is None
    assert await talk.publish(last) is Effect.DONE
    assert await standing_of(talk.db, last) is Effect.DONE
    again = last.model_copy(update={"step_id": uuid4().hex})
    assert await standing_of(talk.db, again) is await talk.publish(again) is Effect.OVERTAKEN
    await talk.take_over(ann)
    assert await standing_of(talk.db, again) is Effect.FENCED
    with pytest.raises(NotFound):
        await standing_of(talk.db, fence.model_copy(update={"conversation_id": "conv-ghost"}))
