"""Any order of everything that can happen keeps INVARIANTS 1 to 7: scripts, each checked from the rows alone."""

from typing import Any

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.principal import StaffRole
from domain.refusal import Refusal
from domain.words import Words
from store.database import Database
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store import invariants
from tests.store.stage import Stage
from tests.store.world import Talk

# How often each act is drawn; the first is what a failing script shrinks to.
WEIGHTS = {
    "tick": 2,
    "on_its_way": 6,
    "arrive": 5,
    "answer": 4,
    "look_up": 4,
    "publish": 3,
    "crash": 6,
    "propose": 2,
    "propose_by_staff": 2,
    "decide": 3,
    "reserve": 4,
    "claim": 3,
    "resend": 3,
    "no_answer": 4,
    "say": 2,
    "give_back": 2,
    **dict.fromkeys(("publish_late", "release", "take_over", "ask_for_person", "hand_off", "reply", "close"), 1),
    **dict.fromkeys(("yes", "remind", "claim_approval", "stop", "expire", "withdraw", "open_case", "kill_switch"), 1),
}
ACTS = [act for act, weight in WEIGHTS.items() for _ in range(weight)]
scripts = st.lists(st.sampled_from(ACTS), min_size=40, max_size=60)


async def play(stage: Stage, script: list[str]) -> None:
    for act in script:
        try:
            await getattr(stage, act)()
        except Refusal:
            continue


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=scripts, seed=st.integers(0, 2**32))
async def test_every_script_keeps_every_invariant(
    script: list[str],
    seed: int,
    db: Database,
    words: Words,
    owner: psycopg.Connection[Any],
    make_tenant: MakeTenant,
    make_customer: MakeCustomer,
    make_staff: MakeStaff,
) -> None:
    tenant = make_tenant()
    staff = make_staff(tenant, StaffRole.AGENT), make_staff(tenant, StaffRole.MANAGER)
    stage = Stage(Talk(db, words, make_customer(tenant)), staff, seed)
    for talk in stage.talks:
        await talk.begin()
    await play(stage, script)
    invariants.hold(owner, tenant)
    stage.shop.agrees_with(dict(await stage.talks[0].all("SELECT operation_id, state FROM actions")))
