"""Laws of bases and layers in time: no tenant comes back to a base that its operator has replaced, and dates stand."""

import json
from datetime import datetime, timedelta

import psycopg
import pytest

from domain.refusal import BundleUnfit, Refusal
from publishing.publish import bundle_of, publish_base, roll_back
from store.database import Database
from store.policies import PublicationCause, in_force, publications
from tests.conftest import MakeTenant, put_in_force
from tests.publishing.books import BOOK, FILES, STRICTER, here, layer, newer, now, publish

NO_CREDIT = '@id("no-credit") forbid (principal, action == Action::"store_credit", resource);'
OTHER = STRICTER.replace("small-refunds-only-up-to-ten", "other")


async def base(db: Database, owner: Database, tenant: str, files: dict[str, str]) -> str:
    return (await publish_base(db, owner, [tenant], files, "operator:olga", None, here, now())).digest


async def rules_at(db: Database, tenant: str, at: datetime) -> frozenset[str]:
    return (await bundle_of(db, tenant, await in_force(db, tenant, at))).rule_ids


async def test_a_rollback_never_brings_an_old_base_back(db: Database, owner_db: Database, tenant: str) -> None:
    first = await publish(db, tenant)
    await base(db, owner_db, tenant, newer(NO_CREDIT))
    await publish(db, tenant, layer(tenant, OTHER, id="other"))
    done = await roll_back(db, tenant, first.publication.digest, "staff:mia", None, now())
    assert done.publication.digest != first.publication.digest
    assert await rules_at(db, tenant, now()) == BOOK.rule_ids | {"no-credit", "small-refunds-only-up-to-ten"}
    await roll_back(db, tenant, None, "staff:mia", None, now())
    assert "no-credit" in await rules_at(db, tenant, now())


async def test_a_layer_is_gone_back_to_by_what_it_says_over_whichever_base_it_is_named(
    db: Database, owner_db: Database, tenant: str
) -> None:
    first, comes = await publish(db, tenant), now() + timedelta(days=7)
    await base(db, owner_db, tenant, newer(NO_CREDIT, effective_from=comes.isoformat()))
    over_what_comes = await in_force(db, tenant, comes)
    await publish(db, tenant, layer(tenant, OTHER, id="other"))
    back = await roll_back(db, tenant, over_what_comes, "staff:mia", None, now())
    assert back.publication.digest == first.publication.digest
    assert await in_force(db, tenant, comes) == over_what_comes


async def test_without_a_layer_there_is_nothing_of_its_own_to_go_back_to(
    db: Database, owner_db: Database, tenant: str
) -> None:
    await base(db, owner_db, tenant, newer(NO_CREDIT))
    for to in (None, BOOK.digest):
        with pytest.raises(Refusal):
            await roll_back(db, tenant, to, "staff:mia", None, now())
    await publish(db, tenant)
    with pytest.raises(Refusal, match="a base of its time"):
        await roll_back(db, tenant, BOOK.digest, "staff:mia", None, now())
    assert "no-credit" in await rules_at(db, tenant, now())


async def test_a_layer_for_a_time_ends_when_it_said_however_often_its_base_changes(
    db: Database, owner_db: Database, tenant: str
) -> None:
    ends = now() + timedelta(days=7)
    await publish(db, tenant, layer(tenant, effective_until=ends.isoformat()))
    second = await base(db, owner_db, tenant, newer(NO_CREDIT))
    assert "small-refunds-only-up-to-ten" in await rules_at(db, tenant, ends - timedelta(seconds=1))
    assert await in_force(db, tenant, ends) == second


async def test_a_layer_to_come_comes_over_the_base_that_counts_then(
    db: Database, owner_db: Database, tenant: str
) -> None:
    begins = now() + timedelta(days=7)
    await publish(db, tenant, layer(tenant, effective_from=begins.isoformat()))
    second = await base(db, owner_db, tenant, newer(NO_CREDIT))
    assert await in_force(db, tenant, begins - timedelta(seconds=1)) == second
    assert await rules_at(db, tenant, begins) >= {"no-credit", "small-refunds-only-up-to-ten"}


async def test_a_layer_published_before_a_base_comes_does_not_keep_it_away(
    db: Database, owner_db: Database, tenant: str
) -> None:
    comes = now() + timedelta(days=7)
    second = await base(db, owner_db, tenant, newer(NO_CREDIT, effective_from=comes.isoformat()))
    await publish(db, tenant)
    assert "no-credit" not in await rules_at(db, tenant, now())
    assert await rules_at(db, tenant, comes) == BOOK.rule_ids | {"no-credit", "small-refunds-only-up-to-ten"}
    back = await roll_back(db, tenant, None, "staff:mia", None, now())
    assert back.publication.digest == BOOK.digest
    assert await in_force(db, tenant, comes) == second


async def test_a_layer_that_does_not_fit_over_a_base_to_come_is_refused_now(
    db: Database, owner_db: Database, tenant: str
) -> None:
    comes = now() + timedelta(days=7)
    second = await base(db, owner_db, tenant, newer(STRICTER, effective_from=comes.isoformat()))
    with pytest.raises(BundleUnfit, match=f"counts from {comes:%Y-%m-%d}.*taken by the base"):
        await publish(db, tenant)
    ends = (comes - timedelta(days=1)).isoformat()
    await publish(db, tenant, layer(tenant, effective_until=ends))
    assert await in_force(db, tenant, comes) == second


async def test_a_base_in_a_hurry_leaves_a_base_to_come_in_place(db: Database, owner_db: Database, tenant: str) -> None:
    comes = now() + timedelta(days=7)
    third = await base(db, owner_db, tenant, newer(NO_CREDIT, effective_from=comes.isoformat()))
    second = await base(db, owner_db, tenant, newer(OTHER))
    assert await in_force(db, tenant, now()) == second
    assert await in_force(db, tenant, comes) == third


async def test_a_base_goes_back_by_being_published_again(db: Database, owner_db: Database, tenant: str) -> None:
    first = await publish(db, tenant)
    await base(db, owner_db, tenant, newer(NO_CREDIT))
    assert await base(db, owner_db, tenant, dict(FILES)) == BOOK.digest
    assert await in_force(db, tenant, now()) == first.publication.digest


async def test_the_same_folder_may_be_published_again_over_a_new_base(
    db: Database, owner_db: Database, tenant: str
) -> None:
    await publish(db, tenant)
    await roll_back(db, tenant, None, "staff:mia", None, now())
    await base(db, owner_db, tenant, newer(NO_CREDIT))
    again = await publish(db, tenant)
    assert again.publication.cause is PublicationCause.PUBLISHED
    assert await rules_at(db, tenant, now()) >= {"no-credit", "small-refunds-only-up-to-ten"}


async def test_a_version_of_a_base_names_one_content_for_good(db: Database, owner_db: Database, tenant: str) -> None:
    with pytest.raises(BundleUnfit, match="version of its own"):
        await base(db, owner_db, tenant, newer(NO_CREDIT, version="1"))
    assert await in_force(db, tenant, now()) == BOOK.digest


async def test_a_tenants_layer_takes_no_version_of_a_base_away(db: Database, owner_db: Database, tenant: str) -> None:
    files = newer(NO_CREDIT)
    version = json.loads(files["manifest.json"])["version"]
    await publish(db, tenant, layer(tenant, OTHER, id="small", version=version))
    second = await base(db, owner_db, tenant, files)
    assert "no-credit" in (await bundle_of(db, tenant, second)).rule_ids


async def test_what_was_for_later_and_never_will_count_is_told(db: Database, tenant: str) -> None:
    later = await publish(db, tenant, layer(tenant, effective_from=(now() + timedelta(days=7)).isoformat()))
    done = await publish(db, tenant, layer(tenant, OTHER, id="other"))
    assert [p.n for p in done.called_off] == [later.publication.n]


async def test_a_base_counts_for_every_tenant_or_for_none(
    db: Database, owner_db: Database, owner: psycopg.Connection[object], tenant: str, make_tenant: MakeTenant
) -> None:
    other = make_tenant()
    put_in_force(owner, other, BOOK.digest)
    before = [await publications(db, one) for one in (tenant, other)]

    with pytest.raises(Refusal):
        await publish_base(
            db, owner_db, [tenant, "no-such-tenant"], newer(NO_CREDIT), "operator:olga", None, here, now()
        )
    assert [await publications(db, one) for one in (tenant, other)] == before
