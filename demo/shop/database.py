"""The shop's own database: its tables, how it is opened, and how a world is put into it.

SQLite in WAL mode with one writer; what a transaction has committed survives a SIGKILL.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from demo.shop.shapes import Customer, Order, Payment, Subscription, World, stamp

SCHEMA = """
CREATE TABLE IF NOT EXISTS tenants (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, currency TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS customers (
  tenant_id TEXT NOT NULL REFERENCES tenants, id TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id));
CREATE TABLE IF NOT EXISTS orders (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, status TEXT NOT NULL, currency TEXT NOT NULL,
  captured_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, items TEXT NOT NULL, placed_at TEXT NOT NULL,
  delivered_at TEXT, shipment TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers,
  -- INVARIANT: an order never gives back more than it took.
  CHECK (refunded_minor BETWEEN 0 AND captured_minor));
CREATE INDEX IF NOT EXISTS orders_of_customer ON orders (tenant_id, customer_id);
CREATE TABLE IF NOT EXISTS subscriptions (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, plan TEXT NOT NULL, status TEXT NOT NULL,
  price_minor INTEGER NOT NULL, currency TEXT NOT NULL, renews_at TEXT, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers);
CREATE INDEX IF NOT EXISTS subscriptions_of_customer ON subscriptions (tenant_id, customer_id);
CREATE TABLE IF NOT EXISTS payments (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, order_id TEXT, subscription_id TEXT,
  amount_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
  captured_at TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers,
  FOREIGN KEY (tenant_id, order_id) REFERENCES orders,
  FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions,
  -- INVARIANT: a payment never gives back more than it took.
  CHECK (refunded_minor BETWEEN 0 AND amount_minor));
CREATE INDEX IF NOT EXISTS payments_of_customer ON payments (tenant_id, customer_id);
CREATE INDEX IF NOT EXISTS payments_of_order ON payments (tenant_id, order_id);
CREATE TABLE IF NOT EXISTS effects (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, operation_id TEXT NOT NULL,
  kind TEXT NOT NULL, customer_id TEXT NOT NULL, resource TEXT NOT NULL, resource_kind TEXT NOT NULL,
  amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS effects_of_operation ON effects (tenant, operation_id);
-- INVARIANT: one answer per key while the key is kept.
CREATE TABLE IF NOT EXISTS keys (
  tenant TEXT NOT NULL, operation_id TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
  body TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (tenant, operation_id));
CREATE INDEX IF NOT EXISTS keys_in_time ON keys (at);
"""
#: children before parents
EMPTY_ALL = """
DELETE FROM keys; DELETE FROM effects; DELETE FROM payments; DELETE FROM subscriptions; DELETE FROM orders;
DELETE FROM customers; DELETE FROM tenants"""
PUT_TENANT = "INSERT INTO tenants VALUES (:id, :kind, :name, :currency)"
PUT_CUSTOMER = "INSERT INTO customers VALUES (:tenant_id, :id, :name, :email)"
PUT_ORDER = """
INSERT INTO orders VALUES (:tenant_id, :id, :customer_id, :status, :currency, :captured_minor, :refunded_minor, :items,
  :placed_at, :delivered_at, :shipment, :version)"""
PUT_SUBSCRIPTION = """
INSERT INTO subscriptions VALUES
  (:tenant_id, :id, :customer_id, :plan, :status, :price_minor, :currency, :renews_at, :version)"""
PUT_PAYMENT = """
INSERT INTO payments VALUES (:tenant_id, :id, :customer_id, :order_id, :subscription_id, :amount_minor, :refunded_minor,
  :currency, :status, :captured_at, :version)"""


class DataFileError(Exception):
    """The data file cannot be used; the message is one line for a person."""


def open_database(path: Path) -> sqlite3.Connection:
    """The connection of this process, with tables in place; no second shop may hold the file. Raises DataFileError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _hold(path)
        db = sqlite3.connect(path, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.executescript(SCHEMA)
    except BlockingIOError as error:
        raise DataFileError(f"data file {path}: another shop is running on it") from error
    except (OSError, sqlite3.Error) as error:
        raise DataFileError(f"data file {path}: {error}") from error
    return db


def _hold(path: Path) -> None:
    """Locks FILE.lock until this process ends, however it ends: requests in flight are known to one process only."""
    handle = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: all of it or none."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether no world has been put in yet."""
    return db.execute("SELECT 1 FROM tenants LIMIT 1").fetchone() is None


def replace_world(db: sqlite3.Connection, world: World) -> None:
    """Empties the shop, keys too, and puts this world in. Raises sqlite3.Error where it contradicts itself."""
    with transaction(db):
        for statement in EMPTY_ALL.split(";"):
            db.execute(statement)
        for tenant in world.tenants:
            db.execute(PUT_TENANT, tenant.model_dump(exclude={"customers"}))
            for customer in tenant.customers:
                _put_customer(db, tenant.id, customer)


def _put_customer(db: sqlite3.Connection, tenant_id: str, customer: Customer) -> None:
    ids = {"tenant_id": tenant_id, "customer_id": customer.id}
    person = {"tenant_id": tenant_id, "id": customer.id, "name": customer.name, "email": customer.email}
    db.execute(PUT_CUSTOMER, person)
    db.executemany(PUT_ORDER, [{**ids, **_columns(order)} for order in customer.orders])
    db.executemany(PUT_SUBSCRIPTION, [{**ids, **_columns(part)} for part in customer.subscriptions])
    db.executemany(PUT_PAYMENT, [{**ids, **_columns(payment)} for payment in customer.payments])


def _columns(part: Order | Subscription | Payment) -> dict[str, str | int | None]:
    """A shape as its row: times as text, nested shapes as JSON text."""
    plain = part.model_dump(exclude={"items", "shipment"})
    row = {name: stamp(value) if isinstance(value, datetime) else value for name, value in plain.items()}
    if isinstance(part, Order):
        row["items"] = json.dumps([item.model_dump() for item in part.items])
        row["shipment"] = json.dumps(_shipment(part))
    return row


def _shipment(order: Order) -> dict[str, object] | None:
    if order.shipment is None:
        return None
    events = [{"status": e.status, "at": stamp(e.at), "place": e.place} for e in order.shipment.events]
    return {**order.shipment.model_dump(exclude={"events"}), "events": events}
