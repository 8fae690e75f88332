"""Laws of publishing: whole or not at all, from when it says, back at once, and always on record."""

import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.refusal import BundleUnfit, NotFound, Refusal
from policy.bundle import BASE, read_folder
from publishing.publish import bundle_of, publish_base, roll_back
from store.database import Database
from store.policies import PublicationCause, bundles, find_bundle, in_force, publications
from tests.conftest import MakeTenant, put_in_force
from tests.publishing.books import BOOK, STRICTER, here, layer, newer, now, publish


async def test_a_layer_counts_over_its_base_as_soon_as_it_is_published(db: Database, tenant: str) -> None:
    done = await publish(db, tenant)
    assert await in_force(db, tenant, now()) == done.publication.digest == done.examined.digest
    loaded = await bundle_of(db, tenant, done.publication.digest)
    assert loaded.rule_ids == BOOK.rule_ids | {"small-refunds-only-up-to-ten"}
    assert loaded.base is not None
    assert loaded.base.digest == BOOK.digest


async def test_a_bundle_counts_from_its_time_until_its_time_and_then_what_was_before_does(
    db: Database, tenant: str
) -> None:
    begins, ends = now() + timedelta(hours=1), now() + timedelta(hours=2)
    dated = layer(tenant, effective_from=begins.isoformat(), effective_until=ends.isoformat())
    done = await publish(db, tenant, dated)
    found = [await in_force(db, tenant, at) for at in (now(), begins, ends - timedelta(seconds=1), ends)]
    assert found == [BOOK.digest, done.publication.digest, done.publication.digest, BOOK.digest]


async def test_nothing_counts_from_before_it_was_published(db: Database, tenant: str) -> None:
    before = now()
    done = await publish(db, tenant)
    assert done.publication.effective_from >= before
    assert await in_force(db, tenant, before - timedelta(seconds=1)) == BOOK.digest


GIVEN = json.dumps({"given": "refund", "request": {"principal": {"type": "Customer", "id": "c"}}})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rules": "forbid (principal"}, "limits.cedar:1"),
        ({"rules": STRICTER.replace('@id("small-refunds-only-up-to-ten")', "")}, "@id"),
        ({"rules": STRICTER.replace("amount_minor", "amount_major")}, "limits.cedar:4"),
        ({"rules": STRICTER.replace("small-refunds-only-up-to-ten", "evidence-too-old")}, "evidence-too-old"),
        ({"withdraws": ["evidence-too-old"]}, "evidence-too-old"),
        ({"tenant": "somebody-else"}, "somebody-else"),
        ({"base": "retail"}, "retail"),
        ({"effective_until": "2025-01-01T00:00:00Z"}, "effective_until"),
        ({"cases": GIVEN + '\n{"case": 1}'}, "cases.jsonl:2"),
    ],
)
async def test_what_does_not_load_or_fit_publishes_nothing(
    changes: dict[str, Any], told: str, db: Database, tenant: str
) -> None:
    before = await publications(db, tenant), len(await bundles(db, tenant))
    with pytest.raises(BundleUnfit) as refused:
        await publish(db, tenant, layer(tenant, **changes))
    assert told in refused.value.detail
    assert (await publications(db, tenant), len(await bundles(db, tenant))) == before


async def test_a_case_that_comes_out_otherwise_publishes_nothing(db: Database, tenant: str) -> None:
    given = next(line for line in read_folder(BASE)["cases.jsonl"].splitlines() if '"refund"' in line)
    wrong = json.dumps({"case": "never", "of": "refund", "verdict": "permit", "rules": ["refund-with-confirmation"]})
    with pytest.raises(BundleUnfit) as refused:
        await publish(db, tenant, layer(tenant, cases=f"{given}\n{wrong}"))
    assert "cases.jsonl:2" in refused.value.detail
    assert await in_force(db, tenant, now()) == BOOK.digest


async def test_a_version_names_one_content_for_good(db: Database, tenant: str) -> None:
    first = await publish(db, tenant)
    again = await publish(db, tenant)
    assert again.publication.digest == first.publication.digest
    with pytest.raises(BundleUnfit, match="version of its own"):
        await publish(db, tenant, layer(tenant, STRICTER.replace("1000", "2000")))


async def test_a_rollback_counts_at_once_and_is_a_publication_of_its_own(db: Database, tenant: str) -> None:
    done = await publish(db, tenant)
    back = (await roll_back(db, tenant, None, "staff:mia", "too strict", now())).publication
    assert back.cause is PublicationCause.ROLLED_BACK
    assert await in_force(db, tenant, now()) == BOOK.digest
    again = (await roll_back(db, tenant, done.publication.digest, "staff:mia", None, now())).publication
    assert await in_force(db, tenant, now()) == again.digest == done.publication.digest
    assert [p.n for p in await publications(db, tenant)] == [5, 4, 3, 2, 1]


async def test_there_is_no_going_back_to_what_never_counted(db: Database, tenant: str, make_tenant: MakeTenant) -> None:
    later = await publish(db, tenant, layer(tenant, effective_from=(now() + timedelta(days=1)).isoformat()))
    with pytest.raises(Refusal):
        await roll_back(db, tenant, later.publication.digest, "staff:mia", None, now())
    with pytest.raises(Refusal):
        await roll_back(db, make_tenant(), None, "staff:mia", None, now())


async def test_a_bundle_is_found_by_what_people_call_it_and_never_another_tenants(
    db: Database, tenant: str, make_tenant: MakeTenant
) -> None:
    digest = (await publish(db, tenant)).publication.digest
    for name in (digest, digest[:8], "stricter", "stricter@1"):
        assert (await find_bundle(db, tenant, name)).digest == digest
    for name in (digest, "stricter", "stricter@2", digest[:3]):
        with pytest.raises(NotFound):
            await find_bundle(db, make_tenant() if name != "stricter@2" else tenant, name)


async def test_a_base_counts_for_all_and_their_layers_are_made_anew_over_it(
    db: Database, owner_db: Database, owner: psycopg.Connection[Any], tenant: str, make_tenant: MakeTenant
) -> None:
    plain = make_tenant()
    put_in_force(owner, plain, BOOK.digest)
    await publish(db, tenant)
    examined = await publish_base(db, owner_db, [tenant, plain], newer(), "operator:olga", None, here, now())
    assert await in_force(db, plain, now()) == examined.digest
    layered = await bundle_of(db, tenant, await in_force(db, tenant, now()))
    assert layered.base is not None
    assert layered.base.digest == examined.digest
    assert "small-refunds-only-up-to-ten" in layered.rule_ids
    assert (await publications(db, tenant))[0].cause is PublicationCause.REBASED


async def test_a_base_that_one_layer_does_not_fit_over_counts_for_nobody(
    db: Database, owner_db: Database, owner: psycopg.Connection[Any], tenant: str, make_tenant: MakeTenant
) -> None:
    plain = make_tenant()
    put_in_force(owner, plain, BOOK.digest)
    before = await publish(db, tenant)
    clashing = {**newer(), "clash.cedar": STRICTER}
    with pytest.raises(BundleUnfit, match=tenant):
        await publish_base(db, owner_db, [plain, tenant], clashing, "operator:olga", None, here, now())
    assert await in_force(db, plain, now()) == BOOK.digest
    assert await in_force(db, tenant, now()) == before.publication.digest


async def test_every_publication_is_in_the_audit_with_who_and_why(
    db: Database, owner: psycopg.Connection[Any], tenant: str
) -> None:
    done = await publish(db, tenant)
    query = "SELECT actor, body FROM audit WHERE tenant_id = %s AND kind = 'publication' ORDER BY n DESC LIMIT 1"
    actor, body = owner.execute(query, (tenant,)).fetchone() or (None, "{}")
    told = json.loads(body)
    assert (actor, told["digest"], told["note"]) == ("staff:mia", done.publication.digest, "less risk")
