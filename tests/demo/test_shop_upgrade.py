"""A data file that an older shop made keeps its world; one of a newer shop is refused in one line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.shop.database import DataFileError, open_database
from demo.shop.layout import LAYOUT

if TYPE_CHECKING:
    from tests.demo.conftest import ShopProcess

#: the tables as the first shop laid them out
FIRST = """
CREATE TABLE tenants (id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, currency TEXT NOT NULL);
CREATE TABLE customers (
  tenant_id TEXT NOT NULL REFERENCES tenants, id TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id));
CREATE TABLE orders (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, status TEXT NOT NULL, currency TEXT NOT NULL,
  captured_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, items TEXT NOT NULL, placed_at TEXT NOT NULL,
  delivered_at TEXT, shipment TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers,
  CHECK (refunded_minor BETWEEN 0 AND captured_minor));
CREATE TABLE subscriptions (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, plan TEXT NOT NULL, status TEXT NOT NULL,
  price_minor INTEGER NOT NULL, currency TEXT NOT NULL, renews_at TEXT, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers);
CREATE TABLE payments (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, order_id TEXT, subscription_id TEXT,
  amount_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
  captured_at TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers);
CREATE TABLE effects (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, operation_id TEXT NOT NULL,
  kind TEXT NOT NULL, customer_id TEXT NOT NULL, resource TEXT NOT NULL, resource_kind TEXT NOT NULL,
  amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE keys (
  tenant TEXT NOT NULL, operation_id TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
  body TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (tenant, operation_id));
"""
AT = "2026-01-02T03:04:05.000000Z"
ITEM = {"sku": "MUG", "title": "Mug", "quantity": 2, "price_minor": 450}
#: what the first shop kept for a refund of 3.00 that it had carried out under `op-old`
FINGERPRINT = "bee87ff625e829cff0d016f541ada67e5dc8add0c0e042bd5eb490cba9af87b4"


def first_shop(path: Path) -> None:
    """A data file with one order and one kept answer, as the first shop left it."""
    with sqlite3.connect(path) as db:
        db.executescript(FIRST)
        order = ("A-1", "c-1", "delivered", "EUR", 900, 300, json.dumps([ITEM]), AT, AT, "null", 2)
        payment = ("pay_1", "c-1", "A-1", None, 900, 300, "EUR", "partially_refunded", AT, 2)
        rows: dict[str, tuple[Any, ...]] = {
            "tenants": ("t", "marketplace", "T", "EUR"),
            "customers": ("t", "c-1", "Ann", "ann@example.com"),
            "orders": ("t", *order),
            "payments": ("t", *payment),
            "effects": (1, "re_1", "t", "op-old", "refund", "c-1", "A-1", "order", 300, "EUR", AT),
            "keys": ("t", "op-old", FINGERPRINT, 201, '{"id": "re_1"}', "2999-01-01T00:00:00.000000Z"),
        }
        for table, row in rows.items():
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    db.close()


def test_a_file_of_the_first_shop_keeps_its_world_and_its_keys(
    own_shop: Callable[..., ShopProcess], tmp_path: Path
) -> None:
    first_shop(tmp_path / "shop.db")
    shop = own_shop()
    held = shop.account("t", "c-1")
    assert held["profile"]["currency"] == "EUR"
    assert held["orders"][0]["items"] == [{**ITEM, "item_id": "MUG", "product_id": "MUG", "returnable": True}]
    assert (held["addresses"], held["payment_methods"], held["plans"], held["variants"]) == ([], [], [], [])
    old = {
        "operation_id": "op-old", "customer_id": "c-1", "order_id": "A-1", "payment_id": None, "amount_minor": 300,
        "currency": "EUR", "expected_version": 1,
    }  # fmt: skip
    again = shop.refund("t", old)
    assert (again.headers.get("idempotent-replayed"), again.json()) == ("true", {"id": "re_1"})
    assert shop.refund("t", {**old, "operation_id": "op-new", "expected_version": 2}).status_code == 201
    assert [effect["operation_id"] for effect in shop.effects()] == ["op-old", "op-new"]
    shop.end()
    shop.start()
    assert shop.account("t", "c-1")["orders"][0]["refunded_minor"] == 600


def test_a_file_of_a_newer_shop_is_refused_in_one_line(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as db:
        db.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    db.close()
    with pytest.raises(DataFileError, match=f"newer shop made it .layout {LAYOUT + 1}") as refused:
        open_database(tmp_path / "shop.db")
    assert "\n" not in str(refused.value)
