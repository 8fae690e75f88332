"""Each way to misbehave does exactly what it says, and only as often as it was asked to."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess


def raw_answer(shop: ShopProcess, tenant: str, body: Json) -> bytes:
    """Every byte that comes back on the wire until the connection ends."""
    payload = json.dumps(body).encode()
    head = (
        f"POST /tenants/{tenant}/refunds HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer write-key\r\n"
        f"Idempotency-Key: {body['operation_id']}\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    received = b""
    with socket.create_connection((shop.http.base_url.host, shop.http.base_url.port or 0), timeout=10) as wire:
        wire.sendall(head.encode() + payload)
        while part := wire.recv(4096):
            received += part
    return received


def test_a_dropped_response_sends_no_byte_and_the_effect_stands(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("drop_response_after_commit", times=2)
    assert raw_answer(shop, tenant, body) == b""
    assert shop.lookup(tenant, body["operation_id"]).json()["status"] == "committed"
    with pytest.raises(httpx.RemoteProtocolError):
        shop.refund(tenant, body)
    assert shop.refund(tenant, body).headers["idempotent-replayed"] == "true"
    assert len(shop.effects(body["operation_id"])) == 1


def test_an_error_before_commit_keeps_nothing(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("error_before_commit")
    assert shop.refund(tenant, body).status_code == 500
    assert shop.lookup(tenant, body["operation_id"]).status_code == 404
    assert not shop.effects()
    assert shop.refund(tenant, body).status_code == 201


def test_a_delay_puts_off_the_answer_and_the_commit(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("delay_ms:700")
    began = time.monotonic()
    with pytest.raises(httpx.ReadTimeout):
        shop.http.post(
            f"/tenants/{tenant}/refunds",
            json=body,
            headers={"Authorization": "Bearer write-key", "Idempotency-Key": body["operation_id"]},
            timeout=0.2,
        )
    assert shop.lookup(tenant, body["operation_id"]).status_code == 404
    while shop.lookup(tenant, body["operation_id"]).status_code == 404:
        assert time.monotonic() - began < 5
        time.sleep(0.02)
    assert time.monotonic() - began >= 0.7
    assert len(shop.effects(body["operation_id"])) == 1


def test_a_rejection_is_definite_and_found_again(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("reject")
    answer = shop.refund(tenant, body)
    assert (answer.status_code, answer.json()["error"]) == (422, "declined")
    found = shop.lookup(tenant, body["operation_id"]).json()
    assert (found["status"], found["error"]) == ("refused", "declined")


def test_a_rejection_does_not_undo_what_was_done_under_the_key(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    assert shop.refund(tenant, body).status_code == 201
    shop.arm("reject")
    assert shop.refund(tenant, body).status_code == 201


def test_a_duplicated_delivery_has_one_effect(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("duplicate")
    answer = shop.refund(tenant, {**body, "amount_minor": 1})
    assert answer.status_code == 201
    assert "idempotent-replayed" not in answer.headers
    assert len(shop.effects(body["operation_id"])) == 1


def test_a_fault_applies_to_the_next_writes_of_its_operation_and_no_others(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    shop.arm("error_before_commit", times=2)
    shop.arm("reject", operation="cancel_subscription")
    statuses = [shop.refund(tenant, body).status_code for _ in range(4)]
    assert statuses == [500, 500, 201, 201]
    left = shop.http.get("/_faults").json()["faults"]
    assert left == [{"operation": "cancel_subscription", "mode": "reject", "times": 1}]
    assert shop.http.delete("/_faults").json() == {"faults": []}


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"operation": "refund"},
        {"operation": "refund", "mode": "delay_ms"},
        {"operation": "refund", "mode": "delay_ms:-1"},
        {"operation": "refund", "mode": "delay_ms:700000"},
        {"operation": "refund", "mode": "explode"},
        {"operation": "refund", "mode": "reject", "times": 0},
        {"operation": "refund", "mode": "reject", "times": True},
        {"operation": "credit", "mode": "reject"},
        {"operation": ["refund"], "mode": "reject"},
        {"operation": "refund", "mode": {"reject": 1}},
        {"operation": "refund", "mode": "reject", "often": 2},
    ],
)
def test_a_bad_fault_is_refused_with_what_would_be_right(shop: ShopProcess, bad: dict[str, Any]) -> None:
    answer = shop.http.post("/_faults", json=bad)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_fault")
    assert " must be " in answer.json()["title"] or "only" in answer.json()["title"]
    assert shop.http.get("/_faults").json() == {"faults": []}
