"""Laws of the commands with which a person ends a case, an unknown action and a hold; over a real database."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

import cli
from domain.principal import StaffRole
from domain.words import Words
from store.comparison import Difference, DifferenceKind, open_cases
from store.database import Database
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.postgres import Postgres
from tests.store.world import Talk

Ran = subprocess.CompletedProcess[str]
Interlock = Callable[..., Any]


@pytest.fixture
def interlock(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    """Runs one command against the database of the tests."""
    for name in [n for n in os.environ if n.startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("INTERLOCK_DATABASE_URL", postgres.app_url)
    monkeypatch.setenv("INTERLOCK_DATABASE_RELAY_URL", postgres.relay_url)

    async def run(*words: str) -> Ran:
        found = await asyncio.to_thread(CliRunner().invoke, cli.app, words)
        return Ran(words, found.exit_code, found.stdout, found.stderr)

    return run


@pytest.fixture
async def talk(
    db: Database, words: Words, make_tenant: MakeTenant, make_customer: MakeCustomer, make_staff: MakeStaff
) -> Talk:
    tenant = make_tenant()
    make_staff(tenant, StaffRole.MANAGER, "mia")
    make_staff(tenant, StaffRole.AGENT, "ann")
    return await Talk(db, words, make_customer(tenant)).begin()


def halted(owner: psycopg.Connection[Any], tenant: str) -> bool:
    found = owner.execute("SELECT dispatch_halted FROM tenants WHERE id = %s", (tenant,)).fetchone()
    assert found is not None
    return bool(found[0])


async def differs(talk: Talk) -> None:
    kind = DifferenceKind.EFFECT_WITHOUT_ROW
    found = Difference(kind=kind, operation_id="op-1", violates=True, ledger=None, effect="refund order:A-1 5 EUR")
    await open_cases(talk.db, talk.tenant, [found])


async def test_dispatch_is_held_and_let_go_on(interlock: Interlock, talk: Talk, owner: psycopg.Connection[Any]) -> None:
    for act, told, now in (("hold", "is held", True), ("hold", "as before", True), ("resume", "goes on", False)):
        done = await interlock("dispatch", act, "--tenant", talk.tenant)
        assert (done.returncode, done.stderr) == (0, "")
        assert told in done.stdout
        assert halted(owner, talk.tenant) is now


async def test_dispatch_needs_a_tenant_that_is_there(interlock: Interlock) -> None:
    done = await interlock("dispatch", "hold", "--tenant", "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such tenant" in done.stderr
    assert (await interlock("dispatch", "stop", "--tenant", "nobody")).returncode == 2
    assert (await interlock("dispatch", "hold")).returncode == 2


async def test_a_difference_is_listed_and_closed_and_the_hold_is_lifted_by_hand(
    interlock: Interlock, talk: Talk, owner: psycopg.Connection[Any]
) -> None:
    await differs(talk)
    listed = await interlock("cases", "--tenant", talk.tenant, "--json")
    (case,) = json.loads(listed.stdout)
    plain = await interlock("cases", "--tenant", talk.tenant)
    assert "effect_without_row op-1" in plain.stdout
    assert "1 open cases" in plain.stdout
    assert (await interlock("cases", "--close", case["case_id"])).returncode == 2
    assert (await interlock("cases", "--close", case["case_id"], "--by", "ann")).returncode == 1
    closed = await interlock("cases", "--close", case["case_id"], "--by", "mia")
    assert (closed.returncode, closed.stderr) == (0, "")
    assert (await interlock("cases", "--tenant", talk.tenant, "--json")).stdout == "[]\n"
    again = await interlock("cases", "--tenant", talk.tenant, "--close", case["case_id"], "--by", "mia")
    assert again.returncode == 1
    assert "closed already" in again.stderr
    assert halted(owner, talk.tenant)
    assert (await interlock("dispatch", "resume", "--tenant", talk.tenant)).returncode == 0
    assert not halted(owner, talk.tenant)


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
