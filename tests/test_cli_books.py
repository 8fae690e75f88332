"""Laws of the commands with which a person ends a case, an unknown action and a hold; over a real database."""

import json
from typing import Any

import psycopg
import pytest

from domain.principal import StaffRole
from domain.words import Words
from policy.bundle import Bundle
from store.comparison import Difference, DifferenceKind, open_cases
from store.database import Database
from store.policies import NewBundle, put_base
from tests.conftest import Interlock, MakeCustomer, MakeStaff, MakeTenant, put_in_force
from tests.postgres import Postgres
from tests.store.world import Talk


@pytest.fixture
async def talk(
    db: Database, words: Words, make_tenant: MakeTenant, make_customer: MakeCustomer, make_staff: MakeStaff
) -> Talk:
    tenant = make_tenant()
    make_staff(tenant, StaffRole.FINANCE, "fay")
    make_staff(tenant, StaffRole.MANAGER, "mia")
    make_staff(tenant, StaffRole.AGENT, "ann")
    return await Talk(db, words, make_customer(tenant)).begin()


@pytest.fixture
async def ruled(talk: Talk, postgres: Postgres, owner: psycopg.Connection[Any]) -> Talk:
    """The same under the base bundle, which says who may turn a switch."""
    base, manifest = Bundle.load(), Bundle.load().manifest
    files = dict(base.files)
    kept = NewBundle(digest=base.digest, bundle_id=manifest.id, version=manifest.version, manifest={}, files=files)
    tables = Database(postgres.owner_url, 1)
    await put_base(tables, kept)
    await tables.close()
    put_in_force(owner, talk.tenant, base.digest)
    return talk


def halted(owner: psycopg.Connection[Any], tenant: str) -> bool:
    found = owner.execute("SELECT dispatch_halted FROM tenants WHERE id = %s", (tenant,)).fetchone()
    assert found is not None
    return bool(found[0])


async def differs(talk: Talk) -> None:
    kind = DifferenceKind.EFFECT_WITHOUT_ROW
    found = Difference(kind=kind, operation_id="op-1", violates=True, ledger=None, effect="refund order:A-1 5 EUR")
    await open_cases(talk.db, talk.tenant, [found])


def by(staff_id: str, reason: str = "a drill") -> tuple[str, ...]:
    return "--by", staff_id, "--reason", reason


async def test_dispatch_is_held_and_let_go_on_and_audited(
    interlock: Interlock, ruled: Talk, owner: psycopg.Connection[Any]
) -> None:
    for act, told, now in (("hold", "is held", True), ("hold", "as before", True), ("resume", "goes on", False)):
        done = await interlock("dispatch", act, "--tenant", ruled.tenant, *by("fay"))
        assert (done.returncode, done.stderr) == (0, "")
        assert told in done.stdout
        assert halted(owner, ruled.tenant) is now
    rows = await ruled.all("SELECT actor, body::jsonb ->> 'why' FROM audit WHERE kind = 'switch' ORDER BY n")
    assert rows == [("staff:fay", "a drill")] * 2


async def test_one_kind_is_held_by_itself_and_what_is_still_held_is_said(interlock: Interlock, ruled: Talk) -> None:
    for kind in ("refund", "store_credit"):
        done = await interlock("dispatch", "hold", "--tenant", ruled.tenant, "--kind", kind, *by("mia"))
        assert done.stdout == f"{ruled.tenant}: dispatch of {kind} is held\n"
    listed = await interlock("cases", "--tenant", ruled.tenant)
    assert "dispatch of store_credit is held" in listed.stdout
    await interlock("dispatch", "hold", "--tenant", ruled.tenant, *by("mia"))
    done = await interlock("dispatch", "resume", "--tenant", ruled.tenant, "--kind", "refund", *by("fay"))
    assert "all dispatch is still held: interlock dispatch resume" in done.stdout
    assert "--reason WHY --kind store_credit" in done.stdout
    ((kinds,),) = await ruled.all("SELECT halted_kinds FROM tenants")
    assert kinds == ["store_credit"]


async def test_a_switch_is_turned_by_whom_policy_lets_for_a_reason(interlock: Interlock, ruled: Talk) -> None:
    at = ("--tenant", ruled.tenant)
    for act, who, why in (("hold", "ann", "agent"), ("resume", "mia", "manager"), ("hold", "nobody", "nobody")):
        done = await interlock("dispatch", act, *at, *by(who))
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr
    assert (await interlock("dispatch", "hold", *at, *by("mia", "  "))).returncode == 2
    assert (await interlock("dispatch", "hold", *at, "--by", "mia")).returncode == 2
    assert (await interlock("dispatch", "hold", *at, "--kind", "everything", *by("mia"))).returncode == 2


async def test_dispatch_needs_a_tenant_that_is_there(interlock: Interlock) -> None:
    done = await interlock("dispatch", "hold", "--tenant", "nobody", *by("mia"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such tenant" in done.stderr
    assert (await interlock("dispatch", "stop", "--tenant", "nobody", *by("mia"))).returncode == 2
    assert (await interlock("dispatch", "hold")).returncode == 2


async def test_a_difference_is_listed_and_closed_and_the_hold_is_lifted_by_hand(
    interlock: Interlock, ruled: Talk, owner: psycopg.Connection[Any]
) -> None:
    await differs(ruled)
    listed = await interlock("cases", "--tenant", ruled.tenant, "--json")
    (case,) = json.loads(listed.stdout)
    plain = await interlock("cases", "--tenant", ruled.tenant)
    assert "effect_without_row op-1" in plain.stdout
    assert "1 open cases" in plain.stdout
    assert (await interlock("cases", "--close", case["case_id"])).returncode == 2
    assert (await interlock("cases", "--close", case["case_id"], "--by", "ann")).returncode == 1
    closed = await interlock("cases", "--close", case["case_id"], "--by", "mia")
    assert (closed.returncode, closed.stderr) == (0, "")
    assert (await interlock("cases", "--tenant", ruled.tenant, "--json")).stdout == "[]\n"
    again = await interlock("cases", "--tenant", ruled.tenant, "--close", case["case_id"], "--by", "mia")
    assert again.returncode == 1
    assert "closed already" in again.stderr
    assert halted(owner, ruled.tenant)
    assert (await interlock("dispatch", "resume", "--tenant", ruled.tenant, *by("fay"))).returncode == 0
    assert not halted(owner, ruled.tenant)


async def test_an_unknown_is_settled_by_a_person_and_only_when_it_may_be(interlock: Interlock, talk: Talk) -> None:
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    (case,) = json.loads((await interlock("cases", "--tenant", talk.tenant, "--json")).stdout)
    kept_open = await interlock("cases", "--close", case["case_id"], "--by", "mia")
    assert kept_open.returncode == 1
    assert "settled" in kept_open.stderr

    def settle(outcome: str, by: str, *more: str) -> Any:
        return interlock("settle", operation_id, "--tenant", talk.tenant, "--as", outcome, "--by", by, *more)

    early = await settle("rejected", "mia")
    assert early.returncode == 3
    assert "Look again in" in early.stderr
    assert (await settle("rejected", "mia", "--external-id", "re_7")).returncode == 2
    assert (await settle("perhaps", "mia")).returncode == 2
    assert (await settle("confirmed", "mia", "--external-id", " ")).returncode == 2
    refused = [await settle("confirmed", who) for who in ("ann", "nobody")]
    assert [done.returncode for done in refused] == [1, 1]
    done = await settle("confirmed", "mia", "--external-id", "re_7")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{operation_id} is confirmed\n", "")
    assert (await talk.action(operation_id)).external_id == "re_7"
    assert (await settle("confirmed", "mia")).returncode == 1
    assert (await interlock("cases", "--tenant", talk.tenant, "--json")).stdout == "[]\n"


@pytest.mark.parametrize("command", ["dispatch", "settle", "cases"])
async def test_each_explains_itself(command: str, interlock: Interlock) -> None:
    done = await interlock(command, "--help")
    assert done.returncode == 0
    assert "Exit status" in done.stdout
