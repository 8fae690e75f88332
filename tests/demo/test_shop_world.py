"""The demo world is as large and as varied as promised, the same for the same seed, and can be another one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.shop.shapes import Customer, Order, Tenant, World
from demo.shop.world import make_world
from demo.shop.world_file import WorldFileError, read_world

if TYPE_CHECKING:
    from tests.demo.conftest import ShopProcess

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(NOW)


def customers(world: World) -> list[Customer]:
    return [customer for tenant in world.tenants for customer in tenant.customers]


def orders(world: World) -> Iterator[Order]:
    return (order for customer in customers(world) for order in customer.orders)


def left(order: Order) -> int:
    return order.captured_minor - order.refunded_minor


def test_the_world_is_as_large_as_promised(world: World) -> None:
    assert {tenant.kind for tenant in world.tenants} == {"marketplace", "saas"}
    assert all(len(tenant.customers) >= 10 for tenant in world.tenants)
    assert len(customers(world)) >= 40
    assert len(list(orders(world))) >= 150
    assert sum(len(customer.subscriptions) for customer in customers(world)) >= 30


def test_many_small_deliveries_can_be_refunded(world: World) -> None:
    delivered = [order for order in orders(world) if order.status == "delivered"]
    assert sum(100 <= left(order) <= 5000 and not order.refunded_minor for order in delivered) >= 60
    assert sum(5000 < left(order) <= 50_000 for order in delivered) >= 5
    assert sum(left(order) > 50_000 for order in delivered) >= 3
    per_customer = [
        sum(o.status == "delivered" and 0 < left(o) <= 5000 for o in customer.orders) for customer in customers(world)
    ]
    assert sum(count >= 2 for count in per_customer) >= 10


def test_shipments_are_fresh_and_stale(world: World) -> None:
    shipped = [order.shipment.events[-1].at for order in orders(world) if order.status == "shipped" and order.shipment]
    assert len(shipped) >= 30
    assert 5 <= sum(NOW - at > timedelta(days=4) for at in shipped) <= len(shipped) - 5
    assert all(at <= NOW for at in shipped)


def test_a_carrier_was_asked_lately_unless_the_parcel_has_stopped_moving(world: World) -> None:
    for order in orders(world):
        if order.shipment:
            asked_at, last = order.shipment.observed_at, order.shipment.events[-1].at
            assert asked_at
            assert last <= asked_at <= NOW
            moving = order.status == "shipped" and NOW - last < timedelta(days=4)
            assert (NOW - asked_at < timedelta(hours=1)) == moving or order.status == "delivered"


def test_everybody_is_somebody_of_a_sort(world: World) -> None:
    people, market = customers(world), world.tenants[0]
    assert {(c.profile.access, c.profile.email_verified) for c in people} >= {
        ("ok", True),
        ("locked", True),
        ("locked", False),
    }
    assert any(len(c.addresses) > 1 for c in people)
    assert any(not address.verified for c in people for address in c.addresses)
    balances = [m.balance_minor for c in people for m in c.payment_methods if m.type == "gift_card"]
    assert min(filter(None, balances)) < 1_000 < max(filter(None, balances))
    variants = {v.item_id: v for product in market.products for v in product.variants}
    assert 0 < sum(not v.available for v in variants.values()) < len(variants) / 3
    for customer in people:
        assert all(s.plan in {plan.name for plan in tenant_of(world, customer).plans} for s in customer.subscriptions)
        for order in customer.orders:
            assert order.address_id in {address.id for address in customer.addresses}
            assert order.payment_method_id in {method.id for method in customer.payment_methods}
            assert all(variants[item.item_id].product_id == item.product_id for item in order.items)


def tenant_of(world: World, customer: Customer) -> Tenant:
    return next(tenant for tenant in world.tenants if customer in tenant.customers)


def test_every_state_of_an_order_and_a_subscription_occurs(world: World) -> None:
    states = Counter(order.status for order in orders(world))
    assert set(states) == {"delivered", "shipped", "processing", "cancelled", "refunded"}
    assert any(0 < order.refunded_minor < order.captured_minor for order in orders(world))
    plans = {subscription.status for customer in customers(world) for subscription in customer.subscriptions}
    assert plans == {"active", "past_due", "cancelled"}


def test_ids_are_unique_over_the_whole_world(world: World) -> None:
    ids = [customer.id for customer in customers(world)]
    for customer in customers(world):
        ids += [order.id for order in customer.orders] + [payment.id for payment in customer.payments]
        ids += [subscription.id for subscription in customer.subscriptions]
        ids += [address.id for address in customer.addresses] + [method.id for method in customer.payment_methods]
    assert len(ids) == len(set(ids))


def test_payments_add_up_to_their_orders_and_three_were_charged_twice(world: World) -> None:
    charged_twice = 0
    for customer in customers(world):
        for order in customer.orders:
            payments = [payment for payment in customer.payments if payment.order_id == order.id]
            assert sum(payment.amount_minor for payment in payments) == order.captured_minor
            assert sum(payment.refunded_minor for payment in payments) == order.refunded_minor
            charged_twice += len(payments) == 2
        for subscription in customer.subscriptions:
            times = sorted(
                p.captured_at for p in customer.payments if p.subscription_id == subscription.id and p.captured_at
            )
            assert times
            charged_twice += any(b - a < timedelta(hours=1) for a, b in pairwise(times))
    assert 2 <= charged_twice <= 3


def test_each_tenant_knows_both_currencies(world: World) -> None:
    assert [tenant.currency for tenant in world.tenants] == ["EUR", "USD"]
    for tenant in world.tenants:
        assert {payment.currency for c in tenant.customers for payment in c.payments} == {"EUR", "USD"}


def test_the_same_seed_and_time_make_the_same_world(world: World) -> None:
    assert make_world(NOW) == world
    assert make_world(NOW, seed=1) != world


def test_a_world_that_was_listed_can_be_loaded_again(own_shop: Callable[..., ShopProcess], tmp_path: Path) -> None:
    first = own_shop()
    listed = first.http.get("/_world")
    (tmp_path / "world.json").write_bytes(listed.content)
    (tmp_path / "second").mkdir()
    second = own_shop("--world", str(tmp_path / "world.json"), home=tmp_path / "second")
    assert second.http.get("/_world").json() == listed.json()


def test_a_bare_world_is_filled_in_and_can_be_refunded(own_shop: Callable[..., ShopProcess], tmp_path: Path) -> None:
    order = {"id": "A-1", "status": "delivered", "currency": "EUR", "captured_minor": 900, "refunded_minor": 100}
    shipment = {"status": "delivered", "events": [{"status": "delivered", "at": "2026-01-02T03:04:05Z"}]}
    customer = {"id": "cust-1", "name": "Ann", "email": "ann@example.com", "orders": [{**order, "shipment": shipment}]}
    tenants = [{"id": "tiny", "kind": "marketplace", "customers": [customer]}]
    (tmp_path / "world.json").write_text(json.dumps({"tenants": tenants}))
    shop = own_shop("--world", str(tmp_path / "world.json"))
    tenant, body, listed = shop.refundable()
    assert (listed["version"], listed["delivered_at"]) == (1, "2026-01-02T03:04:05.000000Z")
    assert shop.refund(tenant, body).status_code == 201
    assert shop.account(tenant, "cust-1")["payments"][0]["refunded_minor"] == 900


@pytest.mark.parametrize(
    "text", ["", "[]", '{"tenants": []}', '{"tenants": [{"id": "\\ud800", "kind": "saas"}]}', "\x00"]
)
def test_an_unreadable_world_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "world.json").write_text(text)
    with pytest.raises(WorldFileError) as refused:
        read_world(tmp_path / "world.json", NOW)
    assert "\n" not in str(refused.value)
