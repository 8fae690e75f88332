"""The shop's rules about money and subscriptions, over HTTP."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess


def again(body: Json, **other: Any) -> Json:
    return {**body, "operation_id": str(uuid.uuid4()), **other}


def find(shop: ShopProcess, tenant: str, customer: str, group: str, ident: str) -> Json:
    found: Json = next(part for part in shop.account(tenant, customer)[group] if part["id"] == ident)
    return found


def test_refunding_an_order_books_it_on_its_payment_too(shop: ShopProcess) -> None:
    tenant, body, order = shop.refundable()
    answer = shop.refund(tenant, {**body, "amount_minor": 100})
    assert answer.status_code == 201
    done = answer.json()
    assert done["id"].startswith("re_")
    assert {**done, "id": "", "at": ""} == {
        "id": "", "operation_id": body["operation_id"], "kind": "refund", "resource": order["id"],
        "resource_kind": "order", "amount_minor": 100, "currency": order["currency"], "at": "",
    }  # fmt: skip
    account = shop.account(tenant, body["customer_id"])
    now = next(part for part in account["orders"] if part["id"] == order["id"])
    payment = next(part for part in account["payments"] if part["order_id"] == order["id"])
    assert (now["refunded_minor"], now["version"], now["status"]) == (100, order["version"] + 1, "delivered")
    assert (payment["refunded_minor"], payment["version"], payment["status"]) == (100, 2, "partially_refunded")


def test_refunding_a_payment_books_it_on_its_order_too(shop: ShopProcess) -> None:
    tenant, body, order = shop.refundable()
    payment = next(p for p in shop.account(tenant, body["customer_id"])["payments"] if p["order_id"] == order["id"])
    body = {**body, "order_id": None, "payment_id": payment["id"], "expected_version": payment["version"]}
    assert shop.refund(tenant, body).json()["resource"] == payment["id"]
    now = find(shop, tenant, body["customer_id"], "orders", order["id"])
    assert (now["refunded_minor"], now["status"], now["version"]) == (order["captured_minor"], "refunded", 2)


def test_a_second_charge_can_be_given_back_and_the_first_stays(shop: ShopProcess) -> None:
    tenant, customer, order = next(
        (tenant, customer, order)
        for tenant, customer in shop.customers("marketplace")
        for order in customer["orders"]
        if sum(payment["order_id"] == order["id"] for payment in customer["payments"]) == 2
    )
    first, second = (payment for payment in customer["payments"] if payment["order_id"] == order["id"])
    half = order["captured_minor"] // 2
    assert first["amount_minor"] == second["amount_minor"] == half
    body = {"customer_id": customer["id"], "order_id": order["id"], "amount_minor": half, "currency": order["currency"]}
    assert shop.refund(tenant, again(body, expected_version=1)).status_code == 201
    kept = find(shop, tenant, customer["id"], "payments", first["id"])
    given_back = find(shop, tenant, customer["id"], "payments", second["id"])
    assert (kept["status"], given_back["status"]) == ("captured", "refunded")


def test_a_refund_that_breaks_a_rule_is_refused_and_changes_nothing(shop: ShopProcess) -> None:
    tenant, body, order = shop.refundable()
    stranger = next(c["id"] for _, c in shop.customers("marketplace") if c["id"] != body["customer_id"])
    cases: list[tuple[Json, int, str]] = [
        ({"expected_version": 7}, 409, "version_conflict"),
        ({"amount_minor": body["amount_minor"] + 1}, 422, "exceeds_captured"),
        ({"currency": "JPY"}, 422, "wrong_currency"),
        ({"customer_id": stranger}, 404, "unknown_resource"),
        ({"order_id": "A-0"}, 404, "unknown_resource"),
        ({"order_id": None, "payment_id": "pay_none"}, 404, "unknown_resource"),
    ]
    for other, status, error in cases:
        refused = again(body, **other)
        answer = shop.refund(tenant, refused)
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert set(answer.json()) == {"error", "title", "operation_id"}
        assert shop.lookup(tenant, refused["operation_id"]).json()["status"] == "refused"
    assert shop.refund("nimbus-saas", again(body)).json()["error"] == "unknown_resource"
    assert find(shop, tenant, body["customer_id"], "orders", order["id"]) == order
    assert not shop.effects()


@pytest.mark.parametrize("status", ["cancelled", "refunded"])
def test_what_was_given_back_is_not_refundable(shop: ShopProcess, status: str) -> None:
    tenant, customer, order = next(
        (tenant, customer, order)
        for tenant, customer in shop.customers("marketplace")
        for order in customer["orders"]
        if order["status"] == status
    )
    body = {"customer_id": customer["id"], "order_id": order["id"], "amount_minor": 1, "currency": order["currency"]}
    answer = shop.refund(tenant, again(body, expected_version=order["version"]))
    assert (answer.status_code, answer.json()["error"]) == (422, "not_refundable")


def test_two_operations_at_once_never_refund_one_order_twice(shop: ShopProcess) -> None:
    tenant, body, order = shop.refundable()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shop.refund(tenant, again(body)), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    now = find(shop, tenant, body["customer_id"], "orders", order["id"])
    assert now["refunded_minor"] == order["captured_minor"]
    late = shop.refund(tenant, again(body, expected_version=now["version"]))
    assert (late.status_code, late.json()["error"]) == (422, "not_refundable")


def test_a_subscription_is_cancelled_once(shop: ShopProcess) -> None:
    tenant, customer = next(shop.customers("saas"))
    plan = next(part for part in customer["subscriptions"] if part["status"] == "active")
    path = f"/tenants/{tenant}/subscriptions/{plan['id']}/cancel"
    body: Json = {"customer_id": customer["id"], "expected_version": plan["version"]}
    done = shop.write(path, again(body))
    assert done.status_code == 201
    assert done.json()["id"].startswith("ca_")
    assert (done.json()["kind"], done.json()["amount_minor"]) == ("cancel_subscription", 0)
    now = find(shop, tenant, customer["id"], "subscriptions", plan["id"])
    assert (now["status"], now["renews_at"], now["version"]) == ("cancelled", None, 2)
    assert shop.write(path, again(body)).json()["error"] == "version_conflict"
    assert shop.write(path, again(body, expected_version=2)).json()["error"] == "already_cancelled"
