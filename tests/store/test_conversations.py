"""A conversation takes each message once, in order, and exists for nobody whose it is not."""

import asyncio
from uuid import uuid4

import pytest

from domain.action import ActionState
from domain.conversation import EventKind, Owner, Phase
from domain.principal import PrincipalKind, VerifiedPrincipal
from domain.refusal import MessageConflict, NotFound, QueueFull, VersionConflict
from store.conversations import Search, open_conversation, search_conversations, view_conversation
from store.events import events_after
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant, Say
from tests.store.world import Talk

HUGE = 2**40


async def test_the_same_id_opens_one_conversation(talk: Talk) -> None:
    await talk.say()
    again = await open_conversation(talk.db, talk.customer, talk.id, "chat")
    assert (again.id, again.version, again.phase) == (talk.id, 1, Phase.UNDERSTANDING)


async def test_an_id_that_is_somebody_elses_opens_nothing(
    talk: Talk, make_customer: MakeCustomer, make_tenant: MakeTenant
) -> None:
    for stranger in (make_customer(talk.tenant), make_customer(make_tenant())):
        with pytest.raises(NotFound):
            await open_conversation(talk.db, stranger, talk.id, "chat")


async def test_a_message_is_in_the_log_once_however_often_it_is_sent(talk: Talk, say: Say) -> None:
    ident = uuid4().hex
    answers = await asyncio.gather(*(say(talk.customer, talk.id, "Hi", ident) for _ in range(8)))
    assert {a.seq for a in answers} == {1}
    assert [a.duplicate for a in answers].count(False) == 1
    assert [a.wake is None for a in answers].count(False) == 1
    assert len(await talk.log()) == 1


async def test_the_same_id_with_other_words_is_a_conflict(talk: Talk, say: Say) -> None:
    await say(talk.customer, talk.id, "Hi", "m1")
    with pytest.raises(MessageConflict):
        await say(talk.customer, talk.id, "Bye", "m1")
    assert len(await talk.log()) == 1


async def test_of_many_tabs_at_one_version_exactly_one_writes(talk: Talk, say: Say) -> None:
    async def tab() -> str:
        try:
            await say(talk.customer, talk.id, expected_version=0)
        except VersionConflict as conflict:
            return str(conflict.fields["current_version"])
        return "written"

    answers = await asyncio.gather(*(tab() for _ in range(6)))
    assert sorted(answers) == ["1"] * 5 + ["written"]


@pytest.mark.parametrize("version", [1, -1, HUGE])
async def test_a_version_that_is_not_the_current_one_is_refused(version: int, talk: Talk, say: Say) -> None:
    with pytest.raises(VersionConflict):
        await say(talk.customer, talk.id, expected_version=version)


async def test_a_repeat_is_answered_even_at_a_stale_version(talk: Talk, say: Say) -> None:
    await say(talk.customer, talk.id, "Hi", "m1", expected_version=0)
    again = await say(talk.customer, talk.id, "Hi", "m1", expected_version=0)
    assert (again.seq, again.duplicate) == (1, True)


async def test_the_queue_is_only_so_deep_and_refuses_without_storing(talk: Talk, say: Say) -> None:
    for _ in range(3):
        await say(talk.customer, talk.id, unanswered_max=3)
    with pytest.raises(QueueFull):
        await say(talk.customer, talk.id, unanswered_max=3)
    assert (await talk.row()).version == 3
    await talk.publish()
    assert (await say(talk.customer, talk.id, unanswered_max=3)).seq == 5


async def test_events_that_are_no_messages_do_not_fill_the_queue(talk: Talk, say: Say, make_staff: MakeStaff) -> None:
    staff = make_staff(talk.tenant)
    await say(talk.customer, talk.id, unanswered_max=2)
    await talk.take_over(staff)
    assert (await say(talk.customer, talk.id, unanswered_max=2)).duplicate is False


async def test_a_message_reopens_a_closed_conversation_in_its_own_step(talk: Talk) -> None:
    await talk.say()
    await talk.publish()
    assert await talk.close()
    closed = await talk.row()
    accepted = await talk.say()
    row = await talk.row()
    assert (closed.owner, row.owner, row.owner_epoch) == (Owner.CLOSED, Owner.BOT, closed.owner_epoch + 1)
    assert [e.kind for e in (await talk.log())[-2:]] == [EventKind.OWNER_CHANGED, EventKind.CUSTOMER_MESSAGE]
    assert accepted.wake is not None
    assert accepted.wake.owner_epoch == row.owner_epoch
    assert len(row.texts) == 1


async def test_many_messages_reopen_a_closed_conversation_once(talk: Talk) -> None:
    assert await talk.close()
    await asyncio.gather(*(talk.say() for _ in range(5)))
    assert len(await talk.log(EventKind.OWNER_CHANGED)) == 2  # closed, reopened


async def test_a_conversation_exists_for_its_customer_and_for_staff_alone(
    talk: Talk, make_customer: MakeCustomer
) -> None:
    namesake = VerifiedPrincipal(tenant_id=talk.tenant, kind=PrincipalKind.ANONYMOUS, id=talk.customer.id)
    for stranger in (make_customer(talk.tenant), namesake):
        for look in (view_conversation(talk.db, stranger, talk.id), events_after(talk.db, stranger, talk.id, 0)):
            with pytest.raises(NotFound):
                await look
        assert await search_conversations(talk.db, stranger, Search()) == []
    for friend in (talk.customer, talk.anybody):
        assert (await view_conversation(talk.db, friend, talk.id)).id == talk.id


async def test_the_view_shows_actions_and_the_open_handoff(talk: Talk) -> None:
    operation_id = await talk.proposed()
    change = await talk.ask_for_person()
    view = await view_conversation(talk.db, talk.customer, talk.id)
    assert [(a.operation_id, a.state) for a in view.actions] == [(operation_id, ActionState.REJECTED)]
    assert view.handoff is not None
    assert (view.handoff.id, view.handoff.queue_status) == (change.handoff_id, "waiting")
    assert view.phase is Phase.HUMAN_OWNED


async def test_events_come_in_pages_of_whole_numbers(talk: Talk) -> None:
    for _ in range(5):
        await talk.say()
    page = await events_after(talk.db, talk.customer, talk.id, 2, limit=2)
    assert ([e.seq for e in page.events], page.version) == ([3, 4], 5)
    assert [e.seq for e in (await events_after(talk.db, talk.customer, talk.id, -1)).events] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("after", [1, 2**31 - 1, HUGE, 2**80])
async def test_there_is_nothing_after_the_end_however_far(after: int, talk: Talk) -> None:
    await talk.say()
    assert (await events_after(talk.db, talk.customer, talk.id, after)).events == ()


async def test_a_search_pages_through_everything_once(talk: Talk) -> None:
    mine = {talk.id} | {(await talk.beside()).id for _ in range(4)}
    found: list[str] = []
    search = Search(limit=2)
    while page := await search_conversations(talk.db, talk.customer, search):
        found += [c.id for c in page]
        search = Search(limit=2, before_at=page[-1].updated_at, before_id=page[-1].id)
    assert sorted(found) == sorted(mine)


async def test_a_search_finds_by_owner_phase_and_words(talk: Talk) -> None:
    await talk.say("The BLUE kettle leaks")
    quiet = await talk.beside()
    for search, ids in (
        (Search(text="blue KETTLE"), [talk.id]),
        (Search(text="100%_"), []),
        (Search(owner=Owner.HUMAN), []),
        (Search(phase=Phase.IDLE, principal_id=talk.customer.id), [quiet.id]),
    ):
        assert {c.id for c in await search_conversations(talk.db, talk.anybody, search)} == set(ids)
