"""Laws of the tools of every page: what the palette finds, and for whom."""

from domain.principal import VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console import staffroom
from tests.console.staffroom import Staffroom
from tests.gateway import conftest as gateway
from tests.store.world import Talk

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, customer, talk, agent = gateway.tenant, gateway.customer, gateway.talk, gateway.agent

Who = VerifiedPrincipal


async def found(room: Staffroom, asked: str, who: Who) -> list[str]:
    answer = await room.http.get("/console/find", params={"q": asked}, headers=room.session(who))
    assert answer.status_code == 200, answer.text
    return [item["href"] for item in answer.json()["items"]]


async def test_a_conversation_is_found_by_its_id_its_customer_and_its_words(
    room: Staffroom, talk: Talk, agent: Who
) -> None:
    await talk.say("My kettle whistles in the night.")
    for asked in (talk.id, talk.customer.id, "kettle whistles"):
        assert await found(room, asked, agent) == [f"/console/conversations/{talk.id}"]
    assert await found(room, "teapot", agent) == []


async def test_whatever_is_typed_finds_something_or_nothing(room: Staffroom, talk: Talk, agent: Who) -> None:
    for asked in ("", " ", "../etc", "a/b", "%00", "\x00", "x" * 5_000, "ü€", "'; --", "?owner=bot"):
        assert await found(room, asked, agent) == []


async def test_nobody_finds_what_is_another_tenants(
    room: Staffroom, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    await talk.say("My kettle whistles in the night.")
    stranger = make_staff(make_tenant())
    for asked in (talk.id, talk.customer.id, "kettle"):
        assert await found(room, asked, stranger) == []


async def test_palette_and_sheet_are_on_every_page(room: Staffroom, agent: Who) -> None:
    for path in ("/approvals", "/drafts", "/knowledge", "/policy"):
        page = (await room.get(path, agent)).text
        assert 'id="palette"' in page
        assert 'id="keys-sheet"' in page
        assert " style=" not in page
