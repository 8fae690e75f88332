"""What the shop has committed survives a SIGKILL, and what comes too late is refused."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess

StartShop = Callable[..., "ShopProcess"]


def test_a_kill_in_the_middle_loses_nothing_committed_and_commits_nothing_unfinished(own_shop: StartShop) -> None:
    shop = own_shop()
    tenant, body, order = shop.refundable()
    unfinished = {**body, "operation_id": "unfinished", "amount_minor": 1, "expected_version": order["version"] + 1}
    first = shop.refund(tenant, {**body, "amount_minor": 1})
    world = shop.http.get("/_world").json()
    shop.arm("delay_ms:5000")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shop.refund, tenant, unfinished)
        time.sleep(0.3)
        shop.process.kill()
        with pytest.raises(httpx.TransportError):
            waiting.result()
    shop.end(signal.SIGKILL)
    shop.start()
    assert shop.http.get("/_world").json() == world
    assert shop.lookup(tenant, body["operation_id"]).json()["effect"] == first.json()
    assert shop.lookup(tenant, "unfinished").status_code == 404
    again = shop.refund(tenant, {**body, "amount_minor": 1})
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert shop.refund(tenant, unfinished).status_code == 201


def refunds_until_killed(shop: ShopProcess, tenant: str, body: Json, name: str) -> list[str]:
    """Refunds one minor unit after the other; the operations that were confirmed before the shop died."""
    confirmed: list[str] = []
    version = version_of(shop, tenant, body)
    while True:
        operation = {**body, "operation_id": f"{name}-{version}", "amount_minor": 1, "expected_version": version}
        try:
            assert shop.refund(tenant, operation).status_code == 201
        except httpx.TransportError:
            return confirmed
        confirmed.append(operation["operation_id"])
        version += 1


def order_of(shop: ShopProcess, tenant: str, body: Json) -> Json:
    orders: list[Json] = shop.account(tenant, body["customer_id"])["orders"]
    return next(order for order in orders if order["id"] == body["order_id"])


def version_of(shop: ShopProcess, tenant: str, body: Json) -> int:
    return int(order_of(shop, tenant, body)["version"])


def test_kills_under_load_never_tear_an_effect_from_its_answer(own_shop: StartShop) -> None:
    shop = own_shop("--log-level", "error")
    tenant, body, _ = shop.refundable()
    for name in ("first", "second", "third"):
        killer = Timer(0.15, shop.process.kill)
        killer.start()
        confirmed = refunds_until_killed(shop, tenant, body, name)
        killer.join()
        shop.end(signal.SIGKILL)
        shop.start()
        committed = {effect["operation_id"] for effect in shop.effects()}
        assert confirmed
        assert set(confirmed) <= committed
        assert order_of(shop, tenant, body)["refunded_minor"] == len(committed)
        assert all(shop.lookup(tenant, operation).json()["status"] == "committed" for operation in committed)


def test_a_write_past_the_late_commit_bound_is_refused_for_good(own_shop: StartShop) -> None:
    shop = own_shop("--late-commit-bound-s", "0.2")
    tenant, body, _ = shop.refundable()
    shop.arm("delay_ms:400")
    answer = shop.refund(tenant, body)
    assert (answer.status_code, answer.json()["error"]) == (422, "too_late")
    assert shop.refund(tenant, body).content == answer.content
    assert not shop.effects()


def test_a_write_that_lay_in_the_socket_of_a_stopped_shop_is_late_too(own_shop: StartShop) -> None:
    shop = own_shop("--late-commit-bound-s", "1.2")
    tenant, body, _ = shop.refundable()
    shop.process.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shop.refund, tenant, body)
        time.sleep(1.8)
        shop.process.send_signal(signal.SIGCONT)
        assert waiting.result().json()["error"] == "too_late"
    time.sleep(1.3)
    assert shop.refund(tenant, {**body, "operation_id": "fresh"}).status_code == 201


def test_a_write_that_waits_during_a_reset_does_not_touch_the_fresh_world(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("delay_ms:500")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shop.refund, tenant, body)
        time.sleep(0.2)
        assert shop.http.post("/_reset").status_code == 200
        assert waiting.result().status_code == 500
    assert not shop.effects()


def test_a_stopped_shop_ends_cleanly_while_a_write_waits(own_shop: StartShop) -> None:
    shop = own_shop()
    tenant, body, _ = shop.refundable()
    shop.arm("delay_ms:60000")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shop.refund, tenant, body)
        time.sleep(0.2)
        shop.process.terminate()
        assert shop.process.wait(8) == 0
        outcome = waiting.exception() or waiting.result().status_code
        assert isinstance(outcome, httpx.TransportError) or outcome == 500
    shop.http.close()
    shop.start()
    assert not shop.effects()
