"""A person's reply needs the conversation to be a person's, is in the log once, and deals with what its author saw."""

import asyncio
from uuid import uuid4

import pytest

from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import MessageConflict, NotFound, NotOwned, VersionConflict
from store.conversations import Accepted
from store.replies import staff_reply
from tests.conftest import MakeStaff, MakeTenant
from tests.store.world import Talk

Staff = VerifiedPrincipal


async def post(talk: Talk, who: Staff, ident: str, text: str = "Hello") -> Accepted:
    return await staff_reply(talk.db, who, talk.id, ident, text, None)


async def test_a_reply_needs_a_person_to_own_the_conversation(talk: Talk, ann: Staff) -> None:
    with pytest.raises(NotOwned):
        await talk.reply(ann)
    await talk.ask_for_person()
    assert (await talk.reply(ann)).duplicate is False


async def test_a_reply_is_in_the_log_once_however_often_it_is_sent(talk: Talk, ann: Staff) -> None:
    await talk.take_over(ann)
    ident = uuid4().hex
    answers = await asyncio.gather(*(post(talk, ann, ident) for _ in range(6)))
    assert len({a.seq for a in answers}) == 1
    assert [a.duplicate for a in answers].count(False) == 1
    assert len(await talk.log(EventKind.STAFF_REPLY)) == 1


async def test_an_id_used_for_other_words_or_by_somebody_else_is_a_conflict(talk: Talk, ann: Staff, ben: Staff) -> None:
    await talk.take_over(ann)
    await post(talk, ann, "r1")
    with pytest.raises(MessageConflict):
        await post(talk, ann, "r1", "Good-bye")
    with pytest.raises(MessageConflict):
        await post(talk, ben, "r1")


async def test_customer_and_staff_may_use_the_same_id(talk: Talk, ann: Staff) -> None:
    await talk.say()
    await talk.take_over(ann)
    (message,) = await talk.all("SELECT client_message_id FROM events WHERE client_message_id IS NOT NULL")
    assert (await post(talk, ann, message[0])).duplicate is False


async def test_a_reply_deals_with_what_its_author_had_seen(talk: Talk, ann: Staff) -> None:
    seen = (await talk.say("one")).version
    await talk.say("two")
    taken = await talk.take_over(ann)
    await talk.reply(ann, seen=seen)
    await talk.release(ann, taken.owner_epoch)
    assert (await talk.row()).texts == ("two",)


@pytest.mark.parametrize(("seen", "left"), [(-5, 1), (0, 1), (None, 0)])
async def test_a_reply_never_takes_an_answer_back(seen: int | None, left: int, talk: Talk, ann: Staff) -> None:
    await talk.say("answered")
    await talk.publish()
    await talk.say("open")
    taken = await talk.take_over(ann)
    await talk.reply(ann, seen=seen)
    await talk.release(ann, taken.owner_epoch)
    assert len((await talk.row()).texts) == left


@pytest.mark.parametrize("seen", [99, 2**70])
async def test_nobody_has_seen_the_future(seen: int, talk: Talk, ann: Staff) -> None:
    await talk.take_over(ann)
    with pytest.raises(VersionConflict):
        await talk.reply(ann, seen=seen)


async def test_staff_of_another_tenant_find_nothing_to_reply_to(
    talk: Talk, ann: Staff, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    await talk.take_over(ann)
    with pytest.raises(NotFound):
        await talk.reply(make_staff(make_tenant()))
