"""Laws of the commands on policy: what is wrong is told with its place, and only who may lets anything count."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cli
import settings
from cli_duties import policies_not_loading
from domain.principal import StaffRole, VerifiedPrincipal
from policy.bundle import BASE, read_folder
from store.database import Database
from store.migrate import migrate
from store.policies import NewBundle, Plan, PublicationCause, Term, bundles, in_force, publications, put_base
from store.policies import publish as kept_and_published
from store.provision import NewTenant, provision_tenant
from tests.conftest import MakeStaff
from tests.postgres import Postgres, new_database
from tests.publishing.books import BOOK, FILES, STRICTER, layer, newer, now, publish

Ran = subprocess.CompletedProcess[str]
Interlock = Callable[..., Any]
GIVEN = next(line for line in read_folder(BASE)["cases.jsonl"].splitlines() if '"refund"' in line)
DENIED = json.dumps(
    {
        "case": "nobody has consented",
        "of": "refund",
        "with": {"payload.amount_minor": 2000},
        "verdict": "ask",
        "rules": ["refund-with-confirmation"],
        "required": ["customer", "manager"],
    }
)


def use(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("INTERLOCK_DATABASE_URL", postgres.app_url)
    monkeypatch.setenv("INTERLOCK_DATABASE_RELAY_URL", postgres.relay_url)
    monkeypatch.setenv("INTERLOCK_DATABASE_OWNER_URL", postgres.owner_url)


async def run(*words: str) -> Ran:
    found = await asyncio.to_thread(CliRunner().invoke, cli.app, ["policy", *words])
    return Ran(words, found.exit_code, found.stdout, found.stderr)


@pytest.fixture
def interlock(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    """Runs one command on policy against the database of the tests."""
    use(postgres, monkeypatch)
    return run


@pytest.fixture
def manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER)


@pytest.fixture
def small(tmp_path: Path) -> str:
    """The folder of the small base."""
    return folder(tmp_path / "small", FILES)


def folder(path: Path, files: Mapping[str, str]) -> str:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    return str(path)


async def test_validate_says_what_a_bundle_is_and_which_rules_pull_against_each_other(
    interlock: Interlock, small: str, tmp_path: Path
) -> None:
    found = await interlock("validate", folder(tmp_path / "l", layer("t")), "--base", small)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("stricter 1: layer of t over small 1 (")
    assert "small-refunds-only-up-to-ten overrules refund-with-confirmation; for example, refund: " in found.stdout
    as_json = json.loads((await interlock("validate", str(tmp_path / "l"), "--base", small, "--json")).stdout)
    assert as_json["conflicts"][0]["forbid"] == "small-refunds-only-up-to-ten"
    assert as_json["conflicts"][0]["request"]["context"]["amount_minor"] > 1000


@pytest.mark.parametrize(
    ("changes", "where", "right"),
    [
        ({"rules": STRICTER.split("\n", 2)[2]}, "limits.cedar:1: this rule has no @id", 'put @id("…") before it'),
        ({"rules": STRICTER.replace("_minor", "_major")}, "limits.cedar:4: ", "such as amount_minor"),
        ({"rules": STRICTER * 2}, "limits.cedar:6: ", "an id of its own"),
        ({"rules": "forbid ("}, "limits.cedar:1: ", "end it with ;"),
        ({"rules": STRICTER + "\x00"}, "limits.cedar:5: ", "text without one"),
        ({"withdraws": ["evidence-too-old"]}, "manifest.json:1: evidence-too-old is a forbid", "never without"),
        ({"withdraws": ["no-such-rule"]}, "manifest.json:1: the base has no rule no-such-rule", "by their @id"),
        ({"effective_from": "soon"}, "manifest.json:1: effective_from: ", "2026-01-31T00:00:00Z"),
        ({"effective_until": "9999-12-31T23:59:59-14:00"}, "manifest.json:1: effective_until: ", "before 9000"),
        ({"id": "a\x00b"}, "manifest.json:1: id: ", "a-z, 0-9 and hyphens"),
        ({"cases": f"{GIVEN}\n{{"}, "cases.jsonl:2: not JSON", "is a case"),
        ({"cases": DENIED}, "cases.jsonl:1: nothing is given as", "given above it are none"),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_told_with_its_file_and_line_and_what_would_be_right(
    changes: dict[str, Any], where: str, right: str, interlock: Interlock, small: str, tmp_path: Path
) -> None:
    wrong = folder(tmp_path / "l", layer("t", **changes))
    found = await interlock("validate", wrong, "--base", small)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith(f"interlock policy validate: {where}")
    assert right in found.stderr


async def test_a_case_that_comes_out_otherwise_is_told_with_its_line(
    interlock: Interlock, small: str, tmp_path: Path
) -> None:
    cases = "\n".join([GIVEN, DENIED, DENIED.replace("nobody", "somebody").replace('"ask"', '"permit"')])
    wrong = folder(tmp_path / "l", layer("t", cases=cases))
    for command in ("test", "validate"):
        found = await interlock(command, wrong, "--base", small)
        assert found.returncode == 3
        assert "cases.jsonl:3: somebody has consented: the verdict is ask by refund-with-confirmation" in found.stdout
        assert "1 of 2 cases come out as they say" in found.stdout


@pytest.mark.parametrize("words", [["nowhere"], ["nowhere", "--json"]])
async def test_a_folder_that_is_not_there_is_said_so(words: list[str], interlock: Interlock) -> None:
    found = await interlock("validate", *words)
    assert (found.returncode, found.stdout) == (1, "")
    assert "there is no folder nowhere; give a bundle's folder" in found.stderr


async def test_a_folder_without_a_manifest_is_no_bundles(interlock: Interlock, tmp_path: Path) -> None:
    found = await interlock("test", folder(tmp_path / "l", {"limits.cedar": STRICTER}))
    assert (found.returncode, found.stdout) == (1, "")
    assert f"the folder {tmp_path / 'l'} has no manifest.json" in found.stderr


async def test_a_layer_over_a_base_that_does_not_come_along_asks_for_its_folder(
    interlock: Interlock, tmp_path: Path
) -> None:
    mine = folder(tmp_path / "l", layer("t"))
    found = await interlock("validate", mine)
    assert (found.returncode, found.stdout) == (2, "")
    assert "its base 'small' does not come with Interlock, as base and retail do; give its folder" in found.stderr
    nowhere = await interlock("validate", mine, "--base", "nowhere")
    assert (nowhere.returncode, "--base: there is no folder nowhere; " in nowhere.stderr) == (2, True)


async def test_a_layer_is_tried_over_the_base_in_force_for_its_tenant(
    interlock: Interlock, tenant: str, small: str, tmp_path: Path
) -> None:
    mine = folder(tmp_path / "l", layer(tenant, cases=f"{GIVEN}\n{DENIED}"))
    tried = await interlock("test", mine, "--tenant", tenant)
    over = f"over small 1 ({BOOK.digest[:12]})"
    assert (tried.returncode, tried.stdout) == (0, f"1 of 1 case comes out as it says, {over}\n")
    assert f"layer of {tenant} {over}, " in (await interlock("validate", mine, "--tenant", tenant)).stdout
    for words, told in (
        (("--tenant", "zoe"), f"stricter is for the tenant '{tenant}', not for 'zoe'"),
        (("--tenant", tenant, "--base", small), "give either --base FOLDER or --tenant T"),
        (("--data-dir", small), "--data-dir goes with --tenant"),
    ):
        found = await interlock("test", mine, *words)
        assert (found.returncode, found.stdout) == (2, "")
        assert told in found.stderr
    nobody = await interlock("test", folder(tmp_path / "n", layer("nobody")), "--tenant", "nobody")
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "There is no tenant 'nobody'; there are " in nobody.stderr
    assert tenant in nobody.stderr


async def test_a_bundle_without_cases_is_told_so(interlock: Interlock, small: str) -> None:
    for command in ("test", "validate"):
        found = await interlock(command, small)
        assert (found.returncode, "NO CASES: nothing says what must come of which request" in found.stdout) == (0, True)


async def test_an_added_permit_is_not_told_of_every_forbid_that_overrules_all(
    interlock: Interlock, small: str, tmp_path: Path
) -> None:
    more = '@id("own") permit (principal, action == Action::"refund", resource) when { context.amount_minor <= 9 };'
    found = await interlock("validate", folder(tmp_path / "l", layer("t", more)), "--base", small)
    assert "evidence-too-old overrules own" not in found.stdout
    assert "    and 1 rule of the base that holds for every action, as over any permit" in found.stdout
    as_json = json.loads((await interlock("validate", str(tmp_path / "l"), "--base", small, "--json")).stdout)
    assert {conflict["forbid"] for conflict in as_json["conflicts"]} == {"evidence-too-old"}


async def test_from_publishing_to_going_back(
    interlock: Interlock, tenant: str, manager: VerifiedPrincipal, db: Database, tmp_path: Path
) -> None:
    of_it = ("--tenant", tenant)
    mine = folder(tmp_path / "l", layer(tenant, cases=f"{GIVEN}\n{DENIED}"))
    done = await interlock("publish", mine, *of_it, "--by", manager.id, "--note", "less risk")
    assert (done.returncode, done.stderr) == (0, "")
    digest = await in_force(db, tenant, now())
    assert f"published {digest[:12]} by staff:{manager.id}, effective from " in done.stdout
    listed = await interlock("list", *of_it)
    assert [line[:6].split() for line in listed.stdout.splitlines()[:-1]] == [["*", "3"], ["2"], ["1"]]
    assert "stricter 1" in listed.stdout.splitlines()[0]
    shown = await interlock("show", "stricter@1", *of_it, "--file", "limits.cedar")
    assert shown.stdout == STRICTER
    told = (await interlock("show", digest[:8], *of_it)).stdout
    assert digest in told
    assert "       2  forbid  small-refunds-only-up-to-ten" in told.splitlines()
    assert "None" not in told
    back = await interlock("rollback", *of_it, "--by", manager.id, "--note", "too strict")
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.startswith(f"rolled_back {BOOK.digest[:12]} by staff:{manager.id}")
    assert await in_force(db, tenant, now()) == BOOK.digest
    for words, status, why in (
        ((BOOK.digest[:8],), 1, f"The bundle {BOOK.digest[:12]} is what counts now"),
        (("477c2",), 2, "give 6 or more digits of a digest"),
    ):
        refused = await interlock("rollback", *of_it, "--by", manager.id, "--to", *words)
        assert (refused.returncode, refused.stdout, why in refused.stderr) == (status, "", True)
    rows = json.loads((await interlock("list", *of_it, "--json")).stdout)
    assert [(row["n"], row["state"], row["note"]) for row in rows] == [
        (4, "in_force", "too strict"), (3, "past", "less risk"), (2, "past", None), (1, "past", None),
    ]  # fmt: skip


@pytest.mark.parametrize("role", [role for role in StaffRole if role not in (StaffRole.MANAGER, StaffRole.ADMIN)])
async def test_who_may_not_publish_lets_nothing_count(
    role: StaffRole, interlock: Interlock, tenant: str, make_staff: MakeStaff, db: Database, tmp_path: Path
) -> None:
    mine, before = folder(tmp_path / "l", layer(tenant)), await publications(db, tenant)
    who = make_staff(tenant, role).id
    for words in (("publish", mine), ("rollback",)):
        found = await interlock(*words, "--tenant", tenant, "--by", who)
        assert (found.returncode, found.stdout) == (1, "")
        assert f"{who} is {role.value}; the policy in force does not let that role publish policy." in found.stderr
    assert await publications(db, tenant) == before


async def test_nobody_else_publishes(
    interlock: Interlock, tenant: str, manager: VerifiedPrincipal, owner: Any, db: Database, tmp_path: Path
) -> None:
    mine, before = folder(tmp_path / "l", layer(tenant)), await publications(db, tenant)
    assert "nobody 'zoe' on the staff" in (await interlock("publish", mine, "--tenant", tenant, "--by", "zoe")).stderr
    owner.execute("UPDATE staff SET revoked_at = now() WHERE id = %s", (manager.id,))
    revoked = await interlock("publish", mine, "--tenant", tenant, "--by", manager.id)
    assert (revoked.returncode, "on the staff" in revoked.stderr) == (1, True)
    assert await publications(db, tenant) == before


async def test_what_is_broken_or_fails_its_cases_is_not_half_published(
    interlock: Interlock, tenant: str, manager: VerifiedPrincipal, db: Database, tmp_path: Path
) -> None:
    before = await publications(db, tenant), len(await bundles(db, tenant))
    broken = folder(tmp_path / "a", layer(tenant, STRICTER.replace("_minor", "_major")))
    failing = folder(tmp_path / "b", layer(tenant, cases=f"{GIVEN}\n{DENIED.replace('ask', 'permit')}"))
    foreign = folder(tmp_path / "c", layer("another-tenant"))
    for wrong, told in ((broken, "limits.cedar:4: "), (failing, "cases.jsonl:2: "), (foreign, "manifest.json:1: ")):
        found = await interlock("publish", wrong, "--tenant", tenant, "--by", manager.id)
        assert (found.returncode, found.stdout) == (1, "")
        assert told in found.stderr
    assert (await publications(db, tenant), len(await bundles(db, tenant))) == before


async def test_what_waits_for_its_day_is_listed_so_and_what_calls_it_off_says_so(
    interlock: Interlock, tenant: str, manager: VerifiedPrincipal, db: Database, tmp_path: Path
) -> None:
    await publish(db, tenant, layer(tenant, effective_from=(now() + timedelta(days=3)).isoformat()))
    assert [line[:6].split() for line in (await interlock("list", "--tenant", tenant)).stdout.splitlines()[:-1]] == [
        ["+", "3"], ["*", "2"], ["1"],
    ]  # fmt: skip
    other = folder(tmp_path / "l", layer(tenant, STRICTER.replace("-ten", "-5"), id="other"))
    done = await interlock("publish", other, "--tenant", tenant, "--by", manager.id)
    assert "publication 3, which was to count from " in done.stdout


async def test_whose_tenant_is_not_there_is_told_which_are(interlock: Interlock, tenant: str, tmp_path: Path) -> None:
    publish = ("publish", folder(tmp_path / "l", layer("nobody")), "--by", "mia")
    for words in (("list",), ("show", "small"), ("rollback", "--by", "mia"), publish):
        found = await interlock(*words, "--tenant", "nobody")
        assert (found.returncode, found.stdout) == (1, "")
        assert "There is no tenant 'nobody'; there are " in found.stderr
        assert tenant in found.stderr


async def test_a_base_published_as_a_layer_is_told_what_a_layer_has(
    interlock: Interlock, tenant: str, manager: VerifiedPrincipal, small: str, tmp_path: Path
) -> None:
    found = await interlock("publish", small, "--tenant", tenant, "--by", manager.id)
    assert (found.returncode, found.stdout) == (1, "")
    assert "small is a base, and no tenant's layer; a layer names its" in found.stderr
    files = layer(tenant, base="base2")
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]), indent=1)
    other = await interlock("publish", folder(tmp_path / "l", files), "--tenant", tenant, "--by", manager.id)
    assert "manifest.json:8: base is 'base2', and the base that counts here is 'small'" in other.stderr


@pytest.mark.parametrize("options", [[], ["--tenant", "t", "--for-all"]])
async def test_a_layer_or_a_base_and_not_both(options: list[str], interlock: Interlock, small: str) -> None:
    found = await interlock("publish", small, "--by", "olga", *options)
    assert (found.returncode, "give either --tenant T" in found.stderr) == (2, True)


async def test_a_base_for_all_counts_for_everybody_or_for_nobody(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with new_database(postgres.admin_url) as alone:  # all tenants of a database are meant
        migrate(alone.owner_url, alone.app_url, alone.relay_url)
        use(alone, monkeypatch)
        owner, db = Database(alone.owner_url, 1), Database(alone.app_url, 2)
        try:
            await two_tenants(owner)
            await publish(db, "one")
            unfit = folder(tmp_path / "unfit", newer(STRICTER))
            found = await run("publish", unfit, "--for-all", "--by", "olga")
            assert (found.returncode, found.stdout) == (1, "")
            assert "The layer stricter 1 of one does not fit over" in found.stderr
            assert await in_force(db, "two", now()) == BOOK.digest
            fit = folder(tmp_path / "fit", newer())
            done = await run("publish", fit, "--for-all", "--by", "olga")
            assert (done.returncode, done.stderr) == (0, "")
            assert [p.cause.value for p in await publications(db, "two")] == ["published", "seeded"]
            assert [p.cause.value for p in await publications(db, "one")] == ["rebased", "published", "seeded"]
        finally:
            await db.close()
            await owner.close()


async def test_a_bundle_in_force_that_does_not_load_is_said_and_an_operator_goes_back(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_database(postgres.admin_url) as alone:
        migrate(alone.owner_url, alone.app_url, alone.relay_url)
        use(alone, monkeypatch)
        owner, db = Database(alone.owner_url, 1), Database(alone.app_url, 2)
        told = settings.load()
        try:
            await two_tenants(owner)
            assert await asyncio.to_thread(policies_not_loading, told) == ()
            await break_policy(db, "one")
            (wrong,) = await asyncio.to_thread(policies_not_loading, told) or ()
            assert wrong.startswith("one: the bundle in force, broken-layer, does not load: manifest.json:1: ")
            refused = await run("rollback", "--tenant", "one", "--by", "mia")
            assert (refused.returncode, refused.stdout) == (1, "")
            both = await run("rollback", "--tenant", "one", "--by", "mia", "--as-operator", "olga")
            assert (both.returncode, "either --by STAFF_ID or --as-operator" in both.stderr) == (2, True)
            done = await run("rollback", "--tenant", "one", "--as-operator", "olga", "--note", "it does not load")
            assert (done.returncode, done.stderr) == (0, "")
            assert "by operator:olga" in done.stdout
            assert await in_force(db, "one", now()) == BOOK.digest
            assert await asyncio.to_thread(policies_not_loading, told) == ()
        finally:
            await db.close()
            await owner.close()


async def break_policy(db: Database, tenant_id: str) -> None:
    """Let a layer count that no version of this code loads."""
    files = {"manifest.json": "{", "a.cedar": ""}
    layer = NewBundle(digest="broken-layer", bundle_id="l", version="1", manifest={}, files=files,
                      tenant_id=tenant_id, base_digest=BOOK.digest)  # fmt: skip
    term = Term(bundle=layer, effective_from=now(), effective_until=None, cause=PublicationCause.PUBLISHED)
    await kept_and_published(db, tenant_id, Plan(seen=1, terms=(term,)), "staff:x", None)


async def two_tenants(owner: Database) -> None:
    await put_base(owner, NewBundle(digest=BOOK.digest, bundle_id="small", version="1", manifest={}, files=FILES))
    for name in ("one", "two"):
        told = {"id": name, "name": name, "kind": "saas", "stage": "draft_only", "policy_digest": BOOK.digest}
        await provision_tenant(owner, NewTenant(**told, staff=(), articles=()))
