"""Laws of what people do beside the log: it moves nothing, and what is measured from it is not made up afterwards."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal, RequestConflict
from domain.teamwork import CUSTOMER_TTL, PRESENCE_TTL, PresenceState, TagSource
from domain.understanding import Intent
from store import assignments, notes, presence, ratings, saved_views, tags
from store.listening import Heard, listening
from store.log import append, append_behind, lock_conversation
from store.teamwork import glance
from tests.conftest import MakeStaff, MakeTenant
from tests.store.world import Talk

Owner = psycopg.Connection[Any]
HOUR = timedelta(hours=1)


async def understood(talk: Talk, intent: Intent, **more: Any) -> None:
    """A turn that has understood this, as the log has it."""
    async with talk.db.transaction(talk.tenant) as tx:
        row = await lock_conversation(tx, talk.id)
        await append(tx, row, EventKind.NOTICE, "bot:interlock", {"text": "x"})
        body = {"intent": intent.value, "language": "en", **more}
        await append_behind(tx, row, [(EventKind.UNDERSTANDING, body)])


async def tagged(talk: Talk) -> set[str]:
    async with talk.db.transaction(talk.tenant) as tx:
        return {tag.tag for tag in await tags.tags_of(tx, talk.id)}


# ------------------------------------------------------------ tags
@pytest.mark.parametrize("intent", Intent)
async def test_the_bot_tags_with_needs_and_with_nothing_else(intent: Intent, talk: Talk) -> None:
    await understood(talk, intent)
    assert await tagged(talk) == ({intent.value} if intent.is_need else set())


async def test_what_was_meant_counts_before_what_was_said_and_every_need_is_tagged_once(talk: Talk) -> None:
    for _ in range(2):
        await understood(
            talk, Intent.CORRECTION, meant="refund_request", intents=["correction", "order_status", "order_status"]
        )
    assert await tagged(talk) == {"refund_request", "order_status"}


async def test_what_a_person_takes_off_stays_off_and_on_record(
    talk: Talk, ann: VerifiedPrincipal, owner: Owner
) -> None:
    await understood(talk, Intent.REFUND_REQUEST)
    assert await tags.remove_tag(talk.db, ann, talk.id, "refund_request", talk.clock()) == ()
    await understood(talk, Intent.REFUND_REQUEST)
    assert await tagged(talk) == set()
    (again,) = await tags.add_tag(talk.db, ann, talk.id, "refund_request")
    assert (again.source, again.added_by) == (TagSource.STAFF, "staff:ann")
    query = "SELECT source, removed_by FROM tags WHERE conversation_id = %s ORDER BY id"
    assert owner.execute(query, (talk.id,)).fetchall() == [("bot", "staff:ann"), ("staff", None)]


async def test_a_tag_that_was_taken_off_is_not_touched_again(talk: Talk, ann: VerifiedPrincipal) -> None:
    await tags.add_tag(talk.db, ann, talk.id, "vip")
    await tags.remove_tag(talk.db, ann, talk.id, "vip", talk.clock())
    async with talk.db.transaction(talk.tenant) as tx:
        changed = await tx.execute(sa.text("UPDATE tags SET removed_by = 'staff:ben'"))
        assert changed.rowcount == 0
    with pytest.raises(DBAPIError):
        await talk.all("DELETE FROM tags RETURNING id")


async def test_turns_and_people_tag_at_once_without_a_deadlock_and_each_tag_once(
    talk: Talk, ann: VerifiedPrincipal
) -> None:
    async def by_hand() -> None:
        await tags.add_tag(talk.db, ann, talk.id, "refund_request")

    await asyncio.gather(*(understood(talk, Intent.REFUND_REQUEST) for _ in range(8)), *(by_hand() for _ in range(8)))
    assert await tagged(talk) == {"refund_request"}
    assert [c.conversations for c in await tags.tags_in_use(talk.db, talk.tenant)] == [1]


async def test_a_conversation_has_only_so_many_tags(talk: Talk, ann: VerifiedPrincipal) -> None:
    for n in range(tags.TAGS_PER_CONVERSATION_MAX):
        await tags.add_tag(talk.db, ann, talk.id, f"t{n}")
    with pytest.raises(Refusal, match="at most"):
        await tags.add_tag(talk.db, ann, talk.id, "one-more")


# ------------------------------------------------------------ notes
async def test_a_note_is_kept_once_and_its_id_means_one_note(
    talk: Talk, ann: VerifiedPrincipal, ben: VerifiedPrincipal
) -> None:
    first = await notes.add_note(talk.db, ann, talk.id, "n", "Called twice.")
    assert await notes.add_note(talk.db, ann, talk.id, "n", "Called twice.") == first
    for who, text in ((ann, "Other words."), (ben, "Called twice.")):
        with pytest.raises(RequestConflict):
            await notes.add_note(talk.db, who, talk.id, "n", text)
    assert await notes.notes_of(talk.db, ben, talk.id) == (first,)


async def test_a_note_is_taken_back_by_its_author_while_it_is_fresh(
    talk: Talk, ann: VerifiedPrincipal, ben: VerifiedPrincipal, owner: Owner
) -> None:
    for ident in ("fresh", "old"):
        await notes.add_note(talk.db, ann, talk.id, ident, "x")
    owner.execute("UPDATE notes SET at = now() - interval '11 minutes' WHERE note_id = 'old'")
    with pytest.raises(Forbidden):
        await notes.take_back(talk.db, ben, talk.id, "fresh", talk.clock())
    with pytest.raises(Refusal, match="stays"):
        await notes.take_back(talk.db, ann, talk.id, "old", talk.clock())
    await notes.take_back(talk.db, ann, talk.id, "fresh", talk.clock())
    assert [n.note_id for n in await notes.notes_of(talk.db, ann, talk.id)] == ["old"]
    with pytest.raises(NotFound):
        await notes.take_back(talk.db, ann, talk.id, "fresh", talk.clock())


# ------------------------------------------------------------ assignment and sleep
async def test_a_conversation_is_assigned_to_who_works_here(
    talk: Talk,
    ann: VerifiedPrincipal,
    ben: VerifiedPrincipal,
    owner: Owner,
    make_tenant: MakeTenant,
    make_staff: MakeStaff,
) -> None:
    row = await talk.row()
    assert await assignments.assign(talk.db, ann, talk.id, "ben", talk.clock()) == "ben"
    make_staff(make_tenant(), staff_id="zoe")
    owner.execute("UPDATE staff SET revoked_at = now() WHERE tenant_id = %s AND id = 'ben'", (talk.tenant,))
    for nobody in ("zoe", "ben", ""):
        with pytest.raises(Refusal, match="Nobody"):
            await assignments.assign(talk.db, ann, talk.id, nobody, talk.clock())
    assert await assignments.assign(talk.db, ann, talk.id, None, talk.clock()) is None
    async with talk.db.transaction(talk.tenant) as tx:
        assert await assignments.assignee_of(tx, talk.id) is None
    assert await talk.row() == row  # whose it is among the staff is no change of owner


async def test_what_sleeps_wakes_by_its_time_or_by_the_customer(talk: Talk, ann: VerifiedPrincipal) -> None:
    await talk.say()

    async def asleep_at(at: datetime) -> datetime | None:
        async with talk.db.transaction(talk.tenant) as tx:
            return await assignments.snoozed_until(tx, talk.id, at)

    now = talk.clock()
    until = now + HOUR
    await assignments.snooze(talk.db, ann, talk.id, until, now)
    assert (await asleep_at(now), await asleep_at(until)) == (until, None)
    await talk.publish()
    assert await asleep_at(now) == until  # what the bot says wakes nothing
    await talk.say()
    assert await asleep_at(now) is None
    await assignments.snooze(talk.db, ann, talk.id, until, now)
    assert await asleep_at(now) == until
    await assignments.snooze(talk.db, ann, talk.id, None, now)
    assert await asleep_at(now) is None


# ------------------------------------------------------------ presence
async def test_presence_runs_out_by_itself_and_each_is_there_once(
    talk: Talk, ann: VerifiedPrincipal, ben: VerifiedPrincipal
) -> None:
    now = talk.clock()
    await presence.attend(talk.db, ann, talk.id, PresenceState.LOOKING, now)
    await presence.attend(talk.db, ann, talk.id, PresenceState.TYPING, now + PRESENCE_TTL / 2)
    there = await presence.attend(talk.db, ben, talk.id, PresenceState.LOOKING, now + PRESENCE_TTL)
    assert [(p.staff, p.state) for p in there.items] == [("ann", "typing"), ("ben", "looking")]
    later = await presence.present(talk.db, ann, talk.id, now + PRESENCE_TTL * 1.5)
    assert [p.staff for p in later.items] == ["ben"]
    assert (await presence.leave(talk.db, ben, talk.id, now + PRESENCE_TTL * 1.5)).items == ()


async def test_the_customer_is_here_while_it_is_said_and_is_no_member_of_staff(
    talk: Talk, ann: VerifiedPrincipal
) -> None:
    now = talk.clock()
    await presence.attend(talk.db, talk.customer, talk.id, PresenceState.LOOKING, now)
    for at, here in ((now, True), (now + CUSTOMER_TTL, False)):
        there = await presence.present(talk.db, ann, talk.id, at)
        assert (there.items, there.customer.here) == ((), here)


async def test_what_was_seen_stays_seen_and_nobody_sees_what_is_not_there(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    now, version = talk.clock(), (await talk.row()).version
    for seq, seen in ((1, 1), (10**6, version), (0, version)):
        assert await presence.see(talk.db, talk.customer, talk.id, seq, now) == seen
    with pytest.raises(DBAPIError):
        await talk.all("UPDATE seen SET seq = seq - 1 WHERE conversation_id = :id RETURNING seq")


# ------------------------------------------------------------ views
async def test_a_view_is_its_owners_unless_it_is_shared_and_only_they_delete_it(
    talk: Talk, ann: VerifiedPrincipal, ben: VerifiedPrincipal
) -> None:
    own = await saved_views.save_view(talk.db, ann, "Mine", {"language": "de"}, shared=False)
    shared = await saved_views.save_view(talk.db, ann, "All of us", {"snoozed": True}, shared=True)
    assert await saved_views.views(talk.db, ann) == (shared, own)
    (seen,) = await saved_views.views(talk.db, ben)
    assert (seen.id, seen.mine, seen.filters) == (shared.id, False, {"snoozed": True})
    with pytest.raises(NotFound):
        await saved_views.delete_view(talk.db, ben, own.id)
    with pytest.raises(Forbidden):
        await saved_views.delete_view(talk.db, ben, shared.id)
    await saved_views.delete_view(talk.db, ann, shared.id)
    assert await saved_views.views(talk.db, ben) == ()


# ------------------------------------------------------------ ratings
async def test_an_answer_is_rated_once_and_can_be_thought_over_for_an_hour(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    answer, now = (await talk.log(EventKind.BOT_REPLY))[0].seq, talk.clock()
    await ratings.rate_answer(talk.db, talk.customer, talk.id, answer, 2, "slow", now)
    again = await ratings.rate_answer(talk.db, talk.customer, talk.id, answer, 4, None, now + HOUR / 2)
    assert (again.score, again.comment, again.rated_at) == (4, None, now)
    with pytest.raises(Refusal, match="within an hour"):
        await ratings.rate_answer(talk.db, talk.customer, talk.id, answer, 1, None, now + HOUR)
    assert await ratings.ratings(talk.db, talk.customer, talk.id) == (again,)
    with pytest.raises(Refusal, match="is no answer"):
        await ratings.rate_answer(talk.db, talk.customer, talk.id, 1, 5, None, now)


async def test_the_hour_is_the_databases_too(talk: Talk, owner: Owner) -> None:
    await talk.say()
    await talk.publish()
    answer = (await talk.log(EventKind.BOT_REPLY))[0].seq
    await ratings.rate_answer(talk.db, talk.customer, talk.id, answer, 2, None, talk.clock())
    owner.execute("UPDATE answer_ratings SET rated_at = now() - interval '61 minutes'")
    assert await talk.all("UPDATE answer_ratings SET score = 5 WHERE conversation_id = :id RETURNING score") == []
    owner.execute("UPDATE answer_ratings SET rated_at = now() - interval '1 hour 5 seconds'")
    behind = talk.clock() - timedelta(seconds=20)  # to this clock it is still within the hour
    assert (await ratings.rate_answer(talk.db, talk.customer, talk.id, answer, 4, None, behind)).score == 4


async def test_a_handoff_is_rated_by_who_received_it(
    talk: Talk, ann: VerifiedPrincipal, ben: VerifiedPrincipal
) -> None:
    handed = await talk.ask_for_person()
    assert handed.handoff_id is not None
    with pytest.raises(Forbidden):
        await ratings.rate_handoff(talk.db, ann, handed.handoff_id, 4, True, None, talk.clock())
    await talk.take_over(ann)
    for score in (4, 3):
        await ratings.rate_handoff(talk.db, ann, handed.handoff_id, score, False, "not needed", talk.clock())
    await talk.take_over(ben)
    with pytest.raises(Refusal, match="before you"):
        await ratings.rate_handoff(talk.db, ben, handed.handoff_id, 1, True, None, talk.clock())
    async with talk.db.transaction(talk.tenant) as tx:
        rated = (await glance(tx, talk.id, talk.clock())).handoff_rating
    assert rated is not None
    assert (rated.rated_by, rated.score, rated.right_to_escalate) == ("ann", 3, False)


# ------------------------------------------------------------ all of it
async def test_a_change_beside_the_log_is_heard_with_its_topic_and_moves_nothing(
    talk: Talk, ann: VerifiedPrincipal
) -> None:
    before = await talk.row()
    now = talk.clock()
    async with listening(talk.db) as heard:
        await tags.add_tag(talk.db, ann, talk.id, "vip")
        await tags.add_tag(talk.db, ann, talk.id, "vip")  # changes nothing, and is not told
        await notes.add_note(talk.db, ann, talk.id, "n", "x")
        await assignments.assign(talk.db, ann, talk.id, "ann", now)
        await assignments.snooze(talk.db, ann, talk.id, now + HOUR, now)
        for _ in range(2):  # the second only goes on
            await presence.attend(talk.db, ann, talk.id, PresenceState.TYPING, now)
        async with asyncio.timeout(20):
            told = [await anext(heard) for _ in range(5)]
    topics = ("tags", "notes", "assignee", "snooze", "presence")
    assert told == [Heard(tenant_id=talk.tenant, conversation_id=talk.id, seq=0, topic=topic) for topic in topics]
    assert await talk.row() == before


async def test_nothing_is_beside_a_conversation_that_is_not_there(
    talk: Talk, ann: VerifiedPrincipal, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    stranger = make_staff(make_tenant())
    now = datetime.now(UTC)
    for who, where in ((stranger, talk.id), (ann, uuid4().hex)):
        for step in (
            lambda w, i: tags.add_tag(talk.db, w, i, "x"),
            lambda w, i: tags.remove_tag(talk.db, w, i, "x", now),
            lambda w, i: notes.add_note(talk.db, w, i, "n", "x"),
            lambda w, i: notes.notes_of(talk.db, w, i),
            lambda w, i: assignments.assign(talk.db, w, i, None, now),
            lambda w, i: assignments.snooze(talk.db, w, i, now, now),
            lambda w, i: presence.attend(talk.db, w, i, PresenceState.TYPING, now),
            lambda w, i: presence.see(talk.db, w, i, 1, now),
            lambda w, i: ratings.ratings(talk.db, w, i),
        ):
            with pytest.raises(NotFound):
                await step(who, where)
