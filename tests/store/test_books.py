"""Differences between the books: each is a case once, a new violation stops dispatch, and a person ends both."""

from typing import Any

import psycopg
import pytest

from domain.principal import VerifiedPrincipal
from domain.refusal import Forbidden, NotFound, Refusal
from store.cases import cases_open, close_case
from store.comparison import Difference, DifferenceKind, open_cases
from tests.store.terms import now
from tests.store.world import Talk

Staff = VerifiedPrincipal


def difference(operation_id: str = "op-1", *, violates: bool = True) -> Difference:
    kind = DifferenceKind.EFFECT_WITHOUT_ROW
    return Difference(kind=kind, operation_id=operation_id, violates=violates, ledger=None, effect="refund 5 EUR")


async def halted(talk: Talk) -> bool:
    ((found,),) = await talk.all("SELECT dispatch_halted FROM tenants")
    return bool(found)


async def test_a_difference_that_is_known_stops_nothing_again(talk: Talk) -> None:
    assert await open_cases(talk.db, talk.tenant, [difference()]) == 1
    assert await halted(talk)
    assert await talk.switch(stopped=False)
    assert await open_cases(talk.db, talk.tenant, [difference(), difference()]) == 0
    assert not await halted(talk)
    assert await open_cases(talk.db, talk.tenant, [difference(), difference("op-2")]) == 1
    assert await halted(talk)


async def test_a_difference_that_violates_nothing_stops_nothing(talk: Talk) -> None:
    assert await open_cases(talk.db, talk.tenant, [difference(violates=False)]) == 1
    assert not await halted(talk)


async def test_a_closed_difference_is_not_opened_again(talk: Talk, manager: Staff) -> None:
    await open_cases(talk.db, talk.tenant, [difference()])
    (case,) = await cases_open(talk.db, talk.tenant)
    assert (case.operation_id, case.detail["effect"]) == ("op-1", "refund 5 EUR")
    await close_case(talk.db, talk.tenant, case.case_id, manager.id, now())
    assert await cases_open(talk.db, talk.tenant) == []
    assert await talk.all("SELECT queue_status, assignee FROM cases") == [("done", manager.id)]
    assert await open_cases(talk.db, talk.tenant, [difference()]) == 0
    assert await halted(talk)  # closing lifts no hold
    with pytest.raises(Refusal, match="already"):
        await close_case(talk.db, talk.tenant, case.case_id, manager.id, now())


async def test_an_unknown_action_is_not_ended_by_closing_its_case(talk: Talk, manager: Staff) -> None:
    await talk.open_case(await talk.unknown())
    (case,) = await cases_open(talk.db, talk.tenant)
    with pytest.raises(Refusal, match="settled"):
        await close_case(talk.db, talk.tenant, case.case_id, manager.id, now())
    assert len(await cases_open(talk.db, talk.tenant)) == 1


async def test_only_somebody_responsible_closes_a_case(
    talk: Talk, ann: Staff, manager: Staff, owner: psycopg.Connection[Any]
) -> None:
    await open_cases(talk.db, talk.tenant, [difference()])
    (case,) = await cases_open(talk.db, talk.tenant)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", (talk.tenant, manager.id))
    for staff_id, refusal in ((ann.id, Forbidden), (manager.id, Forbidden), ("nobody", NotFound)):
        with pytest.raises(refusal):
            await close_case(talk.db, talk.tenant, case.case_id, staff_id, now())
    assert len(await cases_open(talk.db, talk.tenant)) == 1


async def test_a_case_of_another_tenant_is_not_there(talk: Talk, manager: Staff, make_tenant: Any) -> None:
    await open_cases(talk.db, talk.tenant, [difference()])
    (case,) = await cases_open(talk.db, talk.tenant)
    with pytest.raises(NotFound):
        await close_case(talk.db, make_tenant(), case.case_id, manager.id, now())
