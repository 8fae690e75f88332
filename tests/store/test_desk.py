"""The desk's document counts by version, a claim is held by one, and a handoff opens judged, with the hours told."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from domain.conversation import EventKind
from domain.desk import DeskSettings, Urgency
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import HandoffClaimed, NotFound, Refusal, VersionConflict
from domain.understanding import RiskMark
from store import ownership
from store.desk import colleagues, read_desk, set_desk, set_skills
from store.handoff_claims import claim, give_back
from store.queue import look
from store.queue_details import details, tagged
from store.waiting_place import standing_place
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store.terms import now
from tests.store.world import Talk

Staff = VerifiedPrincipal
CLOSED = DeskSettings(timezone="Europe/Berlin", hours={})
MONDAYS = DeskSettings.model_validate({"timezone": "Europe/Berlin", "hours": {"mon": [["09:00", "17:00"]]}})
SUNDAY = datetime(2026, 12, 6, 12, tzinfo=UTC)


async def handed(talk: Talk) -> str:
    change = await talk.ask_for_person()
    assert change.handoff_id is not None
    return change.handoff_id


async def test_a_document_counts_in_the_place_of_the_version_that_was_seen(talk: Talk, ann: Staff) -> None:
    assert (await read_desk(talk.db, talk.tenant)).version == 0
    assert await set_desk(talk.db, talk.tenant, CLOSED, 0, ann.key) == 1
    with pytest.raises(VersionConflict) as refused:
        await set_desk(talk.db, talk.tenant, MONDAYS, 0, ann.key)
    assert refused.value.fields == {"current_version": 1}
    stands = await read_desk(talk.db, talk.tenant)
    assert (stands.version, stands.document) == (1, CLOSED)


async def test_of_many_who_set_it_at_once_one_succeeds(talk: Talk, ann: Staff) -> None:
    tries = [set_desk(talk.db, talk.tenant, MONDAYS, 0, ann.key) for _ in range(6)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert results.count(1) == 1
    assert sum(isinstance(r, VersionConflict) for r in results) == 5


async def test_a_document_that_counted_stays_on_record(talk: Talk, ann: Staff) -> None:
    await set_desk(talk.db, talk.tenant, CLOSED, 0, ann.key)
    for change in ("UPDATE desks SET document = '{}'", "DELETE FROM desks"):
        with pytest.raises(Exception, match="permission denied"):
            await talk.all(change)


async def test_skills_are_of_who_works_here(talk: Talk, ann: Staff, ben: Staff) -> None:
    await set_skills(talk.db, talk.tenant, "ann", ("billing",), ("de", "en"), "staff:mia")
    found = {c.id: (c.skills, c.languages) for c in await colleagues(talk.db, talk.tenant)}
    assert found == {"ann": (("billing",), ("de", "en")), "ben": ((), ())}
    actors = await talk.all("SELECT actor FROM audit WHERE kind = 'staff' ORDER BY n DESC LIMIT 1")
    assert actors == [("staff:mia",)]
    with pytest.raises(NotFound):
        await set_skills(talk.db, talk.tenant, "nobody", (), (), "staff:mia")


# ------------------------------------------------------------ a handoff is judged when it opens


async def test_a_handoff_takes_urgency_from_what_was_understood_and_its_skill_from_the_document(
    talk: Talk, ann: Staff
) -> None:
    document = DeskSettings.model_validate({"skills": {"by_intent": {"refund_request": "billing"}}})
    await set_desk(talk.db, talk.tenant, document, 0, ann.key)
    await talk.say()
    understood = {"intent": "refund_request", "meant": "refund_request", "risks": [RiskMark.FRAUD.value]}
    behind = [(EventKind.UNDERSTANDING, {**understood, "language": "de"})]
    fence = await talk.fence()
    await ownership.hand_off(talk.db, fence, HandoffReason.OUT_OF_SCOPE, talk.words, now(), behind)
    (item,) = (await look(talk.db, talk.tenant, now())).waiting
    assert (item.urgency, item.urgency_why) == (Urgency.URGENT, "risk:fraud")
    assert (item.skill, item.goal, item.language) == ("billing", "refund_request", "de")


async def test_out_of_hours_the_customer_is_told_when_people_are_back_in_the_same_transaction(
    talk: Talk, ann: Staff
) -> None:
    await set_desk(talk.db, talk.tenant, MONDAYS, 0, ann.key)
    await ownership.request_handoff(talk.db, talk.customer, talk.id, "r", talk.words, SUNDAY)
    notices = await talk.log(EventKind.NOTICE)
    assert [n.body["notice"] for n in notices] == ["handed_to_person", "out_of_hours"]
    assert notices[1].body["opens_at"] == "2026-12-07T08:00:00+00:00"
    assert "[back 2026-12-07 08:00 of Europe/Berlin in en]" in notices[1].body["text"]


async def test_within_hours_nothing_is_said_of_them_and_never_open_names_no_day(talk: Talk, ann: Staff) -> None:
    await set_desk(talk.db, talk.tenant, MONDAYS, 0, ann.key)
    monday = SUNDAY + timedelta(days=1)
    await ownership.request_handoff(talk.db, talk.customer, talk.id, "r", talk.words, monday)
    assert [n.body["notice"] for n in await talk.log(EventKind.NOTICE)] == ["handed_to_person"]
    beside = await talk.beside()
    await set_desk(talk.db, talk.tenant, CLOSED, 1, ann.key)
    await ownership.request_handoff(talk.db, talk.customer, beside.id, "r", talk.words, monday)
    last = (await beside.log(EventKind.NOTICE))[-1].body
    assert (last["notice"], last["text"], "opens_at" in last) == ("out_of_hours", "[out_of_hours in en]", False)


# ------------------------------------------------------------ claims


async def test_a_claim_is_held_by_one_until_it_ends_by_itself(talk: Talk, ann: Staff, ben: Staff) -> None:
    ident = await handed(talk)
    taken = await claim(talk.db, ann, ident, None, now())
    assert timedelta(minutes=9) < taken.until - now() <= timedelta(minutes=10)
    with pytest.raises(HandoffClaimed) as refused:
        await claim(talk.db, ben, ident, 5, now())
    assert refused.value.fields["staff"] == "ann"
    assert (await claim(talk.db, ann, ident, 30, now())).until > taken.until
    (item,) = (await look(talk.db, talk.tenant, now())).waiting
    assert item.claim is not None
    assert (item.claim.staff, item.status) == ("ann", QueueStatus.WAITING)
    later = now() + timedelta(minutes=31)
    (item,) = (await look(talk.db, talk.tenant, later)).waiting
    assert item.claim is None
    assert (await claim(talk.db, ben, ident, 5, later)).staff == "ben"


async def test_of_many_who_claim_at_once_one_succeeds(talk: Talk, make_staff: MakeStaff) -> None:
    ident = await handed(talk)
    people = [make_staff(talk.tenant) for _ in range(6)]
    results = await asyncio.gather(*(claim(talk.db, p, ident, 5, now()) for p in people), return_exceptions=True)
    assert sum(isinstance(r, HandoffClaimed) for r in results) == 5


async def test_a_claim_keeps_nobody_from_taking_over_and_ends_with_that(talk: Talk, ann: Staff, ben: Staff) -> None:
    ident = await handed(talk)
    await claim(talk.db, ann, ident, 5, now())
    await talk.take_over(ben)
    assert await talk.all("SELECT * FROM handoff_claims") == []
    with pytest.raises(HandoffClaimed) as refused:
        await claim(talk.db, ann, ident, 5, now())
    assert refused.value.fields == {"staff": "ben", "until": None}


async def test_a_claim_is_given_back_by_its_holder_alone(talk: Talk, ann: Staff, ben: Staff) -> None:
    ident = await handed(talk)
    await claim(talk.db, ann, ident, 5, now())
    with pytest.raises(HandoffClaimed):
        await give_back(talk.db, ben, ident, now())
    await give_back(talk.db, ann, ident, now())
    await give_back(talk.db, ann, ident, now())
    assert (await claim(talk.db, ben, ident, 5, now())).staff == "ben"


async def test_what_is_done_or_of_another_tenant_is_not_claimed(
    talk: Talk, ann: Staff, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    ident = await handed(talk)
    with pytest.raises(NotFound):
        await claim(talk.db, make_staff(make_tenant()), ident, 5, now())
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    with pytest.raises(Refusal, match="done"):
        await claim(talk.db, ann, ident, 5, now())


# ------------------------------------------------------------ what a waiting customer is told


async def test_the_first_reply_and_the_first_taking_are_noted_once(talk: Talk, ann: Staff, ben: Staff) -> None:
    await handed(talk)
    await talk.take_over(ann)
    await talk.reply(ann)
    (first,) = await talk.all("SELECT claimed_at, first_reply_at FROM handoffs")
    await talk.take_over(ben)
    await talk.reply(ben)
    assert await talk.all("SELECT claimed_at, first_reply_at FROM handoffs") == [first]
    await talk.say("And now?")
    (item,) = (await look(talk.db, talk.tenant, now())).waiting
    assert item.first_reply_at == first[1]
    assert item.unanswered_at == (await talk.log(EventKind.CUSTOMER_MESSAGE))[-1].at


async def test_a_customer_is_behind_who_is_more_urgent_or_came_earlier(talk: Talk, ann: Staff) -> None:
    since = now() - timedelta(hours=4)
    place = await standing_place(talk.db, talk.customer, talk.id, since)
    assert (place.status, place.ahead) == (None, None)
    await handed(talk)
    later, risky = await talk.beside(), await talk.beside()
    await handed(later)
    await risky.say()
    await ownership.hand_off(talk.db, await risky.fence(), HandoffReason.HIGH_RISK, talk.words, now())
    places = [(await standing_place(talk.db, talk.customer, c.id, since)).ahead for c in (risky, talk, later)]
    assert places == [0, 1, 2]
    await talk.take_over(ann)
    taken = await standing_place(talk.db, talk.customer, talk.id, since)
    assert (taken.status, taken.ahead) == (QueueStatus.CLAIMED, None)
    behind = await standing_place(talk.db, talk.customer, later.id, since)
    assert (behind.ahead, len(behind.waits_s)) == (1, 1)


async def test_a_place_in_another_customers_conversation_does_not_exist(
    talk: Talk, make_customer: MakeCustomer
) -> None:
    await handed(talk)
    with pytest.raises(NotFound):
        await standing_place(talk.db, make_customer(talk.tenant, "other"), talk.id, now())


async def test_staff_who_take_over_unasked_are_no_measure_of_the_queue(talk: Talk, ann: Staff) -> None:
    await talk.take_over(ann)
    found = await look(talk.db, talk.tenant, now(), now() - timedelta(hours=1))
    assert (found.waits_s, found.done_last_hour) == ([], 0)


async def test_a_page_shows_what_is_in_flight_and_who_spoke_last(
    talk: Talk, ann: Staff, owner: psycopg.Connection[tuple[object, ...]]
) -> None:
    operation_id = await talk.unknown()
    await talk.take_over(ann)
    owner.execute(
        "INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by)"
        " VALUES (%s, %s, 'vip', 'staff', 'staff:ann')",
        (talk.tenant, talk.id),
    )
    found = (await details(talk.db, talk.tenant, [talk.id]))[talk.id]
    assert [(f.operation_id, f.state.value) for f in found.in_flight] == [(operation_id, "unknown")]
    assert "vip" in found.tags
    assert found.last_message_at == (await talk.log(EventKind.CUSTOMER_MESSAGE))[-1].at
    assert await tagged(talk.db, talk.tenant, "vip") == frozenset({talk.id})
