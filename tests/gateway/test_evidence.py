"""The evidence beside a conversation: the newest reading, for the staff of the tenant alone."""

from datetime import timedelta

from domain.principal import VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.store.terms import now, order
from tests.store.world import Talk


async def test_staff_see_what_was_read_last_and_when(caller: Caller, talk: Talk, agent: VerifiedPrincipal) -> None:
    path = f"/conversations/{talk.id}/evidence"
    assert (await caller.get(path, agent)).json() == {"evidence": None}
    newest = await talk.read(order(version=2))
    await talk.read(order(version=1), observed_at=now() - timedelta(minutes=5))
    told = (await caller.get(path, agent)).json()["evidence"]
    assert told["evidence_id"] == newest.evidence_id
    assert told["account"]["orders"][0]["version"] == 2
    assert (told["source"], told["max_age_s"]) == (newest.source, newest.max_age_s)


async def test_evidence_is_not_for_customers_and_not_there_for_others(
    caller: Caller, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    await talk.read()
    path = f"/conversations/{talk.id}/evidence"
    assert (await caller.get(path, talk.customer)).status_code == 403
    assert (await caller.get(path, make_staff(make_tenant()))).status_code == 404
