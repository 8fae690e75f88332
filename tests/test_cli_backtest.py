"""Laws of the commands that judge recorded decisions again, over a real database."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from auditing.backtesting import Run, Span, backtest
from auditing.setup import set_up
from bench.decisions import record
from policy.bundle import BASE, Bundle
from policy.examining.tally import Tally
from store.backtests import kept_backtests, one_backtest
from store.database import Database
from store.policies import NewBundle, put_base
from tests.conftest import Interlock, MakeTenant, put_in_force
from tests.postgres import Postgres

DECISIONS = 80
NO_SMALL_ONES = """
@id("no-small-ones") forbid (principal, action == Action::"refund", resource) when { context.amount_minor < 900 };
"""


@pytest.fixture
async def tenant(db: Database, postgres: Postgres, make_tenant: MakeTenant) -> str:
    """A tenant of the base bundle with decisions on record."""
    owner, base, tenant = Database(postgres.owner_url, 1), Bundle.load(), make_tenant()
    await put_base(owner, stored(base))
    await owner.close()
    with psycopg.connect(postgres.owner_url, autocommit=True) as connection:
        put_in_force(connection, tenant, base.digest)
    await record(db, tenant, DECISIONS, seed=7)
    return tenant


@pytest.fixture
def lower(tmp_path: Path) -> Path:
    """The base with a lower threshold for small refunds."""
    folder = shutil.copytree(BASE, tmp_path / "lower")
    text = (folder / "money.cedar").read_text("utf-8")
    (folder / "money.cedar").write_text(
        text.replace("amount_minor <= 5000 ", "amount_minor <= 3000 ").replace("5000 - ", "3000 - ")
    )
    return folder


def layer(tmp_path: Path, tenant: str, rules: str = NO_SMALL_ONES) -> Path:
    folder = tmp_path / "layer"
    folder.mkdir()
    manifest = {
        "id": "mine", "version": "1", "author": "mia", "effective_from": "2026-01-01T00:00:00Z", "changed": "c",
        "tenant": tenant, "base": "base",
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "own.cedar").write_text(rules)
    return folder


def stored(bundle: Bundle, tenant: str | None = None) -> NewBundle:
    return NewBundle(
        digest=bundle.digest,
        bundle_id=bundle.manifest.id,
        version=bundle.manifest.version,
        manifest=bundle.manifest.model_dump(mode="json"),
        files=dict(bundle.files),
        tenant_id=tenant,
        base_digest=bundle.base.digest if bundle.base else None,
    )


async def reported(interlock: Interlock, *words: str) -> dict[str, Any]:
    done = await interlock("policy", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    del told["seconds"]
    return told


async def test_nothing_flips_under_the_bundle_that_decided(interlock: Interlock, tenant: str) -> None:
    told = await reported(interlock, "backtest", str(BASE), "--tenant", tenant)
    assert (told["decisions"], told["same"], told["flips"], told["unjudged"]) == (DECISIONS, DECISIONS, [], [])


async def test_a_lower_threshold_is_told_by_kind_and_amount_with_its_rules(
    interlock: Interlock, tenant: str, lower: Path
) -> None:
    told = await reported(interlock, "backtest", str(lower), "--tenant", tenant)
    assert told["flipped"] > 0
    assert told["same"] + told["flipped"] == DECISIONS
    assert {(f["kind"], f["low_minor"], f["high_minor"], f["direction"]) for f in told["flips"]} == {
        ("refund", 3001, 5000, "stricter")
    }
    causes = {(*c["then"], *c["now"]) for f in told["flips"] for c in f["causes"]}
    assert causes == {("refund-small-with-confirmation", "refund-large-with-manager")}
    done = await interlock("policy", "backtest", str(lower), "--tenant", tenant)
    assert "30.01–50.00 EUR" in done.stdout
    assert "refund-small-with-confirmation → refund-large-with-manager" in done.stdout
    assert f"such as {told['flips'][0]['examples'][0]['operation_id']}" in done.stdout


async def test_more_processes_count_the_same(interlock: Interlock, tenant: str, lower: Path) -> None:
    words = ("backtest", str(lower), "--tenant", tenant, "--jobs")
    assert await reported(interlock, *words, "2") == await reported(interlock, *words, "1")


async def test_the_two_uses_make_up_the_whole(interlock: Interlock, tenant: str, lower: Path) -> None:
    words = ("backtest", str(lower), "--tenant", tenant)
    parts = [await reported(interlock, *words, "--use", use) for use in ("propose", "reserve", "both")]
    assert [part["decisions"] for part in parts] == [DECISIONS / 2, DECISIONS / 2, DECISIONS]
    assert parts[0]["flipped"] + parts[1]["flipped"] == parts[2]["flipped"]


async def test_what_was_stopped_is_a_whole_beginning_and_the_rest_can_be_judged_later(
    db: Database, tenant: str, lower: Path
) -> None:
    made = await set_up(db, [tenant], str(lower), None, None, 3)

    async def judged(span: Span, stop_after: int) -> Run:
        run = Run(Tally(3))

        def progress(_: int) -> None:
            if run.tally.decisions >= stop_after:
                raise InterruptedError

        try:
            await backtest(db, made.terms, span, 1, run, progress)
        except InterruptedError:
            assert not run.finished
        return run

    first = await judged(Span(chunk_rows=10), stop_after=30)
    assert (first.tally.decisions, first.through) == (30, {tenant: 32})  # two publications come before
    rest = await judged(Span(after=32), stop_after=10**6)
    whole = await judged(Span(), stop_after=10**6)
    assert (rest.finished, rest.tally.decisions) == (True, DECISIONS - 30)
    first.tally.add(rest.tally)
    assert first.tally == whole.tally


async def test_a_layer_is_judged_over_its_base_and_for_its_tenant_alone(
    interlock: Interlock, tenant: str, tmp_path: Path, make_tenant: MakeTenant
) -> None:
    folder = layer(tmp_path, tenant)
    told = await reported(interlock, "backtest", str(folder))
    assert (told["tenants"], told["decisions"]) == ([tenant], DECISIONS)
    assert {(f["kind"], f["now"]["verdict"]) for f in told["flips"]} == {("refund", "forbid")}
    assert {c["now"][0] for f in told["flips"] for c in f["causes"]} == {"no-small-ones"}
    other = await interlock("policy", "backtest", str(folder), "--tenant", make_tenant())
    assert (other.returncode, f"a layer of the tenant {tenant}" in other.stderr) == (1, True)


async def test_a_new_base_is_judged_under_the_layer_that_is_over_it(
    interlock: Interlock, tenant: str, lower: Path, tmp_path: Path, owner: psycopg.Connection[Any], postgres: Postgres
) -> None:
    mine = Bundle.load(layer(tmp_path, tenant), base=Bundle.load())
    keeper = Database(postgres.owner_url, 1)
    await put_base(keeper, stored(mine, tenant))
    await keeper.close()
    put_in_force(owner, tenant, mine.digest)
    told = await reported(interlock, "backtest", str(lower), "--tenant", tenant)
    bands = {(f["low_minor"], f["high_minor"], f["now"]["verdict"]) for f in told["flips"]}
    assert (1, 899, "forbid") in bands
    assert (3001, 5000, "ask") in bands


async def test_a_diff_is_between_two_bundles_published_or_not(interlock: Interlock, tenant: str, lower: Path) -> None:
    published = Bundle.load().digest[:12]
    told = await reported(interlock, "diff", published, str(lower), "--tenant", tenant)
    back = await reported(interlock, "diff", str(lower), published, "--tenant", tenant)
    assert told["flipped"] == back["flipped"] > 0
    assert {f["direction"] for f in told["flips"]} == {"stricter"}
    assert {f["direction"] for f in back["flips"]} == {"looser"}
    assert (await reported(interlock, "diff", str(lower), str(lower), "--tenant", tenant))["flipped"] == 0


async def test_only_what_was_decided_since_then_is_judged(interlock: Interlock, tenant: str) -> None:
    words = ("backtest", str(BASE), "--tenant", tenant, "--since")
    assert (await reported(interlock, *words, "1h"))["decisions"] == DECISIONS
    assert (await reported(interlock, *words, f"{datetime.now(UTC).year + 1}-01-01"))["decisions"] == 0


async def test_a_fact_that_was_not_recorded_is_said_by_its_name(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(BASE, tmp_path / "wider")
    schema = (folder / "schema.cedarschema").read_text("utf-8")
    (folder / "schema.cedarschema").write_text(schema.replace("type Actor = {", "type Actor = { shift: String,"))
    told = await reported(interlock, "backtest", str(folder), "--tenant", tenant)
    assert {one["why"] for one in told["unjudged"]} == {"context.actor.shift was not recorded"}
    assert sum(one["decisions"] for one in told["unjudged"]) == DECISIONS


async def test_the_report_says_where_a_bundle_that_was_named_was_found(
    interlock: Interlock, tenant: str, lower: Path
) -> None:
    base = Bundle.load()
    (lower / "refunds.txt").write_text(NO_SMALL_ONES)
    told = await interlock("policy", "diff", base.digest[:12], str(lower), "--tenant", tenant)
    assert f"({base.digest[:12]}, published {datetime.now(UTC).year}-" in told.stdout
    assert f", folder {lower})" in told.stdout
    assert "refunds.txt is not read; only manifest.json" in told.stderr
    shipped = await reported(interlock, "backtest", "retail", "--tenant", tenant)
    assert "comes with Interlock)" in shipped["under"]


async def test_what_is_no_bundle_says_what_would_be_right(interlock: Interlock, tenant: str, lower: Path) -> None:
    for name, told in (("nothing", "there is no bundle 'nothing': name a folder"), ("ab12cd", "there is no bundle")):
        done = await interlock("policy", "backtest", name, "--tenant", tenant)
        assert (done.returncode, done.stdout, told in done.stderr) == (1, "", True)
    (lower / "money.cedar").write_text('@id("x")\npermit (principal, action, resource) when { context.colour };')
    done = await interlock("policy", "backtest", str(lower), "--tenant", tenant)
    assert (done.returncode, "money.cedar:2: rule x does not fit the schema" in done.stderr) == (1, True)
    assert (await interlock("policy", "backtest", str(BASE), "--since", "soon")).returncode == 2


async def test_a_result_is_kept_for_the_staff_of_one_tenant_and_for_no_other(
    interlock: Interlock, tenant: str, lower: Path, db: Database, make_tenant: MakeTenant
) -> None:
    done = await interlock("policy", "backtest", str(lower), "--tenant", tenant, "--keep", "--json")
    (kept,) = await kept_backtests(db, tenant)
    assert (done.returncode, done.stderr) == (0, f"kept as {kept.id}\n")
    found = await one_backtest(db, tenant, kept.id)
    assert found is not None
    assert found.report == json.loads(done.stdout)
    assert (kept.decisions, kept.flipped) == (DECISIONS, found.report["flipped"])
    assert await kept_backtests(db, make_tenant()) == ()
    refused = await interlock("policy", "backtest", str(lower), "--keep")
    assert (refused.returncode, "--tenant" in refused.stderr) == (2, True)
