"""The numbers over HTTP: of whole days, however far away, and for the staff alone."""

import pytest

from domain.principal import VerifiedPrincipal
from tests.gateway.caller import Caller


@pytest.mark.parametrize(
    "days",
    [
        {"from": "9999-12-31", "to": "9999-12-31"},
        {"to": "9999-12-31"},
        {"to": "0001-01-01"},
        {"from": "0001-01-01", "to": "0001-01-01"},
        {"from": "2026-02-01", "to": "2026-01-01"},
        {"from": "2020-01-01"},
    ],
)
async def test_no_day_gives_a_500(caller: Caller, agent: VerifiedPrincipal, days: dict[str, str]) -> None:
    answer = await caller.get("/numbers", agent, params=days)
    assert answer.status_code in {200, 422}, answer.text
