"""What the chat shows before anybody has signed in: the sites of its own organisation, and no other's."""

import pytest
from pydantic import ValidationError

from domain.desk import DeskSettings, Widget
from store.database import Database
from store.desk import set_desk
from tests.conftest import MakeTenant
from tests.gateway.caller import Caller

SHOP = "https://shop.example"


async def test_the_chat_may_be_framed_where_its_own_organisation_says_and_nowhere_else(
    caller: Caller, db: Database, make_tenant: MakeTenant
) -> None:
    one, other = make_tenant(), make_tenant()
    document = DeskSettings(widget=Widget(allowed_origins=(SHOP,), languages=("de", "en")))
    await set_desk(db, one, document, 0, "staff:admin")
    assert (await caller.get(f"/widget?tenant={one}")).json() == {
        "name": one,
        "allowed_origins": [SHOP],
        "languages": ["de", "en"],
    }
    assert (await caller.get(f"/widget?tenant={other}")).json()["allowed_origins"] == []


@pytest.mark.parametrize("query", ["?tenant=nobody", "?tenant=../x", "?tenant=%00"])
async def test_an_organisation_that_is_not_there_has_no_chat(query: str, caller: Caller) -> None:
    assert (await caller.get(f"/widget{query}")).status_code == 404


async def test_a_chat_is_always_some_organisations(caller: Caller) -> None:
    assert (await caller.get("/widget")).status_code == 422


@pytest.mark.parametrize(
    "origin",
    ["*", "https://*", "http://shop.example", "https://shop.example/", "https://a.example; script-src *", "https://a b",
     "null", "https://shop.example:0", "'self'", "HTTPS://shop.example", "https://shop.example\n"],
)  # fmt: skip
def test_a_site_is_one_origin_and_never_a_pattern_or_a_directive(origin: str) -> None:
    with pytest.raises(ValidationError):
        Widget(allowed_origins=(origin,))
