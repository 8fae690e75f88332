"""Rates hold per principal and per tenant, and no tenant's rate uses up another's."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.principal import VerifiedPrincipal
from gateway.app import create_app
from gateway.rates import MovingWindow
from tests.conftest import MakeCustomer, MakeTenant
from tests.gateway.conftest import MakeDoors
from tests.store.world import Talk


async def test_messages_of_one_principal_are_limited_and_nobody_elses(
    make_doors: MakeDoors, calling: Any, talk: Talk, make_customer: MakeCustomer
) -> None:
    async with calling(create_app(make_doors(customer_messages_per_minute_max=5))) as caller:
        path = f"/conversations/{talk.id}/messages"
        answers = [
            await caller.post(path, {"client_message_id": f"m{n}", "text": "x"}, talk.customer) for n in range(7)
        ]
        assert [answer.status_code for answer in answers] == [202] * 5 + [429] * 2
        limited = answers[-1]
        assert limited.json()["type"].endswith("rate-limited")
        assert 0 < int(limited.headers["retry-after"]) <= 60
        assert len(await talk.log()) == 5
        assert (await caller.get(path.replace("messages", "events"), talk.customer)).status_code == 200
        other = make_customer(talk.tenant)
        assert (await caller.post("/conversations", {}, other)).status_code == 201


async def test_a_tenant_over_its_rate_starves_no_other(
    make_doors: MakeDoors,
    calling: Any,
    customer: VerifiedPrincipal,
    make_tenant: MakeTenant,
    make_customer: MakeCustomer,
) -> None:
    async with calling(create_app(make_doors(tenant_requests_per_second_max=10))) as caller:
        quiet = make_customer(make_tenant())

        async def ask(who: VerifiedPrincipal) -> int:
            answer = await caller.post("/conversations/search", {}, who)
            return int(answer.status_code)

        loud = await asyncio.gather(*(ask(customer) for _ in range(60)))
        assert loud.count(429) > 0
        heard = []
        for _ in range(5):
            flood = [asyncio.create_task(ask(customer)) for _ in range(20)]
            heard.append(await ask(quiet))
            await asyncio.gather(*flood)
        assert heard == [200] * 5
        await asyncio.sleep(1.05)
        assert await ask(customer) == 200


async def test_a_refused_message_costs_its_tenant_nothing(
    make_doors: MakeDoors, calling: Any, customer: VerifiedPrincipal, make_customer: MakeCustomer
) -> None:
    app = create_app(make_doors(customer_messages_per_minute_max=1, tenant_requests_per_second_max=8))
    async with calling(app) as caller:
        for _ in range(30):
            await caller.post("/conversations", {}, customer)
        other = make_customer(customer.tenant_id)
        assert (await caller.post("/conversations", {}, other)).status_code == 201


@given(st.lists(st.floats(0, 3, allow_nan=False), max_size=60), st.integers(1, 5))
def test_no_window_of_its_span_ever_holds_more_than_the_limit(pauses: list[float], limit: int) -> None:
    now = 0.0
    window = MovingWindow(limit, 10.0, clock=lambda: now)
    admitted: list[float] = []
    for pause in pauses:
        now += pause
        if (wait_s := window.wait_s("k")) == 0:
            window.admit("k")
            admitted.append(now)
        else:
            assert 0 < wait_s <= 10.0 + 1e-9
    for at in admitted:
        assert sum(at - 10.0 < other <= at for other in admitted) <= limit


def test_quiet_keys_are_forgotten() -> None:
    now = 0.0
    window = MovingWindow(5, 1.0, clock=lambda: now)
    for n in range(1_000):
        window.admit(f"k{n}")
    now = 61.0
    window.admit("last")
    assert len(window) == 1
