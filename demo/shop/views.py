"""What can be read of the shop: accounts, operations, effects and the whole world.

Plain SQL over indexes and plain dictionaries, since the account is read in every turn of a chat.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from demo.shop.shapes import stamp

Json = dict[str, Any]

CUSTOMER = """
SELECT c.id, c.name, c.email, c.access, c.email_verified, c.store_credit_minor, c.currency, c.version, c.reset_sent_at,
  c.addresses, c.payment_methods, t.plans
FROM customers c JOIN tenants t ON t.id = c.tenant_id WHERE c.tenant_id = ? AND c.id = ?"""
CUSTOMERS = "SELECT id FROM customers WHERE tenant_id = ? ORDER BY rowid"
#: each row is JSON text that SQLite has made, in a fifth of the time that it takes here
ORDERS = """
SELECT json_object('id', id, 'status', status, 'currency', currency, 'captured_minor', captured_minor,
  'refunded_minor', refunded_minor, 'placed_at', placed_at, 'delivered_at', delivered_at, 'version', version,
  'address_id', address_id, 'payment_method_id', payment_method_id), items, shipment, requested
FROM orders WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
SUBSCRIPTIONS = """
SELECT json_object('id', id, 'plan', plan, 'status', status, 'price_minor', price_minor, 'currency', currency,
  'renews_at', renews_at, 'version', version, 'payment_method_id', payment_method_id)
FROM subscriptions WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
PAYMENTS = """
SELECT json_object('id', id, 'order_id', order_id, 'subscription_id', subscription_id, 'amount_minor', amount_minor,
  'refunded_minor', refunded_minor, 'currency', currency, 'status', status, 'captured_at', captured_at,
  'version', version, 'payment_method_id', payment_method_id)
FROM payments WHERE tenant_id = ? AND customer_id = ? ORDER BY rowid"""
#: of every product that one of the customer's orders holds
VARIANTS = """
SELECT variants FROM products WHERE tenant_id = :tenant AND id IN (
  SELECT json_extract(item.value, '$.product_id') FROM orders, json_each(orders.items) AS item
  WHERE orders.tenant_id = :tenant AND orders.customer_id = :customer)
ORDER BY rowid"""
PRODUCTS = "SELECT id, title, variants FROM products WHERE tenant_id = ? ORDER BY rowid"
LATEST_EFFECT = """
SELECT id, operation_id, kind, resource, resource_kind, amount_minor, currency, at
FROM effects WHERE tenant = ? AND operation_id = ? ORDER BY seq DESC LIMIT 1"""
EFFECTS = """
SELECT id, operation_id, tenant, customer_id, kind, resource, resource_kind, amount_minor, currency, at
FROM effects WHERE (:tenant IS NULL OR tenant = :tenant) AND at >= :since ORDER BY seq"""


def account(db: sqlite3.Connection, tenant: str, customer: str, now: datetime) -> str | None:
    """A customer and all that is theirs as of `now`, as JSON text; None where there is no such customer.

    What the database holds as JSON goes out as it is, unread: that is what keeps this fast.
    """
    row = db.execute(CUSTOMER, (tenant, customer)).fetchone()
    if row is None:
        return None
    person = {"customer": {"id": row["id"], "name": row["name"], "email": row["email"]}, "observed_at": stamp(now)}
    plans = [plan for plan in json.loads(row["plans"]) if plan["currency"] == row["currency"]]
    variants = [v[0][1:-1] for v in db.execute(VARIANTS, {"tenant": tenant, "customer": customer}) if v[0] != "[]"]
    more = {"plans": json.dumps(plans), "variants": _array(variants)}
    return _text(person, **_own(row), **_holdings(db, tenant, customer), **more)


def _own(row: sqlite3.Row) -> dict[str, str]:
    profile = {name: row[name] for name in ("id", "access", "store_credit_minor", "currency", "version")}
    known = {"email_verified": bool(row["email_verified"]), "reset_sent_at": row["reset_sent_at"]}
    own = {"addresses": row["addresses"], "payment_methods": row["payment_methods"]}
    return {"profile": json.dumps({**profile, **known}), **own}


def _holdings(db: sqlite3.Connection, tenant: str, customer: str) -> dict[str, str]:
    of = (tenant, customer)
    orders = [
        f'{plain[:-1]}, "items": {items}, "shipment": {shipment}, "requested": {requested}}}'
        for plain, items, shipment, requested in db.execute(ORDERS, of)
    ]
    subscriptions = [row[0] for row in db.execute(SUBSCRIPTIONS, of)]
    payments = [row[0] for row in db.execute(PAYMENTS, of)]
    return {"orders": _array(orders), "subscriptions": _array(subscriptions), "payments": _array(payments)}


def _array(parts: Sequence[str]) -> str:
    """A JSON array of parts that are JSON text already."""
    return "[" + ", ".join(parts) + "]"


def _text(plain: Json, **raw: str) -> str:
    """A JSON object of plain values (one at least) and of parts that are JSON text already."""
    return json.dumps(plain)[:-1] + "".join(f', "{name}": {part}' for name, part in raw.items()) + "}"


def world(db: sqlite3.Connection) -> str:
    """Everything, tenant by tenant, as JSON text; `--world` reads the same shape."""
    tenants = []
    for tenant in db.execute("SELECT id, kind, name, currency, plans FROM tenants ORDER BY rowid").fetchall():
        ids = [row["id"] for row in db.execute(CUSTOMERS, (tenant["id"],)).fetchall()]
        people = _array([_person(db, tenant["id"], ident) for ident in ids])
        goods = db.execute(PRODUCTS, (tenant["id"],)).fetchall()
        products = [_text({"id": p["id"], "title": p["title"]}, variants=p["variants"]) for p in goods]
        plain = {name: tenant[name] for name in ("id", "kind", "name", "currency")}
        more = {"plans": tenant["plans"], "products": _array(products)}
        tenants.append(_text(plain, **more, customers=people))
    return f'{{"tenants": {_array(tenants)}}}'


def _person(db: sqlite3.Connection, tenant: str, customer: str) -> str:
    row = db.execute(CUSTOMER, (tenant, customer)).fetchone()
    plain = {"id": row["id"], "name": row["name"], "email": row["email"]}
    return _text(plain, **_own(row), **_holdings(db, tenant, customer))


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
