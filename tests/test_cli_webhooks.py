"""Laws of the commands on secrets, tickets and webhooks, over a real database."""

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

import cli
from domain.principal import StaffRole
from policy.bundle import Bundle
from store.database import Database
from store.policies import NewBundle, put_base
from store.secrets import TICKETS, Vault, secret_of
from tests.conftest import Interlock, MakeStaff, MakeTenant, put_in_force
from tests.postgres import Postgres

KEY = "a key of the tests' own, long enough"
VAULT = Vault(KEY)


@pytest.fixture
async def tenant(
    make_tenant: MakeTenant, make_staff: MakeStaff, postgres: Postgres, owner: psycopg.Connection[Any]
) -> str:
    """A tenant under the base bundle, which says who may manage it."""
    made, base = make_tenant(), Bundle.load()
    make_staff(made, StaffRole.ADMIN, "ada")
    make_staff(made, StaffRole.AGENT, "ann")
    kept = NewBundle(digest=base.digest, bundle_id=base.manifest.id, version="1", manifest={}, files=dict(base.files))
    tables = Database(postgres.owner_url, 1)
    await put_base(tables, kept)
    await tables.close()
    put_in_force(owner, made, base.digest)
    return made


@pytest.fixture
def keyed(interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    monkeypatch.setenv("INTERLOCK_SECRETS_KEY", KEY)
    return interlock


async def test_a_secret_is_made_listed_and_forgotten(keyed: Interlock, db: Database, tenant: str) -> None:
    made = await keyed("secret", "set", "tickets", "--tenant", tenant, "--generate")
    assert made.returncode == 0
    assert await secret_of(db, VAULT, tenant, TICKETS) == made.stdout.strip()
    listed = await keyed("secret", "list", "--tenant", tenant)
    assert listed.stdout.startswith("tickets")
    assert made.stdout.strip() not in listed.stdout
    assert (await keyed("secret", "unset", "tickets", "--tenant", tenant)).returncode == 0
    assert (await keyed("secret", "unset", "tickets", "--tenant", tenant)).returncode == 1


async def test_what_cannot_be_a_secret_is_refused_with_what_would_be_one(keyed: Interlock, tenant: str) -> None:
    words = ["secret", "set", "tickets", "--tenant", tenant]
    for value, why in (("short", "32"), ("x" * 40, "whsec_"), ("whsec_" + "!" * 40, "whsec_")):
        refused = await asyncio.to_thread(CliRunner().invoke, cli.app, words, input=value)
        assert refused.exit_code == 2
        assert why in refused.stderr
    assert (await keyed("secret", "set", "tikets", "--tenant", tenant, "--generate")).returncode == 2
    assert (await keyed("secret", "set", "tickets", "--tenant", "nobody", "--generate")).returncode == 1


async def test_without_a_key_the_command_says_which_setting_is_missing(interlock: Interlock, tenant: str) -> None:
    refused = await interlock("secret", "set", "tickets", "--tenant", tenant, "--generate")
    assert refused.returncode == 1
    assert "INTERLOCK_SECRETS_KEY" in refused.stderr


async def test_a_webhook_is_made_by_who_may_and_its_secret_printed_once(
    keyed: Interlock, db: Database, tenant: str
) -> None:
    add = ("webhook", "add", "https://desk.example.com/x", "--tenant", tenant, "--type", "reply", "--by")
    assert (await keyed(*add, "ann")).returncode == 1
    made = await keyed(*add, "ada")
    ident, secret = made.stdout.split()
    assert await secret_of(db, VAULT, tenant, f"webhook.{ident}") == secret
    listed = (await keyed("webhook", "list", "--tenant", tenant)).stdout
    assert f"{ident}  reply  https://desk.example.com/x" in listed
    assert secret not in listed
    assert (await keyed("webhook", "deliveries", "--tenant", tenant, "--json")).stdout.strip() == "[]"
    assert (await keyed("webhook", "replay", "1", "--tenant", tenant, "--by", "ada")).returncode == 1
    assert (await keyed("webhook", "remove", ident, "--tenant", tenant, "--by", "ada")).returncode == 0
    assert (await keyed("webhook", "list", "--tenant", tenant)).stdout == ""
    bad = ("webhook", "add", "http://127.0.0.1/", "--tenant", tenant, "--type", "reply", "--by", "ada")
    assert (await keyed(*bad)).returncode == 2


async def test_a_ticket_that_cannot_be_sent_says_why(keyed: Interlock, tenant: str, tmp_path: Path) -> None:
    file = tmp_path / "ticket.json"
    send = ("ticket", "send", str(file), "--tenant", tenant, "--api", "http://127.0.0.1:1")
    assert (await keyed(*send)).returncode == 2
    file.write_text(json.dumps({"type": "ticket.created"}))
    unset = await keyed(*send)
    assert (unset.returncode, "secret set tickets" in unset.stderr) == (1, True)
    await keyed("secret", "set", "tickets", "--tenant", tenant, "--generate")
    away = await keyed(*send)
    assert (away.returncode, "does not answer" in away.stderr) == (1, True)
