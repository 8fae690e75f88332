"""The desk is shown, set by whoever manages staff, and refused in words that say what would be right."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from domain.principal import StaffRole
from policy.bundle import Bundle
from seeding.desks import ABLE, DESKS, give_desks
from seeding.tenants import shipped_base
from store.database import Database
from store.desk import colleagues, read_desk
from store.policies import put_base
from tests.conftest import Interlock, MakeStaff, MakeTenant, put_in_force
from tests.postgres import Postgres


@pytest.fixture
async def tenant(
    make_tenant: MakeTenant, make_staff: MakeStaff, postgres: Postgres, owner: psycopg.Connection[Any]
) -> str:
    """A tenant under the base bundle, with an admin and an agent."""
    made = make_tenant()
    make_staff(made, StaffRole.ADMIN, "ada")
    make_staff(made, StaffRole.AGENT, "ann")
    tables = Database(postgres.owner_url, 1)
    await put_base(tables, shipped_base())
    await tables.close()
    put_in_force(owner, made, Bundle.load().digest)
    return made


async def test_what_was_shown_is_changed_and_set_in_the_place_of_exactly_that(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    shown = await interlock("desk", "show", "--tenant", tenant)
    stands = json.loads(shown.stdout)
    assert (shown.returncode, stands["version"], stands["document"]["timezone"]) == (0, 0, "UTC")
    stands["document"]["timezone"] = "Asia/Tokyo"
    file = tmp_path / "desk.json"
    file.write_text(json.dumps(stands))
    words = ("desk", "set", str(file), "--tenant", tenant, "--by")
    assert (await interlock(*words, "ann")).stderr.endswith("does not let that role manage staff.\n")
    done = await interlock(*words, "ada")
    assert (done.returncode, done.stdout) == (0, f"{tenant}: version 1 of the desk counts\n")
    again = await interlock(*words, "ada")
    assert (again.returncode, "it is 1 now" in again.stderr) == (1, True)
    file.write_text(json.dumps(stands["document"]))
    assert (await interlock(*words, "ada")).stdout.endswith("version 2 of the desk counts\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"timezone": "Mars/Olympus"}', "timezone: Value error, there is no such time zone"),
        ('{"hours": {"mon": [["17:00", "09:00"]]}}', "hours.mon: "),
        ("no json", "is no JSON document of a desk"),
        ("[]", "document: "),
    ],
)
async def test_a_file_that_is_no_document_is_refused_with_its_field(
    interlock: Interlock, tenant: str, tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "desk.json"
    file.write_text(text)
    done = await interlock("desk", "set", str(file), "--tenant", tenant, "--by", "ada")
    assert done.returncode == 2
    assert told in done.stderr


async def test_the_demo_gives_desks_and_skills_once_and_leaves_what_people_set(
    db: Database, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    shop, product = make_tenant("marketplace"), make_tenant("saas")
    for ident in ABLE:
        make_staff(shop, StaffRole.AGENT, ident)
        make_staff(product, StaffRole.AGENT, ident)
    world = {"tenants": [{"id": shop, "kind": "marketplace"}, {"id": product, "kind": "saas"}]}
    await give_desks(db, world)
    await give_desks(db, world)
    assert [(await read_desk(db, one)).version for one in (shop, product)] == [1, 1]
    assert (await read_desk(db, product)).document == DESKS["saas"]
    assert {c.id: (c.skills, c.languages) for c in await colleagues(db, shop)} == ABLE
