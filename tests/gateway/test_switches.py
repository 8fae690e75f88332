"""Kill switches over HTTP: turned by whom policy lets, for a reason, and on record."""

from typing import Any

import pytest

from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff
from tests.gateway.caller import Caller
from tests.store.world import Talk


async def test_switches_are_turned_by_whom_policy_lets_and_are_audited(
    caller: Caller, talk: Talk, agent: VerifiedPrincipal, manager: VerifiedPrincipal, make_staff: MakeStaff
) -> None:
    finance = make_staff(talk.tenant, StaffRole.FINANCE)
    assert (await caller.get("/switches", manager)).json() == {"everything": False, "kinds": []}
    stop = {"kind": "refund", "on": True, "reason": "paid twice"}
    stopped = await caller.post("/switches", stop, manager)
    assert (stopped.status_code, stopped.json()) == (200, {"everything": False, "kinds": ["refund"]})
    everything = await caller.post("/switches", {"kind": None, "on": True, "reason": "all of it"}, manager)
    assert everything.json() == {"everything": True, "kinds": ["refund"]}
    for who in (talk.customer, agent):
        assert (await caller.post("/switches", {**stop, "on": False}, who)).status_code == 403
    assert (await caller.get("/switches", talk.customer)).status_code == 403
    assert (await caller.post("/switches", {**stop, "on": False}, manager)).status_code == 403  # who answers for it
    going = await caller.post("/switches", {**stop, "on": False, "reason": "mended"}, finance)
    assert going.json() == {"everything": True, "kinds": []}
    rows = await talk.all("SELECT actor, body::jsonb ->> 'why' FROM audit WHERE kind = 'switch' ORDER BY n")
    assert rows == [(manager.key, "paid twice"), (manager.key, "all of it"), (finance.key, "mended")]


@pytest.mark.parametrize("wrong", [{"reason": " "}, {"kind": "everything"}, {"on": "yes"}, {"reason": "x" * 2_001}])
async def test_a_switch_needs_a_kind_a_way_and_a_reason(
    wrong: dict[str, Any], caller: Caller, manager: VerifiedPrincipal
) -> None:
    body = {"kind": None, "on": True, "reason": "why", **wrong}
    assert (await caller.post("/switches", body, manager)).status_code == 422
