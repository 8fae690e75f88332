"""The shop's own database: how it is opened, and how a world is put into it.

SQLite in WAL mode with one writer; what a transaction has committed survives a SIGKILL.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from demo.shop.layout import UnknownLayout, lay_out
from demo.shop.shapes import Customer, Order, Payment, Profile, Shape, Shipment, Subscription, World, stamp

#: children before parents
EMPTY_ALL = """
DELETE FROM keys; DELETE FROM effects; DELETE FROM payments; DELETE FROM subscriptions; DELETE FROM orders;
DELETE FROM customers; DELETE FROM products; DELETE FROM tenants"""
PUT_TENANT = "INSERT INTO tenants (id, kind, name, currency, plans) VALUES (:id, :kind, :name, :currency, :plans)"
PUT_PRODUCT = "INSERT INTO products (tenant_id, id, title, variants) VALUES (:tenant_id, :id, :title, :variants)"
PUT_CUSTOMER = """
INSERT INTO customers (tenant_id, id, name, email, access, email_verified, store_credit_minor, currency, version,
  reset_sent_at, addresses, payment_methods)
VALUES (:tenant_id, :id, :name, :email, :access, :email_verified, :store_credit_minor, :currency, :version,
  :reset_sent_at, :addresses, :payment_methods)"""
PUT_ORDER = """
INSERT INTO orders (tenant_id, id, customer_id, status, currency, captured_minor, refunded_minor, items, placed_at,
  delivered_at, shipment, version, address_id, payment_method_id, requested)
VALUES (:tenant_id, :id, :customer_id, :status, :currency, :captured_minor, :refunded_minor, :items, :placed_at,
  :delivered_at, :shipment, :version, :address_id, :payment_method_id, :requested)"""
PUT_SUBSCRIPTION = """
INSERT INTO subscriptions (tenant_id, id, customer_id, plan, status, price_minor, currency, renews_at, version,
  payment_method_id)
VALUES (:tenant_id, :id, :customer_id, :plan, :status, :price_minor, :currency, :renews_at, :version,
  :payment_method_id)"""
PUT_PAYMENT = """
INSERT INTO payments (tenant_id, id, customer_id, order_id, subscription_id, amount_minor, refunded_minor, currency,
  status, captured_at, version, payment_method_id)
VALUES (:tenant_id, :id, :customer_id, :order_id, :subscription_id, :amount_minor, :refunded_minor, :currency,
  :status, :captured_at, :version, :payment_method_id)"""


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
        with transaction(db):
            lay_out(db)
    except BlockingIOError as error:
        raise DataFileError(f"data file {path}: another shop is running on it") from error
    except (OSError, sqlite3.Error, UnknownLayout) as error:
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
            plain = tenant.model_dump(include={"id", "kind", "name", "currency"})
            db.execute(PUT_TENANT, {**plain, "plans": as_json(tenant.plans)})
            rows = [{"id": p.id, "title": p.title, "variants": as_json(p.variants)} for p in tenant.products]
            db.executemany(PUT_PRODUCT, [{"tenant_id": tenant.id, **row} for row in rows])
            for customer in tenant.customers:
                _put_customer(db, tenant.id, customer)


def as_json(parts: Sequence[Shape]) -> str:
    """Shapes as the JSON text that a column holds."""
    return json.dumps([part.model_dump(mode="json") for part in parts])


def _put_customer(db: sqlite3.Connection, tenant_id: str, customer: Customer) -> None:
    ids = {"tenant_id": tenant_id, "customer_id": customer.id}
    own = {"addresses": as_json(customer.addresses), "payment_methods": as_json(customer.payment_methods)}
    person = {"tenant_id": tenant_id, "id": customer.id, "name": customer.name, "email": customer.email}
    db.execute(PUT_CUSTOMER, {**person, **_columns(customer.profile), **own})
    db.executemany(PUT_ORDER, [{**ids, **_columns(order)} for order in customer.orders])
    db.executemany(PUT_SUBSCRIPTION, [{**ids, **_columns(part)} for part in customer.subscriptions])
    db.executemany(PUT_PAYMENT, [{**ids, **_columns(payment)} for payment in customer.payments])


def _columns(part: Order | Subscription | Payment | Profile) -> dict[str, str | int | None]:
    """A shape as its row: times as text, nested shapes as JSON text."""
    plain = part.model_dump(exclude={"items", "shipment", "requested"})
    row = {name: stamp(value) if isinstance(value, datetime) else value for name, value in plain.items()}
    if isinstance(part, Order):
        row["items"] = json.dumps([item.model_dump() for item in part.items])
        row["shipment"] = json.dumps(shipment_json(part.shipment))
        row["requested"] = json.dumps(part.requested.model_dump(exclude_defaults=True))
    return row


def shipment_json(shipment: Shipment | None) -> dict[str, object] | None:
    """A parcel as JSON holds it, with its times as stamps."""
    if shipment is None:
        return None
    events = [{"status": e.status, "at": stamp(e.at), "place": e.place} for e in shipment.events]
    asked = stamp(shipment.observed_at) if shipment.observed_at else None
    return {**shipment.model_dump(exclude={"events", "observed_at"}), "events": events, "observed_at": asked}
