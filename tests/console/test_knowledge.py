"""Laws of the knowledge's pages: what counts on a day, what a version says otherwise, and text that stays text."""

from datetime import UTC, datetime
from typing import Any

import psycopg

from domain.principal import VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console import staffroom
from tests.console.staffroom import Staffroom
from tests.gateway import conftest as gateway

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, agent = gateway.tenant, gateway.agent

Who = VerifiedPrincipal
Owner = psycopg.Connection[Any]
EVIL = "<script>alert(1)</script> [x](javascript:alert(1))"


def keep(owner: Owner, tenant: str, version: int, body: str, since: int, **more: Any) -> None:
    """Keep a reviewed version of the page `returns`, effective from that year on."""
    row = {"language": "en", "title": "Returns", "reviewed_by": "Mia", **more}
    owner.execute(
        "INSERT INTO articles (tenant_id, slug, version, language, title, body, reviewed_by, effective_from)"
        " VALUES (%s, 'returns', %s, %s, %s, %s, %s, %s)",
        (tenant, version, row["language"], row["title"], body, row["reviewed_by"], datetime(since, 1, 1, tzinfo=UTC)),
    )


async def test_what_counts_on_a_day_is_what_is_read(room: Staffroom, owner: Owner, tenant: str, agent: Who) -> None:
    keep(owner, tenant, 1, "Within 30 days.", 2020)
    keep(owner, tenant, 2, "Within 14 days.", 2024)
    keep(owner, tenant, 3, "Within 7 days.", 2100)
    now = await room.words("/knowledge/returns", agent)
    assert "Within 14 days." in now
    assert "Now version 2 counts." in now
    then = await room.words("/knowledge/returns?at=2023-12-31", agent)
    assert "Within 30 days." in then
    assert "On 2023-12-31 version 1 counts." in then
    assert "On 2019-12-31 none counts" in await room.words("/knowledge/returns?at=2019-12-31", agent)
    assert "v3 from 2100-01-01" in await room.words("/knowledge", agent)


async def test_two_versions_are_compared_word_by_word(room: Staffroom, owner: Owner, tenant: str, agent: Who) -> None:
    keep(owner, tenant, 1, "Within 30 days.", 2020)
    keep(owner, tenant, 2, "Within 14 days.", 2024)
    page = (await room.get("/knowledge/returns?version=2&with=1", agent)).text
    assert "Within <del>30</del><ins>14</ins> days." in page


async def test_one_row_stands_for_a_page_in_all_its_languages(
    room: Staffroom, owner: Owner, tenant: str, agent: Who
) -> None:
    keep(owner, tenant, 1, "Within 30 days.", 2020)
    keep(owner, tenant, 1, "Innerhalb von 30 Tagen.", 2020, language="de", title="Rückgabe", reviewed_by=None)
    shelf = await room.words("/knowledge", agent)
    assert "1 page Returns" in shelf
    assert "otherwise in de" in shelf
    assert "Rückgabe" in await room.words("/knowledge?language=de", agent)


async def test_markup_in_a_page_stays_text(room: Staffroom, owner: Owner, tenant: str, agent: Who) -> None:
    keep(owner, tenant, 1, EVIL, 2020, title=EVIL)
    for path in (
        "/knowledge",
        "/knowledge/returns",
        f"/knowledge?language={EVIL}",
        "/knowledge/returns?version=1&with=1",
    ):
        page = (await room.get(path, agent)).text
        assert "<script>alert" not in page
        assert 'href="javascript' not in page


async def test_pages_of_another_tenant_are_not_there(
    room: Staffroom, owner: Owner, tenant: str, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    keep(owner, tenant, 1, "Within 30 days.", 2020)
    stranger = make_staff(make_tenant())
    assert "There is no page yet" in await room.words("/knowledge", stranger)
    assert (await room.get("/knowledge/returns", stranger)).status_code == 404
