"""Laws of what the dashboard counts: each figure is of what happened, once, and of one tenant alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from domain.conversation import EventKind
from domain.measures import Figure, Measure, Observed, measure
from domain.principal import PrincipalKind, VerifiedPrincipal
from store.database import Database
from store.numbers import Asked, By, observations, queue_ages
from tests.conftest import MakeStaff
from tests.postgres import Postgres
from tests.store.world import Talk

WINDOW = timedelta(hours=72)


def asked(by: By = By.INTENT, ahead: timedelta = timedelta(0)) -> Asked:
    now = datetime.now(UTC)
    return Asked(
        from_at=now - timedelta(days=2), to_at=now + timedelta(days=1), by=by, recontact=WINDOW, now=now + ahead
    )


def of(observed: list[Observed], figure: Figure, group: str | None = None) -> Measure:
    return measure(figure, [o for o in observed if o.figure is figure and group in (None, o.group)])


@pytest.fixture
def agent(talk: Talk, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(talk.tenant)


async def test_a_conversation_counts_once_whatever_it_is_told_apart_by(
    db: Database, talk: Talk, agent: VerifiedPrincipal
) -> None:
    await talk.say("Where is my order?")
    for by in By:
        observed = await observations(db, agent.tenant_id, asked(by))
        assert of(observed, Figure.CONVERSATIONS).n == 1
        assert of(observed, Figure.ESCALATIONS).hits == 0


async def test_what_went_to_a_person_is_escalated_and_waits(db: Database, talk: Talk, agent: VerifiedPrincipal) -> None:
    await talk.say("A person, please.")
    await talk.ask_for_person()
    observed = await observations(db, agent.tenant_id, asked())
    assert of(observed, Figure.ESCALATIONS).hits == 1
    assert of(observed, Figure.RESOLVED).hits == 0
    assert len(await queue_ages(db, agent.tenant_id, datetime.now(UTC) + timedelta(minutes=5))) == 1


async def test_nothing_of_another_tenant_is_counted(
    db: Database, talk: Talk, make_tenant: Any, make_staff: Any
) -> None:
    await talk.say("Hello")
    await talk.ask_for_person()
    elsewhere = make_staff(make_tenant())
    assert await observations(db, elsewhere.tenant_id, asked()) == []
    assert await queue_ages(db, elsewhere.tenant_id, datetime.now(UTC)) == []


async def test_a_tag_that_somebody_took_off_was_wrong(
    db: Database, talk: Talk, agent: VerifiedPrincipal, owner: psycopg.Connection[Any]
) -> None:
    await talk.say("Hello")
    for tag, gone in (("order_status", False), ("refund_request", True)):
        owner.execute(
            "INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by, removed_by, removed_at)"
            " VALUES (%s, %s, %s, 'bot', 'bot:interlock', %s, %s)",
            (talk.tenant, talk.id, tag, agent.key if gone else None, datetime.now(UTC) if gone else None),
        )
    observed = await observations(db, agent.tenant_id, asked())
    # The tag that stands is not judged before somebody has dealt with the conversation.
    assert (of(observed, Figure.TAG_PRECISION).hits, of(observed, Figure.TAG_PRECISION).n) == (0, 1)
    assert of(observed, Figure.CONVERSATIONS, "order_status").n == 1


async def test_who_comes_back_was_not_helped_for_good(
    db: Database, talk: Talk, agent: VerifiedPrincipal, words: Any
) -> None:
    await talk.say("Hello")
    await talk.publish()
    assert await talk.close(datetime.now(UTC) + timedelta(hours=1))
    early = await observations(db, agent.tenant_id, asked())
    assert of(early, Figure.RESOLVED).hits == 1
    assert of(early, Figure.VERIFIED_RESOLUTION).n == 0  # the window is open still
    later = await observations(db, agent.tenant_id, asked(ahead=timedelta(hours=80)))
    assert of(later, Figure.VERIFIED_RESOLUTION).hits == 1
    again = await Talk(db, words, talk.customer).begin()
    await again.say("Me again")
    back = await observations(db, agent.tenant_id, asked(ahead=timedelta(hours=80)))
    assert (of(back, Figure.RECONTACT).hits, of(back, Figure.VERIFIED_RESOLUTION).hits) == (1, 0)


async def test_who_comes_back_before_the_first_conversation_has_closed_itself_comes_back(
    db: Database, talk: Talk, agent: VerifiedPrincipal, words: Any
) -> None:
    await talk.say("Hello")
    await talk.publish()
    again = await Talk(db, words, talk.customer).begin()
    await again.say("Me again")
    assert await talk.close(datetime.now(UTC) + timedelta(hours=1))
    back = await observations(db, agent.tenant_id, asked(ahead=timedelta(hours=80)))
    assert (of(back, Figure.RECONTACT).hits, of(back, Figure.RECONTACT).n) == (1, 1)


async def test_of_a_visitor_nobody_says_that_they_did_not_come_back(
    db: Database, tenant: str, words: Any, make_staff: MakeStaff
) -> None:
    visitor = VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.ANONYMOUS, id="visitor-1")
    talk = await Talk(db, words, visitor).begin()
    await talk.say("Hello")
    await talk.publish()
    seen = await observations(db, tenant, asked(ahead=timedelta(hours=80)))
    assert of(seen, Figure.RESOLVED).hits == 1
    assert (of(seen, Figure.VERIFIED_RESOLUTION).n, of(seen, Figure.RECONTACT).n) == (0, 0)


async def test_a_conversation_began_on_its_day_of_utc_wherever_the_database_stands(
    postgres: Postgres, talk: Talk, owner: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = datetime.now(UTC).replace(hour=0, minute=30)
    owner.execute("UPDATE conversations SET created_at = %s WHERE id = %s", (began, talk.id))
    monkeypatch.setenv("PGTZ", "America/New_York")
    elsewhere = Database(postgres.app_url)
    try:
        (one,) = {o.day for o in await observations(elsewhere, talk.tenant, asked())}
    finally:
        await elsewhere.close()
    assert one == began.date()


async def test_a_reply_is_timed_from_the_last_message_before_it(
    db: Database, talk: Talk, agent: VerifiedPrincipal, owner: psycopg.Connection[Any]
) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    said = [(EventKind.CUSTOMER_MESSAGE, 0), (EventKind.CUSTOMER_MESSAGE, 10), (EventKind.BOT_REPLY, 12)]
    said += [(EventKind.BOT_REPLY, 90)]  # it answers nothing that was not answered
    for kind, seconds in said:
        owner.execute(
            "INSERT INTO events (tenant_id, conversation_id, kind, actor, at, body)"
            " VALUES (%s, %s, %s, 'x:y', %s, '{}')",
            (talk.tenant, talk.id, kind.value, begun + timedelta(seconds=seconds)),
        )
    observed = await observations(db, agent.tenant_id, asked())
    times = [v for o in observed if o.figure is Figure.REPLY_TIME for v in o.values]
    assert times == [2.0]
