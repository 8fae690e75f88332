"""Whatever is asked for in whatever order, nobody gets back more than they paid, and the books agree."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess

MODES = ("error_before_commit", "reject", "duplicate", "delay_ms:1")
#: which resource, which share of its price in percent, whether to know its version, a fault, whether to send it twice
STEP = st.tuples(
    st.integers(0, 3), st.integers(1, 130), st.booleans(), st.none() | st.sampled_from(MODES), st.booleans()
)


def resources(account: Json) -> list[Json]:
    """Two orders and the payments of the same orders."""
    chosen: list[Json] = account["orders"][:2]
    return chosen + [p for order in chosen for p in account["payments"] if p["order_id"] == order["id"]]


def refund_of(account: Json, resource: Json, percent: int, version_known: bool) -> Json:
    taken = resource["amount_minor"] if "captured_at" in resource else resource["captured_minor"]
    return {
        "operation_id": str(uuid.uuid4()),
        "customer_id": account["customer"]["id"],
        "payment_id" if "captured_at" in resource else "order_id": resource["id"],
        "amount_minor": max(1, taken * percent // 100),
        "currency": resource["currency"],
        "expected_version": resource["version"] if version_known else 1,
    }


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=12))
def test_what_is_given_back_never_exceeds_what_was_captured(
    running: ShopProcess, steps: list[tuple[int, int, bool, str | None, bool]]
) -> None:
    shop = running
    assert shop.http.post("/_reset").status_code == 200
    tenant, customer = next(shop.customers("marketplace"))
    confirmed: dict[str, int] = {}
    for which, percent, version_known, mode, twice in steps:
        account = shop.account(tenant, customer["id"])
        body = refund_of(account, resources(account)[which], percent, version_known)
        if mode:
            shop.arm(mode)
        for _ in range(2 if twice else 1):
            if shop.refund(tenant, body).status_code == 201:
                confirmed[body["operation_id"]] = body["amount_minor"]
    assert {effect["operation_id"]: effect["amount_minor"] for effect in shop.effects()} == confirmed
    account = shop.account(tenant, customer["id"])
    for order in account["orders"]:
        assert 0 <= order["refunded_minor"] <= order["captured_minor"]
        paid = [payment for payment in account["payments"] if payment["order_id"] == order["id"]]
        assert sum(payment["refunded_minor"] for payment in paid) == order["refunded_minor"]
    before = sum(order["refunded_minor"] for order in customer["orders"])
    assert sum(order["refunded_minor"] for order in account["orders"]) - before == sum(confirmed.values())
