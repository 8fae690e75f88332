"""Laws of the audit over HTTP: for those whom the policy lets read it, page by page, as it was hashed."""

import psycopg
import pytest

from domain.audit import GENESIS, AuditRow, hash_of
from domain.principal import StaffRole, VerifiedPrincipal
from policy.bundle import Bundle
from tests.conftest import MakeStaff, MakeTenant
from tests.gateway.caller import Caller
from tests.gateway.conftest import Publish
from tests.store.world import Talk


@pytest.fixture
async def recorded(talk: Talk, publish: Publish) -> Talk:
    """A tenant under the base bundle, of which a good deal is on record."""
    await talk.settle(await talk.claimed())
    publish(talk.tenant, Bundle.load())
    return talk


async def test_pages_make_up_the_whole_chain(recorded: Talk, caller: Caller, make_staff: MakeStaff) -> None:
    finance = make_staff(recorded.tenant, StaffRole.FINANCE)
    rows: list[AuditRow] = []
    while True:
        answer = await caller.get(f"/audit?after={rows[-1].n if rows else 0}&limit=3", finance)
        assert answer.status_code == 200
        page = answer.json()
        rows += [AuditRow.model_validate(item) for item in page["items"]]
        if len(page["items"]) < 3:
            break
    before = GENESIS
    for n, row in enumerate(rows, start=1):
        assert (row.n, row.previous, row.hash) == (n, before, hash_of(row, before, n))
        before = row.hash
    assert page["head"] == {"n": len(rows), "hash": before}
    assert {row.kind for row in rows} == {"publication", "staff", "verdict", "move", "approval"}


@pytest.mark.parametrize("role", StaffRole)
async def test_only_who_may_read_it_reads_it(
    role: StaffRole, recorded: Talk, caller: Caller, make_staff: MakeStaff
) -> None:
    answer = await caller.get("/audit", make_staff(recorded.tenant, role))
    allowed = role in (StaffRole.MANAGER, StaffRole.FINANCE, StaffRole.ADMIN, StaffRole.TRUST_AND_SAFETY)
    assert answer.status_code == (200 if allowed else 403)


async def test_it_is_not_for_customers_or_machines(
    recorded: Talk, caller: Caller, visitor: VerifiedPrincipal, service: VerifiedPrincipal
) -> None:
    for who in (recorded.customer, visitor, service):
        assert (await caller.get("/audit", who)).status_code == 403
    assert (await caller.get("/audit")).status_code == 401


async def test_another_tenant_s_audit_is_not_there(
    recorded: Talk, caller: Caller, make_tenant: MakeTenant, make_staff: MakeStaff, publish: Publish
) -> None:
    other = make_tenant()
    publish(other, Bundle.load())
    answer = await caller.get("/audit", make_staff(other, StaffRole.FINANCE))
    assert {item["tenant_id"] for item in answer.json()["items"]} == {other}


@pytest.mark.parametrize("query", ["after=-1", "after=x", f"after={2**63}", "limit=0", "limit=501", "limit=1.5"])
async def test_a_page_that_cannot_be_is_refused(
    query: str, recorded: Talk, caller: Caller, make_staff: MakeStaff, owner: psycopg.Connection[object]
) -> None:
    answer = await caller.get(f"/audit?{query}", make_staff(recorded.tenant, StaffRole.FINANCE))
    assert answer.status_code == 422
