"""Idempotency keys: one operation, one key, one effect, one answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.demo.conftest import ShopProcess


def test_a_repeated_result_is_replayed_word_for_word(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    first, second = shop.refund(tenant, body), shop.refund(tenant, body)
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert len(shop.effects(body["operation_id"])) == 1


def test_a_refusal_is_kept_even_when_it_would_succeed_now(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("reject")
    first, second = shop.refund(tenant, body), shop.refund(tenant, body)
    assert (first.status_code, first.json()["error"]) == (422, "declined")
    assert (second.content, second.headers["idempotent-replayed"]) == (first.content, "true")
    assert not shop.effects()


def test_a_key_with_another_body_is_a_misuse_that_is_not_kept(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    assert shop.refund(tenant, body).status_code == 201
    other = shop.refund(tenant, {**body, "amount_minor": 1})
    assert (other.status_code, other.json()["error"]) == (422, "key_reuse")
    assert shop.lookup(tenant, body["operation_id"]).json()["status"] == "committed"
    assert shop.refund(tenant, body).headers["idempotent-replayed"] == "true"


def test_one_key_at_the_same_time_has_one_effect_and_the_others_learn_that_it_runs(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("delay_ms:400")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shop.refund(tenant, body), range(8)))
    refused = [answer for answer in answers if answer.status_code != 201]
    assert len(refused) == 7
    assert {(answer.status_code, answer.json()["error"]) for answer in refused} == {(409, "key_in_use")}
    assert len(shop.effects(body["operation_id"])) == 1
    assert shop.refund(tenant, body).status_code == 201


def test_an_operation_is_found_right_after_its_commit_and_not_before(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    unknown = shop.lookup(tenant, body["operation_id"])
    assert (unknown.status_code, unknown.json()["error"]) == (404, "unknown_operation")
    done = shop.refund(tenant, body).json()
    found = shop.lookup(tenant, body["operation_id"]).json()
    assert (found["status"], found["effect"]) == ("committed", done)
    assert shop.lookup("nimbus-saas", body["operation_id"]).status_code == 404


def test_effects_are_listed_from_their_own_time_on(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    at = shop.refund(tenant, body).json()["at"]
    later = (datetime.fromisoformat(at) + timedelta(microseconds=1)).isoformat()
    counts = [
        len(shop.get(f"/tenants/{tenant}/effects{query}").json()["effects"])
        for query in ("", f"?since={at}", f"?since={later}")
    ]
    assert counts == [1, 1, 0]
    assert not shop.get("/tenants/nimbus-saas/effects").json()["effects"]
    assert shop.get(f"/tenants/{tenant}/effects?since=yesterday").status_code == 422


def test_a_key_is_forgotten_after_its_window_and_an_effect_is_not(own_shop: Callable[..., ShopProcess]) -> None:
    shop = own_shop("--key-window-s", "0.3")
    assert shop.http.get("/contract").json()["idempotency_key_window_s"] == 0.3
    tenant, body, order = shop.refundable()
    assert shop.refund(tenant, body).status_code == 201
    refused = {**body, "operation_id": "too-late-a-version"}
    assert shop.refund(tenant, refused).status_code == 409
    time.sleep(0.5)
    assert shop.lookup(tenant, refused["operation_id"]).status_code == 404
    assert shop.lookup(tenant, body["operation_id"]).json()["status"] == "committed"
    assert shop.refund(tenant, body).json()["error"] == "version_conflict"
    assert len(shop.effects()) == 1, order
