"""How the shop's database is laid out, and how a file that an older shop made is brought up to it.

SQL alone; nothing here decides what a shop does.
"""

from __future__ import annotations

import json
import sqlite3

#: of the data file, in its `user_version`; files from before it was kept there are layout 1 and say 0
LAYOUT = 2

SCHEMA = """
CREATE TABLE IF NOT EXISTS tenants (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, currency TEXT NOT NULL,
  plans TEXT NOT NULL DEFAULT '[]');
CREATE TABLE IF NOT EXISTS products (
  tenant_id TEXT NOT NULL REFERENCES tenants, id TEXT NOT NULL, title TEXT NOT NULL, variants TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id));
CREATE TABLE IF NOT EXISTS customers (
  tenant_id TEXT NOT NULL REFERENCES tenants, id TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
  access TEXT NOT NULL DEFAULT 'ok', email_verified INTEGER NOT NULL DEFAULT 1,
  store_credit_minor INTEGER NOT NULL DEFAULT 0, currency TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT 1,
  reset_sent_at TEXT, addresses TEXT NOT NULL DEFAULT '[]', payment_methods TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (tenant_id, id));
CREATE TABLE IF NOT EXISTS orders (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, status TEXT NOT NULL, currency TEXT NOT NULL,
  captured_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, items TEXT NOT NULL, placed_at TEXT NOT NULL,
  delivered_at TEXT, shipment TEXT NOT NULL, version INTEGER NOT NULL,
  address_id TEXT, payment_method_id TEXT, requested TEXT NOT NULL DEFAULT '{}', tracking_asked_at TEXT,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers,
  -- INVARIANT: an order never gives back more than it took.
  CHECK (refunded_minor BETWEEN 0 AND captured_minor));
CREATE INDEX IF NOT EXISTS orders_of_customer ON orders (tenant_id, customer_id);
CREATE TABLE IF NOT EXISTS subscriptions (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, plan TEXT NOT NULL, status TEXT NOT NULL,
  price_minor INTEGER NOT NULL, currency TEXT NOT NULL, renews_at TEXT, version INTEGER NOT NULL,
  payment_method_id TEXT,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customers);
CREATE INDEX IF NOT EXISTS subscriptions_of_customer ON subscriptions (tenant_id, customer_id);
CREATE TABLE IF NOT EXISTS payments (
  tenant_id TEXT NOT NULL, id TEXT NOT NULL, customer_id TEXT NOT NULL, order_id TEXT, subscription_id TEXT,
  amount_minor INTEGER NOT NULL, refunded_minor INTEGER NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
  captured_at TEXT NOT NULL, version INTEGER NOT NULL, payment_method_id TEXT,
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

FROM_1_TO_2 = """
ALTER TABLE tenants ADD COLUMN plans TEXT NOT NULL DEFAULT '[]';
ALTER TABLE customers ADD COLUMN access TEXT NOT NULL DEFAULT 'ok';
ALTER TABLE customers ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 1;
ALTER TABLE customers ADD COLUMN store_credit_minor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE customers ADD COLUMN currency TEXT NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE customers ADD COLUMN reset_sent_at TEXT;
ALTER TABLE customers ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';
ALTER TABLE customers ADD COLUMN payment_methods TEXT NOT NULL DEFAULT '[]';
ALTER TABLE orders ADD COLUMN address_id TEXT;
ALTER TABLE orders ADD COLUMN payment_method_id TEXT;
ALTER TABLE orders ADD COLUMN requested TEXT NOT NULL DEFAULT '{}';
ALTER TABLE orders ADD COLUMN tracking_asked_at TEXT;
ALTER TABLE subscriptions ADD COLUMN payment_method_id TEXT;
ALTER TABLE payments ADD COLUMN payment_method_id TEXT;
UPDATE customers SET currency = (SELECT currency FROM tenants WHERE tenants.id = customers.tenant_id)
"""


class UnknownLayout(Exception):
    """A file that a newer shop has laid out; the message says what this one knows."""


def layout_of(db: sqlite3.Connection) -> int:
    """The layout of an open file; 0 where it holds nothing yet. Raises sqlite3.Error for what is no database."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    begun = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tenants'").fetchone()
    return version or (1 if begun else 0)


def lay_out(db: sqlite3.Connection) -> None:
    """Makes what is missing, within the caller's transaction; a shop from before keeps its world.

    Its customers have no addresses, ways to pay or plans until it is reset. Raises UnknownLayout.
    """
    found = layout_of(db)
    if found > LAYOUT:
        raise UnknownLayout(f"a newer shop made it (layout {found}, and this one knows {LAYOUT}); use that shop")
    if found == 1:
        _run(db, FROM_1_TO_2)
        for row in db.execute("SELECT rowid, items FROM orders").fetchall():
            items = [{"item_id": i["sku"], "product_id": i["sku"], "returnable": True, **i} for i in json.loads(row[1])]
            db.execute("UPDATE orders SET items = ? WHERE rowid = ?", (json.dumps(items), row[0]))
    _run(db, SCHEMA)
    db.execute(f"PRAGMA user_version = {LAYOUT}")


def _run(db: sqlite3.Connection, script: str) -> None:
    """Each statement by itself: `executescript` would commit the caller's transaction."""
    for statement in script.split(";"):
        db.execute(statement)
