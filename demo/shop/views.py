"""What can be read of the shop: accounts, operations, effects and the whole world.

Plain SQL over indexes and plain dictionaries, since the account is read in every turn of a chat.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta
from typing import Any

from demo.shop.shapes import stamp

Json = dict[str, Any]

CUSTOMER = "SELECT id, name, email FROM customers WHERE tenant_id = ? AND id = ?"
CUSTOMERS = "SELECT id, name, email FROM customers WHERE tenant_id = ? ORDER BY rowid"
ORDERS = """
SELECT id, status, currency, captured_minor, refunded_minor, items, placed_at, delivered_at, version, shipment
FROM orders WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
SUBSCRIPTIONS = """
SELECT id, plan, status, price_minor, currency, renews_at, version
FROM subscriptions WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
PAYMENTS = """
SELECT id, order_id, subscription_id, amount_minor, refunded_minor, currency, status, captured_at, version
FROM payments WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
LATEST_EFFECT = """
SELECT id, operation_id, kind, resource, resource_kind, amount_minor, currency, at
FROM effects WHERE tenant = ? AND operation_id = ? ORDER BY seq DESC LIMIT 1"""
EFFECTS = """
SELECT id, operation_id, tenant, customer_id, kind, resource, resource_kind, amount_minor, currency, at
FROM effects WHERE (:tenant IS NULL OR tenant = :tenant) AND at >= :since ORDER BY seq"""


def account(db: sqlite3.Connection, tenant: str, customer: str, now: datetime) -> Json | None:
    """A customer and all that is theirs, as of `now`; None where there is no such customer."""
    row = db.execute(CUSTOMER, (tenant, customer)).fetchone()
    return {"customer": dict(row), **_holdings(db, tenant, customer), "observed_at": stamp(now)} if row else None


def _holdings(db: sqlite3.Connection, tenant: str, customer: str) -> Json:
    def rows(query: str) -> list[Json]:
        return [dict(row) for row in db.execute(query, (tenant, customer))]

    orders = rows(ORDERS)
    for order in orders:
        order["items"], order["shipment"] = json.loads(order["items"]), json.loads(order["shipment"])
    return {"orders": orders, "subscriptions": rows(SUBSCRIPTIONS), "payments": rows(PAYMENTS)}


def world(db: sqlite3.Connection) -> Json:
    """Everything, tenant by tenant; `--world` reads the same shape."""
    tenants = []
    for tenant in db.execute("SELECT id, kind, name, currency FROM tenants ORDER BY rowid").fetchall():
        people = db.execute(CUSTOMERS, (tenant["id"],)).fetchall()
        customers = [{**dict(person), **_holdings(db, tenant["id"], person["id"])} for person in people]
        tenants.append({**dict(tenant), "customers": customers})
    return {"tenants": tenants}


def operation(
    db: sqlite3.Connection, tenant: str, operation_id: str, now: datetime, key_window_s: float
) -> Json | None:
    """What became of an operation: committed (for ever), refused (while the key is kept), or None: not known."""
    effect = db.execute(LATEST_EFFECT, (tenant, operation_id)).fetchone()
    if effect:
        return {"status": "committed", "operation_id": operation_id, "effect": dict(effect)}
    kept_since = stamp(now - timedelta(seconds=key_window_s))
    where = "SELECT body FROM keys WHERE tenant = ? AND operation_id = ? AND at > ?"
    key = db.execute(where, (tenant, operation_id, kept_since)).fetchone()
    if key is None:
        return None
    refusal = json.loads(key["body"])
    return {"status": "refused", "operation_id": operation_id, "error": refusal["error"], "title": refusal["title"]}


def effects(db: sqlite3.Connection, tenant: str | None = None, since: str = "") -> list[Json]:
    """The effects of one tenant, or of all, at or after a stamp; oldest first."""
    return [dict(row) for row in db.execute(EFFECTS, {"tenant": tenant, "since": since})]
