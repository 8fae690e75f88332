"""No input whatever ends in a 500, no key does another's work, and what cannot be used is said in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.demo.conftest import ShopProcess

FIELDS = ("operation_id", "customer_id", "order_id", "payment_id", "amount_minor", "currency", "expected_version")
CREDIT = {
    "operation_id": "k1", "customer_id": "c", "amount_minor": 5, "currency": "EUR", "reason": "goodwill",
    "expected_version": 1,
}  # fmt: skip
HOSTILE: tuple[Any, ...] = (
    "\ud800",
    "nul \x00",
    "",
    "x" * 5000,
    10**400,
    -1,
    0,
    1.5,
    True,
    None,
    [],
    {},
    "é",
    "2",
    2**63,
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
POSTS = (
    "/tenants/t/refunds", "/tenants/t/subscriptions/s/cancel", "/_faults", "/tenants/t/changes/exchange_items",
    "/tenants/t/changes/store_credit", "/tenants/t/retail/modify_user_address", "/tenants/t/changes/nothing",
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
)


def post(shop: ShopProcess, path: str, raw: bytes, key: str = "k1") -> int:
    headers = {"Authorization": "Bearer write-key", "Idempotency-Key": key}
    return shop.http.post(path, content=raw, headers=headers).status_code


@QUICK
@given(body=ANY_JSON, path=st.sampled_from(POSTS))
def test_any_json_gets_a_4xx(running: ShopProcess, body: object, path: str) -> None:
    assert 400 <= post(running, path, json.dumps(body).encode()) < 500


@pytest.mark.parametrize("field", FIELDS)
def test_any_hostile_value_in_a_field_gets_a_4xx(shop: ShopProcess, field: str) -> None:
    tenant, body, _ = shop.refundable()
    for value in HOSTILE:
        if value is None and field == "payment_id":
            continue
        raw = json.dumps({**body, field: value}).encode()
        assert 400 <= post(shop, f"/tenants/{tenant}/refunds", raw, body["operation_id"]) < 500, value
    assert not shop.effects()


@pytest.mark.parametrize("field", CREDIT)
def test_any_hostile_value_in_a_field_of_a_change_gets_a_4xx(shop: ShopProcess, field: str) -> None:
    tenant, customer = next(shop.customers("marketplace"))
    body = {**CREDIT, "customer_id": customer["id"], "currency": customer["profile"]["currency"]}
    path = f"/tenants/{tenant}/changes/store_credit"
    for n, value in enumerate((*HOSTILE, "EUR\n", ["EUR"], {"a": 1e308})):
        raw = json.dumps({**body, "operation_id": f"k{n}", field: value}).encode()
        assert 400 <= post(shop, path, raw, f"k{n}") < 500, value
    assert not shop.effects()
    assert post(shop, path, json.dumps({**body, "operation_id": "right"}).encode(), "right") == 201


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 60_000, b"1" * 5000, b'{"a":"\\ud800"}', b"x" * 70_000, b"\x00",
        "{}".encode("utf-16"),
    ],
)  # fmt: skip
def test_what_is_not_json_gets_a_4xx(shop: ShopProcess, raw: bytes) -> None:
    for path in POSTS:
        assert 400 <= post(shop, path, raw) < 500


@pytest.mark.parametrize("path", ["/tenants/%00/customers/%ED%A0%80/account", "/tenants/t/operations/%FF", "/nowhere"])
def test_any_path_gets_a_problem(shop: ShopProcess, path: str) -> None:
    answer = shop.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_one_key_reads_and_the_other_writes(shop: ShopProcess) -> None:
    tenant, body, _ = shop.refundable()
    account = f"/tenants/{tenant}/customers/{body['customer_id']}/account"
    assert shop.get(account).status_code == 200
    assert [shop.get(account, key).status_code for key in ("write-key", "other")] == [403, 401]
    assert shop.http.get(account).status_code == 401
    path = f"/tenants/{tenant}/refunds"
    assert shop.write(path, body, Authorization="Bearer read-key").status_code == 403
    assert shop.write(path, body, Authorization="Basic write-key").status_code == 401
    assert shop.write(path, body, **{"Idempotency-Key": "another"}).json()["error"] == "key_mismatch"
    bare = shop.http.post(path, json=body, headers={"Authorization": "Bearer write-key"})
    assert (bare.status_code, bare.json()["error"]) == (400, "key_missing")
    assert not shop.effects()


def test_the_contract_is_as_documented(shop: ShopProcess) -> None:
    promised = shop.http.get("/contract").json()
    expected = {
        "idempotency_key_window_s": 86_400, "refusals_kept": True, "lookup_by_operation_id": True, "lookup_lag_s": 0,
        "late_commit_bound_s": 30,
    }  # fmt: skip
    assert expected.items() <= promised.items()
    assert shop.http.get("/healthz").status_code == 200


def test_what_cannot_be_used_is_said_in_one_line(own_shop: Callable[..., ShopProcess], tmp_path: Path) -> None:
    shop = own_shop()
    (tmp_path / "text.db").write_text("not a database at all, and long enough to be looked at" * 20)
    (tmp_path / "bad.json").write_text('{"tenants": [{"id": "t", "kind": "bank"}]}')
    fresh = ["--data", str(tmp_path / "other.db")]
    cases = [
        ([], 1, "another shop"),
        ([*fresh, "--port", str(shop.http.base_url.port)], 1, "Address already in use"),
        ([*fresh, "--world", str(tmp_path / "none.json")], 1, "No such file"),
        ([*fresh, "--world", str(tmp_path / "bad.json")], 1, "tenants.0.kind"),
        (["--data", str(tmp_path / "text.db")], 1, "not a database"),
        ([*fresh, "--ready-file", str(tmp_path / "no" / "ready.json")], 1, "ready file"),
    ]
    for more, code, words in cases:
        ended = subprocess.run(shop.command(*more), capture_output=True, text=True, timeout=20)
        assert (ended.returncode, ended.stderr.count("\n")) == (code, 1), ended.stderr
        assert words in ended.stderr


def test_two_different_keys_are_required(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "demo.shop", "--data", str(tmp_path / "shop.db"), "--read-key", "same"]
    env = {**os.environ, "SHOP_WRITE_KEY": "same"}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=20)
    assert ended.returncode == 2
    assert "SHOP_WRITE_KEY" in ended.stderr
