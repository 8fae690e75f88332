"""Asking a carrier anew: what is known is as of now, sometimes there is news, and nobody asks twice a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from demo.shop.carrier import NEWS, asked
from tests.demo.conftest import until

if TYPE_CHECKING:
    import httpx

    from tests.demo.conftest import Json, ShopProcess

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def refresh(shop: ShopProcess, tenant: str, order: str, key: str = "read-key") -> httpx.Response:
    path = f"/tenants/{tenant}/orders/{order}/tracking/refresh"
    return shop.http.post(path, headers={"Authorization": f"Bearer {key}"})


def stale(shop: ShopProcess) -> list[tuple[str, str, Json]]:
    """Every parcel under way whose carrier was asked days ago: tenant, customer, order."""
    old = datetime.now(UTC) - timedelta(days=4)
    return [
        (tenant, customer["id"], order)
        for tenant, customer in shop.customers("marketplace")
        for order in customer["orders"]
        if order["status"] == "shipped" and datetime.fromisoformat(order["shipment"]["observed_at"]) < old
    ]


def order_of(shop: ShopProcess, tenant: str, customer: str, ident: str) -> Json:
    orders: list[Json] = shop.account(tenant, customer)["orders"]
    return next(order for order in orders if order["id"] == ident)


def test_after_a_refresh_it_is_known_as_of_now_and_some_parcels_have_moved(shop: ShopProcess) -> None:
    seen = set()
    for tenant, customer, order in stale(shop):
        assert refresh(shop, tenant, order["id"]).status_code == 202
        now = order_of(shop, tenant, customer, order["id"])
        known_at = datetime.fromisoformat(now["shipment"]["observed_at"])
        assert datetime.now(UTC) - known_at < timedelta(seconds=10)
        news = now["shipment"]["events"][len(order["shipment"]["events"]) :]
        seen.add(news[0]["status"] if news else None)
        arrived = bool(news) and news[0]["status"] == "delivered"
        assert (now["status"] == "delivered", now["version"] - order["version"]) == (arrived, int(arrived))
        assert bool(now["delivered_at"]) == arrived
    assert seen == set(NEWS)


def test_a_carrier_is_not_asked_twice_within_a_minute(shop: ShopProcess) -> None:
    tenant, customer, order = stale(shop)[0]
    assert refresh(shop, tenant, order["id"]).status_code == 202
    known = order_of(shop, tenant, customer, order["id"])
    again = refresh(shop, tenant, order["id"])
    assert (again.status_code, again.json()["error"]) == (429, "asked_too_soon")
    assert 50 <= int(again.headers["retry-after"]) <= 60
    assert order_of(shop, tenant, customer, order["id"]) == known


def test_only_what_has_a_parcel_can_be_asked_about_and_only_with_the_read_key(shop: ShopProcess) -> None:
    tenant, _, order = stale(shop)[0]
    assert refresh(shop, tenant, order["id"], "write-key").status_code == 403
    assert refresh(shop, tenant, order["id"], "other").status_code == 401
    assert refresh(shop, tenant, "A-0").json()["error"] == "unknown_resource"
    assert refresh(shop, "nimbus-saas", order["id"]).status_code == 404
    unsent = next(o["id"] for _, c in shop.customers("marketplace") for o in c["orders"] if o["status"] == "processing")
    assert refresh(shop, tenant, unsent).json()["error"] == "no_shipment"


def test_a_slow_carrier_answers_later_and_a_reset_forgets_it(own_shop: Callable[..., ShopProcess]) -> None:
    shop = own_shop("--carrier-delay-s", "0.5")
    tenant, customer, order = stale(shop)[0]
    asked_at = refresh(shop, tenant, order["id"]).json()["expected_at"]
    assert order_of(shop, tenant, customer, order["id"]) == order
    until(lambda: order_of(shop, tenant, customer, order["id"])["shipment"]["observed_at"] >= asked_at[:21], 5)
    assert shop.http.post("/_reset").status_code == 200
    tenant, customer, order = stale(shop)[0]
    assert refresh(shop, tenant, order["id"]).status_code == 202
    assert shop.http.post("/_reset").status_code == 200
    fresh = order_of(shop, tenant, customer, order["id"])
    time.sleep(0.8)
    assert order_of(shop, tenant, customer, order["id"]) == fresh


def test_a_parcel_that_was_scanned_lately_or_has_arrived_has_no_news() -> None:
    for status, hours in (("in_transit", 5), ("delivered", 500)):
        event = {"status": status, "at": (NOW - timedelta(hours=hours)).isoformat(), "place": "Lyon FR"}
        for code in map(str, range(9)):
            parcel = {"carrier": "GLS", "tracking_code": code, "status": status, "events": [event], "observed_at": None}
            told = asked(parcel, NOW)
            assert told == {**parcel, "observed_at": "2026-03-04T12:00:00.000000Z"}
