"""What was committed is delivered: no wake-up goes to two relays at once, none is lost, none comes too often."""

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from domain.principal import VerifiedPrincipal
from store.database import Database
from store.outbox import (
    claim_due,
    forget_delivered,
    live_conversations,
    mark_delivered,
    open_actions,
    open_conversations,
    outbox_lag,
)
from tests.conftest import MakeTenant
from tests.store.terms import now
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
BACKOFF_MAX_S = 60


@pytest.fixture(autouse=True)
def nothing_else_waits(owner: Owner) -> Iterator[None]:
    owner.execute("UPDATE outbox SET delivered_at = now() WHERE delivered_at IS NULL")
    yield
    owner.execute("UPDATE outbox SET delivered_at = now() WHERE delivered_at IS NULL")


def make_due(owner: Owner) -> None:
    owner.execute("UPDATE outbox SET next_attempt_at = now() WHERE delivered_at IS NULL")


async def test_the_fast_path_has_a_moment_before_the_relay_comes(talk: Talk, relay_db: Database, owner: Owner) -> None:
    accepted = await talk.say()
    assert await claim_due(relay_db, 10, BACKOFF_MAX_S) == []
    make_due(owner)
    assert await claim_due(relay_db, 10, BACKOFF_MAX_S) == [accepted.wake]


async def test_two_relays_never_hold_one_row_and_together_they_have_all(
    talk: Talk, relay_db: Database, owner: Owner
) -> None:
    for _ in range(40):
        await talk.say()
    make_due(owner)
    batches = await asyncio.gather(*(claim_due(relay_db, 10, BACKOFF_MAX_S) for _ in range(8)))
    claimed = [w.outbox_id for batch in batches for w in batch]
    assert len(claimed) == len(set(claimed)) == 40
    assert all([w.outbox_id for w in batch] == sorted(w.outbox_id for w in batch) for batch in batches)


async def test_a_row_that_a_relay_is_claiming_is_passed_over(talk: Talk, relay_db: Database, owner: Owner) -> None:
    held, free = await talk.say(), await talk.say()
    assert held.wake is not None
    make_due(owner)
    with psycopg.connect(owner.info.dsn, password=owner.info.password) as other:
        other.execute("SELECT 1 FROM outbox WHERE id = %s FOR UPDATE", (held.wake.outbox_id,))
        assert await claim_due(relay_db, 10, BACKOFF_MAX_S) == [free.wake]


async def test_what_is_not_delivered_comes_due_again_later_and_later(
    talk: Talk, relay_db: Database, owner: Owner
) -> None:
    await talk.say()
    waits = []
    for _ in range(9):
        make_due(owner)
        assert len(await claim_due(relay_db, 10, BACKOFF_MAX_S)) == 1
        assert await claim_due(relay_db, 10, BACKOFF_MAX_S) == []
        query = "SELECT extract(epoch FROM next_attempt_at - now()) FROM outbox WHERE delivered_at IS NULL"
        found = owner.execute(query).fetchone()
        assert found is not None
        waits.append(round(float(found[0]) + 0.49))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_what_is_delivered_is_claimed_no_more_and_is_no_lag(talk: Talk, relay_db: Database, owner: Owner) -> None:
    accepted = await talk.say()
    assert accepted.wake is not None
    assert (await outbox_lag(relay_db)).waiting == 1
    await mark_delivered(relay_db, [accepted.wake.outbox_id], now())
    make_due(owner)
    assert await claim_due(relay_db, 10, BACKOFF_MAX_S) == []
    assert (await outbox_lag(relay_db)).model_dump() == {"waiting": 0, "oldest_s": 0.0}
    await mark_delivered(relay_db, [], now())


async def test_only_what_was_delivered_long_ago_is_forgotten(talk: Talk, relay_db: Database, owner: Owner) -> None:
    wakes = [(await talk.say()).wake for _ in range(3)]
    old, fresh, waiting = [wake.outbox_id for wake in wakes if wake is not None]
    await mark_delivered(relay_db, [old, fresh], now())
    owner.execute("UPDATE outbox SET delivered_at = now() - interval '3 days' WHERE id = %s", (old,))
    assert await forget_delivered(relay_db, 2 * 86_400, 1_000) == 1
    async with relay_db.across_tenants() as tx:
        await tx.execute(sa.text("DELETE FROM outbox WHERE id = :id"), {"id": waiting})
    left = {i for (i,) in owner.execute("SELECT id FROM outbox WHERE conversation_id = %s", (talk.id,))}
    assert left == {fresh, waiting}


async def test_the_fast_path_marks_only_its_own_tenants_rows(
    talk: Talk, relay_db: Database, make_tenant: MakeTenant
) -> None:
    accepted = await talk.say()
    assert accepted.wake is not None
    await mark_delivered(talk.db, [accepted.wake.outbox_id], now(), make_tenant())
    assert (await outbox_lag(relay_db)).waiting == 1
    await mark_delivered(talk.db, [accepted.wake.outbox_id], now(), talk.tenant)
    assert (await outbox_lag(relay_db)).waiting == 0


async def unanswered(relay_db: Database, talk: Talk, older_than_s: float = 0) -> bool:
    found = await open_conversations(relay_db, talk.id[:-1], 10_000, older_than_s)
    return talk.id in {w.conversation_id for w in found}


async def test_a_sweep_goes_by_what_is_unanswered_whatever_was_delivered(
    talk: Talk, relay_db: Database, ann: Staff
) -> None:
    assert not await unanswered(relay_db, talk)
    accepted = await talk.say()
    assert accepted.wake is not None
    await mark_delivered(relay_db, [accepted.wake.outbox_id], now())
    assert await unanswered(relay_db, talk)
    assert not await unanswered(relay_db, talk, older_than_s=3_600)
    await talk.publish()
    assert not await unanswered(relay_db, talk)
    await talk.take_over(ann)
    assert await unanswered(relay_db, talk)  # not worked through yet


async def test_what_recover_rebuilds_is_every_open_action_and_every_conversation_that_is_not_closed(
    talk: Talk, relay_db: Database
) -> None:
    beside = await talk.beside()
    assert await beside.close()
    waiting, sent, settled = await talk.proposed(order_id="A-2"), await talk.unknown("A-1"), await talk.claimed("A-3")
    await talk.settle(settled)
    actions = {w.operation_id: w for w in await open_actions(relay_db, "", 10_000, 0)}
    assert {waiting, sent} <= set(actions)
    assert settled not in actions
    assert (actions[sent].tenant_id, actions[sent].conversation_id) == (talk.tenant, talk.id)
    live = {w.conversation_id for w in await live_conversations(relay_db, "", 10_000)}
    assert talk.id in live
    assert beside.id not in live


async def test_pages_follow_one_another(talk: Talk, relay_db: Database) -> None:
    await talk.say()
    await (await talk.beside()).say()
    everything = [w.conversation_id for w in await live_conversations(relay_db, "", 10_000)]
    after, paged = "", list[str]()
    while page := await live_conversations(relay_db, after, 3):
        after = page[-1].conversation_id
        paged += [w.conversation_id for w in page]
    assert paged == everything
