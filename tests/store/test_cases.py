"""INVARIANT 7: an unknown past its deadline is a case with a person, which only its outcome or that person ends."""

import asyncio
from datetime import datetime

import pytest

from domain.action import ActionState
from domain.connector import ConnectorContract, Lookup, LookupKind
from domain.conversation import Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import NotOwned
from store import queue
from store.ledger import load_progress
from store.settlement import settle_lookup
from tests.store.terms import SHOP, SUCCESS, later, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
S = ActionState
THERE = Lookup(kind=LookupKind.COMMITTED, external_id="re_9")
NOWHERE = Lookup(kind=LookupKind.NOT_FOUND)
TURNED_DOWN = Lookup(kind=LookupKind.REFUSED)
NO_LOOKUP = SHOP.model_copy(update={"lookup_lag_s": None})
FINAL_S = 30 + 2 + 10  # D + L of the shop, and the margin for sending


async def look(
    talk: Talk, operation_id: str, found: Lookup, contract: ConnectorContract = SHOP, at: datetime | None = None
) -> ActionState:
    begun = at or now()
    return await settle_lookup(talk.db, talk.tenant, operation_id, found, contract, begun, talk.words, now())


async def cases(talk: Talk) -> list[tuple[str, str]]:
    return await talk.all("SELECT kind, queue_status FROM cases ORDER BY opened_at")


async def test_a_case_is_opened_once_and_takes_the_conversation_to_a_person(talk: Talk) -> None:
    operation_id = await talk.unknown()
    states = await asyncio.gather(*(talk.open_case(operation_id) for _ in range(4)))
    assert states == [S.UNKNOWN] * 4
    assert await cases(talk) == [("unknown_action", "waiting")]
    row = await talk.row()
    assert (row.owner, row.owner_epoch, row.cases) == (Owner.HUMAN, 2, (operation_id,))
    assert (await load_progress(talk.db, talk.tenant, operation_id)).person_has_it
    items = (await queue.look(talk.db, talk.tenant, now())).waiting
    assert {(i.kind.value, i.reason) for i in items} == {("case", "unknown_action"), ("handoff", "unknown_outcome")}


async def test_a_case_survives_release_and_keeps_the_conversation_open(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    with pytest.raises(NotOwned):
        await talk.release(ann)
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    assert await talk.open_case(operation_id) is S.UNKNOWN  # again, by a step that did not know of the first
    assert await cases(talk) == [("unknown_action", "waiting")]
    assert (await talk.row()).owner is Owner.BOT
    assert not await talk.close()
    await talk.settle(operation_id, SUCCESS)
    assert await cases(talk) == [("unknown_action", "done")]
    assert await talk.close()


async def test_a_person_who_has_the_conversation_already_gets_no_second_handoff(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.take_over(ann)
    await talk.open_case(operation_id)
    assert (await talk.row()).owner_epoch == 2
    assert await talk.all("SELECT queue_status FROM handoffs WHERE conversation_id = :id") == [("claimed",)]


async def test_a_case_that_somebody_ended_too_early_is_opened_again(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    taken = await talk.take_over(ann)
    await talk.release(ann, taken.owner_epoch)
    async with talk.db.transaction(talk.tenant) as tx:
        await tx.exec_driver_sql("UPDATE cases SET queue_status = 'done', done_at = now()")
    assert await talk.open_case(operation_id) is S.UNKNOWN
    assert await cases(talk) == [("unknown_action", "done"), ("unknown_action", "waiting")]


@pytest.mark.parametrize("found", [NOWHERE, THERE])
async def test_a_late_settlement_ends_the_case(found: Lookup, talk: Talk) -> None:
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    assert (await look(talk, operation_id, found, at=later(FINAL_S + 1))).terminal
    assert await cases(talk) == [("unknown_action", "done")]
    assert not (await load_progress(talk.db, talk.tenant, operation_id)).person_has_it
    assert (await talk.open_case(operation_id)).terminal
    assert await cases(talk) == [("unknown_action", "done")]
